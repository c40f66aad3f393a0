/* SPDX-License-Identifier: Apache-2.0 */
/* The Java contender of tools/demo.sh: Curator, counting as demo_worker.c does.
 *
 *   java DemoWorker.java NAME FILE ROUNDS PAUSE_MS HOSTS PATH */
import java.io.RandomAccessFile;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryNTimes;

public class DemoWorker {
    /* One write for a line, for all write into one pipe. */
    static void say(String line) {
        byte[] bytes = (line + "\n").getBytes();

        System.out.write(bytes, 0, bytes.length);
        System.out.flush();
    }

    static long nowUs() { // CLOCK_MONOTONIC on Linux
        return System.nanoTime() / 1000;
    }

    static void addOne(RandomAccessFile file, int pauseMs) throws Exception {
        file.seek(0);
        String text = file.readLine();
        long number = text == null ? 0 : Long.parseLong(text);

        Thread.sleep(pauseMs);
        file.seek(0);
        file.write(String.format("%014d\n", number + 1).getBytes());
    }

    static void count(String[] args) throws Exception {
        String name = args[0];
        int rounds = Integer.parseInt(args[2]);
        int pauseMs = Integer.parseInt(args[3]);

        try (var file = new RandomAccessFile(args[1], "rw");
             var client = CuratorFrameworkFactory.newClient(
                 args[4], new RetryNTimes(100, 100))) {
            client.start();
            client.blockUntilConnected();
            say(name + " ready");
            System.in.readAllBytes();

            var lock = new InterProcessMutex(client, args[5]);

            for (int i = 0; i < rounds; i++) {
                lock.acquire();
                try {
                    long begin = nowUs();

                    addOne(file, pauseMs);
                    say(name + " stayed write " + begin + " " + nowUs());
                } finally {
                    lock.release();
                }
            }
        }
        say(name + " gone");
    }

    public static void main(String[] args) {
        try {
            count(args);
        } catch (Exception e) {
            say(args[0] + " failed " + e);
            System.exit(1);
        }
    }
}
