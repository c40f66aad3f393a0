/* SPDX-License-Identifier: Apache-2.0 */
/* The side of a peer in Java that talks to the driver; ../peer.py says how. */
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

class Peer {
    /* A run may throw whatever it likes: it ends the process. */
    interface Bench {
        void prepare() throws Exception;
        void run(int n) throws Exception;
        void finish() throws Exception;
    }

    private static final int THREADS_TO_ASK = 300;

    static String target;
    private static final Map<String, String> options = new LinkedHashMap<>();
    private static final Map<String, Double> figures = new LinkedHashMap<>();
    private static long wallBegin, wallEnd, cpuBegin, cpuEnd;

    static String option(String key, String otherwise) {
        return options.getOrDefault(key, otherwise);
    }

    static int number(String key, int otherwise) {
        return Integer.parseInt(option(key, "" + otherwise));
    }

    static void figure(String key, double value) {
        figures.put(key, value);
    }

    static void begin() {
        cpuBegin = cpuNs();
        wallBegin = System.nanoTime();
    }

    static void end() {
        wallEnd = System.nanoTime();
        cpuEnd = cpuNs();
    }

    static double quantile(long[] values, int count, double p) {
        Arrays.sort(values, 0, count);
        return count == 0 ? 0 : values[(int) (p * (count - 1))];
    }

    static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    static void fail(Throwable why) {
        why.printStackTrace();
        say("error " + ("" + why).replace('\n', ' '));
        Runtime.getRuntime().halt(1);
    }

    /* The time that the kernel counts for a thread; 0: it has just ended. It is
     * exact for threads that do not run. */
    private static long cpuOf(Path task) {
        try {
            String text = Files.readString(task.resolve("schedstat"));
            return Long.parseLong(text.split(" ")[0]);
        } catch (IOException e) {
            return 0;
        }
    }

    /* As the JVM tells it, in steps of 10 ms. */
    static long coarseCpuNs() {
        var system = ManagementFactory.getOperatingSystemMXBean();

        return ((com.sun.management.OperatingSystemMXBean) system)
            .getProcessCpuTime();
    }

    /* Of all threads. Where they are so many that it takes long to ask each,
     * the batches are long, too, and steps of 10 ms do no harm. */
    static long cpuNs() {
        long ns = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();

        if (Thread.activeCount() > THREADS_TO_ASK)
            return coarseCpuNs();
        try (var tasks = Files.list(Path.of("/proc/self/task"))) {
            String self = Path.of("/proc/thread-self").toRealPath()
                .getFileName().toString();
            ns += tasks.filter(t -> !t.getFileName().toString().equals(self))
                .mapToLong(Peer::cpuOf).sum();
        } catch (IOException e) {
            fail(e);
        }
        return ns;
    }

    private static void run(Bench bench, int n) throws Exception {
        figures.clear();
        wallEnd = 0;
        begin();
        bench.run(n);
        if (wallEnd == 0)
            end();
        var line = new StringBuilder("done " + (wallEnd - wallBegin) + " "
            + Math.max(cpuEnd - cpuBegin, 0));
        figures.forEach((key, value) -> line.append(" " + key + "=" + value));
        say(line.toString());
    }

    private static void obey(Bench bench) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in));
        String line;

        while ((line = in.readLine()) != null && !line.equals("quit")) {
            String[] words = line.split(" ");

            if (words.length != 2 || !words[0].equals("run"))
                throw new IOException("what is this: " + line);
            run(bench, Integer.parseInt(words[1]));
        }
    }

    /* Serves the bench that the command line names. */
    static void serve(String[] args, Map<String, Bench> benches) {
        target = args[0];
        for (int i = 2; i < args.length; i++) {
            String[] pair = args[i].split("=", 2);

            options.put(pair[0], pair[1]);
        }
        Bench bench = benches.get(args[1]);
        if (bench == null) {
            say("unsupported no such bench");
            System.exit(0);
        }
        try {
            bench.prepare();
            say("ready");
            obey(bench);
            bench.finish();
        } catch (Throwable e) {
            fail(e);
        }
        System.exit(0);
    }
}
