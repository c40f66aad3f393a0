/* SPDX-License-Identifier: Apache-2.0 */
/* The critical section of the mix, in Java; section.h says what it does. */
import java.io.FileOutputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;

class Section {
    private final String name;
    private final String dir;
    private final RandomAccessFile resource;
    private final FileOutputStream journal;
    private int count;

    Section(String name, String dir) throws Exception {
        this.name = name;
        this.dir = dir;
        resource = new RandomAccessFile(dir + "/resource", "rw");
        journal = new FileOutputStream(dir + "/journal", true);
    }

    void close() throws Exception {
        resource.close();
        journal.close();
    }

    boolean isOver() {
        return Files.exists(Path.of(dir, "stop-" + name));
    }

    private void note(String what, String mode, String node, long token,
        long value) throws Exception {
        journal.write(String.format("%s %s %s %s %d %d\n", what, name, mode,
            node, token, value).getBytes());
    }

    /* The value, or -1: refused. A write when `value` is not negative. */
    private long access(boolean writer, long token, long value)
        throws Exception {
        try (var lock = resource.getChannel().lock()) {
            byte[] bytes = new byte[63];

            resource.seek(0);
            resource.readFully(bytes);
            String[] words = new String(bytes).trim().split(" ");
            long counter = Long.parseLong(words[0]);
            long seen = Long.parseLong(words[1]);
            long written = Long.parseLong(words[2]);

            if (token < (writer ? seen : written))
                return -1;
            seen = Math.max(seen, token);
            written = writer ? token : written;
            counter = value >= 0 ? value : counter;
            resource.seek(0);
            resource.write(String.format("%020d %020d %020d\n", counter, seen,
                written).getBytes());
            return counter;
        }
    }

    void work(String mode, String node, long token) throws Exception {
        boolean writer = mode.equals("write");
        long value = access(writer, token, -1);

        if (value < 0) {
            note("REFUSED", mode, node, token, value);
            return;
        }
        note("ENTER", mode, node, token, value);
        Path stall = Path.of(dir, "stall-" + name + "-" + mode);
        if (Files.exists(stall)) {
            note("STALL", mode, node, token, value);
            while (Files.exists(stall))
                Thread.sleep(2);
        }
        if (++count % 16 == 0)
            Thread.sleep(1);
        value = access(writer, token, writer ? value + 1 : -1);
        note("LEAVE", mode, node, token, value);
    }
}
