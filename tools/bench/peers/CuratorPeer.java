/* SPDX-License-Identifier: Apache-2.0 */
/* Curator's locks; the benches have the names and options of those of
 * zkr_benches.h. */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.retry.RetryNTimes;

public class CuratorPeer {
    static final long PID = ProcessHandle.current().pid();

    static CuratorFramework open() throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient(Peer.target,
            Peer.number("timeout_ms", 10000), 15000, new RetryNTimes(200, 50));

        client.start();
        client.blockUntilConnected();
        return client;
    }

    static String path(String name, int number) {
        return Peer.option("path",
            "/bench-curator-" + PID + "/" + name + "-" + number);
    }

    /* recipe: mutex, read or write. */
    static InterProcessMutex lock(CuratorFramework client, String recipe,
                                  String path) {
        if (recipe.equals("mutex"))
            return new InterProcessMutex(client, path);
        var both = new InterProcessReadWriteLock(client, path);
        return recipe.equals("read") ? both.readLock() : both.writeLock();
    }

    static String recipe() {
        return Peer.option("recipe", "mutex");
    }

    /* How many ephemeral nodes the first server has. */
    static long ephemeralNodes() throws Exception {
        String[] server = Peer.target.split(",")[0].split(":");

        try (var socket = new Socket(server[0], Integer.parseInt(server[1]))) {
            var in = new BufferedReader(
                new InputStreamReader(socket.getInputStream()));
            String line;

            socket.getOutputStream().write("mntr".getBytes());
            while ((line = in.readLine()) != null) {
                if (line.startsWith("zk_ephemerals_count\t"))
                    return Long.parseLong(line.split("\t")[1]);
            }
        }
        throw new Exception("no answer to mntr");
    }

    static void awaitNodes(long count) throws Exception {
        while (ephemeralNodes() < count)
            Thread.sleep(20);
    }

    /* Until nothing is computed here. */
    static void awaitRest() throws Exception {
        int quiet = 0;

        while (quiet < 3) {
            long before = Peer.coarseCpuNs();

            Thread.sleep(50);
            quiet = Peer.coarseCpuNs() - before <= 10_000_000 ? quiet + 1 : 0;
        }
    }

    static class Uncontended implements Peer.Bench {
        private CuratorFramework client;
        private InterProcessMutex lock;
        private boolean isFirst;
        private int made;
        private int used;

        public void prepare() throws Exception {
            client = open();
            isFirst = Peer.option("where", "again").equals("first");
            lock = lock(client, recipe(), path("again", 0));
            run(Peer.number("warmup", 3000));
        }

        private void makeDirectories(int count) throws Exception {
            for (; made < used + count; made++)
                client.create().creatingParentsIfNeeded().forPath(
                    path("first", made));
        }

        public void run(int n) throws Exception {
            if (isFirst)
                makeDirectories(n == 0 ? Peer.number("ahead", 25) : n);
            measure(n);
        }

        private void measure(int n) throws Exception {
            long[] took = new long[n];

            Peer.begin();
            for (int i = 0; i < n; i++) {
                long begin = System.nanoTime();

                if (isFirst)
                    lock = lock(client, recipe(), path("first", used++));
                lock.acquire();
                took[i] = System.nanoTime() - begin;
                lock.release();
            }
            Peer.end();
            long sum = 0;
            for (long ns : took)
                sum += ns;
            Peer.figure("acquire_ns", (double) sum / Math.max(n, 1));
            Peer.figure("median_ns", Peer.quantile(took, n, 0.5));
            Peer.figure("p99_ns", Peer.quantile(took, n, 0.99));
        }

        public void finish() {
            client.close();
        }
    }

    /* Threads that share a client share the lock object, too. */
    static class Contended implements Peer.Bench {
        private final List<CuratorFramework> clients = new ArrayList<>();
        private final List<InterProcessMutex> locks = new ArrayList<>();
        private final List<InterProcessMutex> writeLocks = new ArrayList<>();
        private Crowd crowd;
        private int writers;
        private boolean isTolerant;

        public void prepare() throws Exception {
            int threads = Peer.number("threads", 8);

            writers = Peer.number("writers", 0);
            isTolerant = Peer.number("tolerant", 0) != 0;
            for (int i = 0; i < Peer.number("sessions", 1); i++) {
                CuratorFramework client = open();

                clients.add(client);
                locks.add(lock(client, recipe(), path("lock", 0)));
                writeLocks.add(lock(client, "write", path("lock", 0)));
            }
            crowd = new Crowd(threads, this::cycle);
            crowd.run(Peer.number("warmup", 1000));
        }

        private boolean isShared() {
            return recipe().equals("read");
        }

        private void cycle(int member) throws Exception {
            boolean writes = ThreadLocalRandom.current().nextInt(100) < writers;
            InterProcessMutex lock =
                (writes ? writeLocks : locks).get(member % clients.size());

            try {
                lock.acquire();
                if (!isShared()) {
                    crowd.granted();
                    crowd.releasing();
                }
                lock.release();
            } catch (Exception e) {
                if (!isTolerant)
                    throw e;
            }
        }

        public void run(int n) throws Exception {
            if (Peer.number("seconds", 0) != 0)
                crowd.runFor(n);
            else
                crowd.run(n);
        }

        public void finish() throws Exception {
            crowd.stop();
            clients.forEach(CuratorFramework::close);
        }
    }

    /* Curator has no call that does not wait: so it is as many threads. */
    static class ManyLocks implements Peer.Bench {
        private CuratorFramework client;
        private final List<InterProcessMutex> locks = new ArrayList<>();
        private final AtomicInteger next = new AtomicInteger();
        private Crowd crowd;

        public void prepare() throws Exception {
            client = open();
            for (int i = 0; i < Peer.number("locks", 10000); i++)
                locks.add(lock(client, "mutex", path("many", i)));
            crowd = new Crowd(Peer.number("threads", 64), this::cycle);
            crowd.run(locks.size());
        }

        private void cycle(int member) throws Exception {
            InterProcessMutex lock =
                locks.get(next.getAndIncrement() % locks.size());

            lock.acquire();
            lock.release();
        }

        public void run(int n) throws Exception {
            crowd.run(n);
        }

        public void finish() throws Exception {
            crowd.stop();
            client.close();
        }
    }

    /* One thread for each claim, and one lock object: a release wakes all that
     * wait with the same object. */
    static class Line implements Peer.Bench {
        private final List<CuratorFramework> clients = new ArrayList<>();
        private final List<InterProcessMutex> locks = new ArrayList<>();
        private InterProcessMutex holder;
        private Crowd crowd;

        public void prepare() throws Exception {
            int threads = Peer.number("threads", 1000);

            for (int i = 0; i < Peer.number("sessions", 1); i++)
                clients.add(open());
            for (int i = 0; i < threads; i++)
                locks.add(newLock(i));
            holder = newLock(0);
            crowd = new Crowd(threads, this::cycle);
            run(Peer.number("warmup", 1000));
        }

        private InterProcessMutex newLock(int i) {
            return lock(clients.get(i % clients.size()), "mutex",
                path("line", 0));
        }

        private void cycle(int member) throws Exception {
            locks.get(member).acquire();
            locks.get(member).release();
        }

        public void run(int n) throws Exception {
            long nodes = ephemeralNodes();
            long cpu = Peer.cpuNs();
            long begin = System.nanoTime();

            holder.acquire();
            crowd.open(n);
            awaitNodes(nodes + 1 + n);
            awaitRest();
            Peer.figure("enter_ns", (System.nanoTime() - begin) / (double) n);
            Peer.begin();
            holder.release();
            crowd.await();
            Peer.end();
            Peer.figure("line_cpu_ns", (Peer.cpuNs() - cpu) / (double) n);
        }

        public void finish() throws Exception {
            crowd.stop();
            clients.forEach(CuratorFramework::close);
        }
    }

    /* The holder is another process, and is killed. */
    static class Killed implements Peer.Bench {
        /* So the server hears of the holder as it usually does. */
        private static final int HOLD_MS = 700;

        private CuratorFramework client;
        private InterProcessMutex lock;

        public void prepare() throws Exception {
            client = open();
            lock = lock(client, "mutex", path("killed", 0));
        }

        private Process startHolder() throws Exception {
            Process holder = new ProcessBuilder("java", "-XX:-UsePerfData",
                "-XX:TieredStopAtLevel=1", "-Xmx64m", "-cp",
                System.getProperty("java.class.path"), "CuratorPeer",
                Peer.target, "holder", "path=" + path("killed", 0),
                "timeout_ms=" + Peer.number("timeout_ms", 10000)).start();
            var out = new BufferedReader(
                new InputStreamReader(holder.getInputStream()));
            String line = out.readLine();

            if (!"ready".equals(line))
                throw new Exception("the holder did not start: " + line);
            return holder;
        }

        private long cycle() throws Exception {
            Process holder = startHolder();
            long nodes = ephemeralNodes();
            long[] begin = new long[1];
            var killer = new Thread(() -> {
                try {
                    awaitNodes(nodes + 1);
                    Thread.sleep(HOLD_MS);
                    begin[0] = System.nanoTime();
                    holder.destroyForcibly();
                } catch (Exception e) {
                    Peer.fail(e);
                }
            });

            killer.start();
            lock.acquire();
            long end = System.nanoTime();
            killer.join();
            holder.waitFor();
            lock.release();
            return end - begin[0];
        }

        public void run(int n) throws Exception {
            long spent = 0;

            for (int i = 0; i < n; i++)
                spent += cycle();
            Peer.figure("gap_ns", (double) spent / Math.max(n, 1));
        }

        public void finish() {
            client.close();
        }
    }

    /* The other process of Killed. */
    static class Holder implements Peer.Bench {
        public void prepare() throws Exception {
            lock(open(), "mutex", path("killed", 0)).acquire();
        }

        public void run(int n) {
        }

        public void finish() {
        }
    }

    /* Acquires without releases, or releases without acquires. */
    static class Steps implements Peer.Bench {
        private CuratorFramework client;
        private final List<InterProcessMutex> locks = new ArrayList<>();
        private boolean areHeld;

        public void prepare() throws Exception {
            client = open();
            for (int i = 0; i < Peer.number("locks", 25); i++)
                locks.add(lock(client, recipe(), path("step", i)));
            hold(true);
            hold(false);
        }

        private void hold(boolean wanted) throws Exception {
            if (wanted == areHeld)
                return;
            for (InterProcessMutex lock : locks) {
                if (wanted)
                    lock.acquire();
                else
                    lock.release();
            }
            areHeld = wanted;
        }

        public void run(int n) throws Exception {
            if (n > 0 && n != locks.size())
                throw new Exception("a batch has " + locks.size() + " cycles");
            hold((n == 0)
                == Peer.option("step", "acquire").equals("release"));
        }

        public void finish() {
            client.close();
        }
    }

    /* Sessions that do nothing, or hold a lock each; see fleet.h. */
    static class Fleet implements Peer.Bench {
        private static final int SETTLE = 2;

        private final List<CuratorFramework> clients = new ArrayList<>();

        public void prepare() {
        }

        private void enter(int number) throws Exception {
            CuratorFramework client = open();

            clients.add(client);
            if (Peer.number("hold", 0) != 0)
                lock(client, "mutex", path("fleet", number)).acquire();
        }

        private void wait(int timeouts) throws Exception {
            Thread.sleep((long) timeouts * Peer.number("timeout_ms", 10000));
        }

        public void run(int n) throws Exception {
            int sessions = Peer.number("sessions", 200);

            if (n > 0) {
                wait(n / sessions);
            } else if (clients.isEmpty()) {
                for (int i = 0; i < sessions; i++)
                    enter(i);
                wait(SETTLE);
            } else {
                finish();
            }
        }

        public void finish() {
            clients.forEach(CuratorFramework::close);
            clients.clear();
        }
    }

    public static void main(String[] args) {
        Peer.serve(args, Map.of(
            "uncontended", new Uncontended(),
            "contended", new Contended(),
            "family", new Family(),
            "many-locks", new ManyLocks(),
            "line", new Line(),
            "fleet", new Fleet(),
            "killed", new Killed(),
            "holder", new Holder(),
            "steps", new Steps()));
    }
}
