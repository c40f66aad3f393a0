/* SPDX-License-Identifier: Apache-2.0 */
/* The Java side of the interop tests: unmodified Curator, driven by lines.
 * worker.h says which lines. */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.*;
import org.apache.curator.framework.recipes.locks.*;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.retry.RetryNTimes;
import org.apache.curator.utils.ZKPaths;

public class Worker {
    private static final BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in));
    private final String name;
    private CuratorFramework client;
    private String recipe;
    private String path;
    private String limit;
    private InterProcessSemaphoreV2 semaphore;
    private final Map<String, Lock> locks = new HashMap<>(); /* by mode */
    private boolean listening;

    Worker(String name) {
        this.name = name;
    }

    /* One write for a line: callbacks answer too. */
    static void answer(String line) {
        byte[] bytes = ("= " + line + "\n").getBytes();

        synchronized (System.out) {
            System.out.write(bytes, 0, bytes.length);
            System.out.flush();
        }
    }

    static String version() throws Exception {
        Properties properties = new Properties();
        String name =
            "/META-INF/maven/org.apache.curator/curator-recipes/pom.properties";

        try (var in = InterProcessMutex.class.getResourceAsStream(name)) {
            properties.load(in);
        }
        return "version " + properties.getProperty("version");
    }

    String open(String hosts, int sessionMs) throws Exception {
        client = CuratorFrameworkFactory.newClient(
            hosts, sessionMs, 15000, new RetryNTimes(200, 50));
        client.start();
        client.blockUntilConnected();
        return "open " + Long.toHexString(sessionId());
    }

    long sessionId() throws Exception {
        return client.getZookeeperClient().getZooKeeper().getSessionId();
    }

    String close() {
        client.close();
        client = null;
        return "closed";
    }

    /* New objects: one that failed, or whose session ended, is of no use. */
    void makeLocks() throws Exception {
        locks.clear();
        if (recipe.equals("semaphore") && limit.startsWith("/")) {
            var count = new SharedCount(client, limit, 1);

            count.start();
            semaphore = new InterProcessSemaphoreV2(client, path, count);
        } else if (recipe.equals("semaphore")) {
            semaphore = new InterProcessSemaphoreV2(client, path,
                Integer.parseInt(limit));
        } else if (recipe.equals("mutex")) {
            add("write", new InterProcessMutex(client, path));
        } else if (recipe.equals("rw")) {
            var lock = new InterProcessReadWriteLock(client, path);

            add("write", lock.writeLock());
            add("read", lock.readLock());
        }
    }

    void add(String mode, InterProcessMutex mutex) {
        locks.put(mode, new Mutex(mutex));
        if (listening)
            mutex.makeRevocable(asked -> answer("asked"));
    }

    String lock(String recipe, String layout, String path)
        throws Exception {
        if (!layout.equals("curator"))
            return "failed: no such layout";
        this.recipe = recipe.split(":")[0];
        this.limit = recipe.substring(recipe.indexOf(":") + 1);
        this.path = path;
        this.listening = false;
        makeLocks();
        return "lock";
    }

    String listen() throws Exception {
        listening = true;
        makeLocks();
        return "listening";
    }

    String revoke(String node) throws Exception {
        Revoker.attemptRevoke(client, node);
        return "revoked";
    }

    /* -- a lock of any recipe */

    interface Lock {
        /* Of an election Curator does not know a try. */
        boolean acquire(long timeoutMs) throws Exception;
        void release() throws Exception;
        /* null: Curator does not tell it. */
        String nodePath() throws Exception;
    }

    record Mutex(InterProcessLock mutex) implements Lock {
        public boolean acquire(long timeoutMs) throws Exception {
            return mutex.acquire(timeoutMs, TimeUnit.MILLISECONDS);
        }

        public void release() throws Exception {
            mutex.release();
        }

        /* It is protected. */
        public String nodePath() throws Exception {
            if (mutex instanceof InterProcessSemaphoreMutex)
                return null;
            var method =
                InterProcessMutex.class.getDeclaredMethod("getLockPath");
            method.setAccessible(true);
            return (String) method.invoke(mutex);
        }
    }

    class Latch implements Lock {
        private final LeaderLatch latch = new LeaderLatch(client, path, name);

        public boolean acquire(long timeoutMs) throws Exception {
            latch.start();
            if (latch.await(Math.max(timeoutMs, 500), TimeUnit.MILLISECONDS))
                return true;
            release();
            return false;
        }

        public void release() throws Exception {
            latch.close();
        }

        public String nodePath() {
            return latch.getOurPath();
        }
    }

    /* Leads as long as takeLeadership() has not returned. */
    class Selector extends LeaderSelectorListenerAdapter implements Lock {
        private final LeaderSelector selector =
            new LeaderSelector(client, path, this);
        private final CountDownLatch leads = new CountDownLatch(1);
        private final CountDownLatch leaves = new CountDownLatch(1);
        private volatile String node;

        /* The mutex knows the node of each of its threads. */
        public void takeLeadership(CuratorFramework client) throws Exception {
            var mutex = LeaderSelector.class.getDeclaredField("mutex");

            mutex.setAccessible(true);
            node = new Mutex((InterProcessMutex) mutex.get(selector))
                .nodePath();
            leads.countDown();
            leaves.await();
        }

        public boolean acquire(long timeoutMs) throws Exception {
            selector.setId(name);
            selector.start();
            if (leads.await(Math.max(timeoutMs, 500), TimeUnit.MILLISECONDS))
                return true;
            release();
            return false;
        }

        /* The mutex is given back behind takeLeadership(). */
        public void release() throws Exception {
            leaves.countDown();
            while (node != null && client.checkExists().forPath(node) != null)
                Thread.sleep(1);
            selector.close();
        }

        public String nodePath() {
            return node;
        }
    }

    String leader() throws Exception {
        return "leader " + (recipe.equals("latch")
            ? new Latch().latch.getLeader()
            : new Selector().selector.getLeader()).getId();
    }

    class Permits implements Lock {
        private final int permits;
        private Collection<Lease> leases;

        Permits(int permits) {
            this.permits = permits;
        }

        public boolean acquire(long timeoutMs) throws Exception {
            leases = semaphore.acquire(permits, timeoutMs,
                TimeUnit.MILLISECONDS);
            return leases != null;
        }

        public void release() throws Exception {
            semaphore.returnAll(leases);
        }

        public String nodePath() {
            return ZKPaths.makePath(path, "leases",
                leases.iterator().next().getNodeName());
        }
    }

    /* That of the mode, or one for this acquire. */
    Lock lockFor(String mode) {
        return switch (recipe) {
        case "latch" -> new Latch();
        case "selector" -> new Selector();
        case "semaphore" -> new Permits(Integer.parseInt(mode));
        case "semaphore-mutex" ->
            new Mutex(new InterProcessSemaphoreMutex(client, path));
        default -> locks.get(mode);
        };
    }

    /* What Curator does not have: the fencing token. 0: the node has gone, or
     * is that of an old session. */
    long token(String node) throws Exception {
        var stat = client.checkExists().forPath(node);

        return stat == null || stat.getEphemeralOwner() != sessionId()
            ? 0 : stat.getCzxid();
    }

    String acquire(String mode, long timeoutMs) throws Exception {
        Lock lock = lockFor(mode);

        if (!lock.acquire(timeoutMs))
            return "busy";
        locks.put(key(mode), lock);
        String node = lock.nodePath();
        return node == null ? "held - 0"
            : "held " + ZKPaths.getNodeFromPath(node) + " " + token(node);
    }

    /* Who releases permits need not say how many. */
    String key(String mode) {
        return recipe.equals("rw") ? mode : "write";
    }

    String release(String mode) throws Exception {
        locks.get(key(mode)).release();
        return "released";
    }

    /* The test has the resource behind the lock, and answers with a number. */
    long ask(String what, String mode, String node, long token, long value)
        throws Exception {
        answer(String.join(" ", what, mode, ZKPaths.getNodeFromPath(node),
            Long.toString(token), Long.toString(value)));
        return Long.parseLong(in.readLine());
    }

    /* False when the test has said that it was the last. */
    boolean cycle(String mode) throws Exception {
        Lock lock = lockFor(mode);

        if (!lock.acquire(120000))
            return true;
        try {
            String node = lock.nodePath();
            long token = token(node);
            long value =
                token == 0 ? -1 : ask("enter", mode, node, token, 0);

            return value < 0 || ask("leave", mode, node, token,
                value + (mode.equals("write") ? 1 : 0)) != 0;
        } finally {
            lock.release();
        }
    }

    String run(int writers) throws Exception {
        Random random = new Random();
        boolean more = true;

        while (more) {
            String mode = recipe.equals("semaphore") ? "1"
                : random.nextInt(100) < writers ? "write" : "read";

            try {
                more = cycle(mode);
            } catch (Exception e) {
                System.err.println(name + ": " + e);
                Thread.sleep(20);
                makeLocks();
            }
        }
        return "ran";
    }

    String obey(String[] words) throws Exception {
        return switch (words[0]) {
        case "version" -> version();
        case "open" -> open(words[1], Integer.parseInt(words[2]));
        case "close" -> close();
        case "lock" -> lock(words[1], words[2], words[3]);
        case "listen" -> listen();
        case "acquire" -> acquire(words[1], Long.parseLong(words[2]));
        case "release" -> release(words[1]);
        case "revoke" -> revoke(words[1]);
        case "leader" -> leader();
        case "run" -> run(Integer.parseInt(words[1]));
        case "add" -> Gather.add(client, words);
        case "number" -> Gather.number(client, words);
        case "barrier" -> Gather.barrier(client, words);
        case "enter" -> Gather.enter(client, words);
        case "leave" -> Gather.leave(words);
        default -> "failed: what?";
        };
    }

    public static void main(String[] args) throws Exception {
        Worker worker = new Worker(args[0]);
        String line;

        answer("ready");
        while ((line = in.readLine()) != null) {
            try {
                answer(worker.obey(line.split(" ")));
            } catch (Exception e) {
                answer("failed: " + e);
            }
        }
        System.exit(0);
    }
}
