/* SPDX-License-Identifier: Apache-2.0 */
/* The Java side of the interop tests: unmodified Curator, driven by lines.
 * worker.h says which lines. */
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader
    .LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.retry.RetryNTimes;
import org.apache.curator.utils.ZKPaths;

public class Worker {
    private final String name;
    private CuratorFramework client;
    private String recipe;
    private String path;
    private Map<String, InterProcessMutex> locks;
    private Election election;
    private String limit;
    private InterProcessSemaphoreV2 semaphore;
    private InterProcessSemaphoreMutex semaphoreMutex;
    private Collection<Lease> leases;
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
        return "open " + Long.toHexString(
            client.getZookeeperClient().getZooKeeper().getSessionId());
    }

    String close() {
        client.close();
        client = null;
        return "closed";
    }

    /* New objects: one that failed, or whose session ended, is of no use. */
    void makeLocks() throws Exception {
        locks = new HashMap<>();
        if (isSemaphore()) {
            makeSemaphore();
        } else if (recipe.equals("mutex")) {
            locks.put("write", new InterProcessMutex(client, path));
        } else {
            InterProcessReadWriteLock lock =
                new InterProcessReadWriteLock(client, path);

            locks.put("write", lock.writeLock());
            locks.put("read", lock.readLock());
        }
        if (listening) {
            for (InterProcessMutex lock : locks.values())
                lock.makeRevocable(asked -> answer("asked"));
        }
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

    /* -- elections; each object serves for one campaign */

    interface Election {
        /* Curator does not know a try. */
        boolean lead(long timeoutMs) throws Exception;
        void leave() throws Exception;
        String nodePath() throws Exception;
        String leader() throws Exception;
    }

    class Latch implements Election {
        private final LeaderLatch latch = new LeaderLatch(client, path, name);

        public boolean lead(long timeoutMs) throws Exception {
            latch.start();
            return latch.await(timeoutMs, TimeUnit.MILLISECONDS);
        }

        public void leave() throws Exception {
            latch.close();
        }

        public String nodePath() {
            return latch.getOurPath();
        }

        public String leader() throws Exception {
            return latch.getLeader().getId();
        }
    }

    /* Leads as long as takeLeadership() has not returned. */
    class Selector extends LeaderSelectorListenerAdapter implements Election {
        private final LeaderSelector selector =
            new LeaderSelector(client, path, this);
        private final CountDownLatch leads = new CountDownLatch(1);
        private final CountDownLatch leaves = new CountDownLatch(1);
        private volatile String node;

        /* The mutex knows the node of each of its threads. */
        public void takeLeadership(CuratorFramework client) throws Exception {
            var mutex = LeaderSelector.class.getDeclaredField("mutex");

            mutex.setAccessible(true);
            node = Worker.nodePath((InterProcessMutex) mutex.get(selector));
            leads.countDown();
            leaves.await();
        }

        public boolean lead(long timeoutMs) throws Exception {
            selector.setId(name);
            selector.start();
            return leads.await(timeoutMs, TimeUnit.MILLISECONDS);
        }

        /* The mutex is given back behind takeLeadership(). */
        public void leave() throws Exception {
            leaves.countDown();
            while (node != null && client.checkExists().forPath(node) != null)
                Thread.sleep(1);
            selector.close();
        }

        public String nodePath() {
            return node;
        }

        public String leader() throws Exception {
            return selector.getLeader().getId();
        }
    }

    boolean isElection() {
        return recipe.equals("latch") || recipe.equals("selector");
    }

    Election newElection() {
        return recipe.equals("latch") ? new Latch() : new Selector();
    }

    boolean lead(long timeoutMs) throws Exception {
        election = newElection();
        if (election.lead(Math.max(timeoutMs, 500)))
            return true;
        election.leave();
        return false;
    }

    /* 0: the node has gone, or is that of an old session. */
    long electionToken() throws Exception {
        var stat = client.checkExists().forPath(election.nodePath());
        long session =
            client.getZookeeperClient().getZooKeeper().getSessionId();

        return stat == null || stat.getEphemeralOwner() != session
            ? 0 : stat.getCzxid();
    }

    String electionNode() throws Exception {
        return ZKPaths.getNodeFromPath(election.nodePath());
    }

    String electionAcquire(long timeoutMs) throws Exception {
        return lead(timeoutMs)
            ? "held " + electionNode() + " " + electionToken() : "busy";
    }

    void electionCycle(Section section) throws Exception {
        if (!lead(120000))
            return;
        try {
            long token = electionToken();

            if (token != 0)
                section.work("write", electionNode(), token);
        } finally {
            election.leave();
        }
    }

    String leader() throws Exception {
        return "leader " + newElection().leader();
    }

    /* -- the semaphore */

    void makeSemaphore() throws Exception {
        if (recipe.equals("semaphore-mutex")) {
            semaphoreMutex = new InterProcessSemaphoreMutex(client, path);
        } else if (limit.startsWith("/")) {
            SharedCount count = new SharedCount(client, limit, 1);

            count.start();
            semaphore = new InterProcessSemaphoreV2(client, path, count);
        } else {
            semaphore = new InterProcessSemaphoreV2(client, path,
                Integer.parseInt(limit));
        }
    }

    boolean isSemaphore() {
        return recipe.startsWith("semaphore");
    }

    boolean takeLeases(int permits, long timeoutMs) throws Exception {
        leases = semaphore.acquire(permits, timeoutMs, TimeUnit.MILLISECONDS);
        return leases != null;
    }

    /* 0: the node has gone, or is that of an old session. */
    long leaseToken(Lease lease) throws Exception {
        var stat = client.checkExists().forPath(
            ZKPaths.makePath(path, "leases", lease.getNodeName()));
        long session =
            client.getZookeeperClient().getZooKeeper().getSessionId();

        return stat == null || stat.getEphemeralOwner() != session
            ? 0 : stat.getCzxid();
    }

    String semaphoreAcquire(int permits, long timeoutMs) throws Exception {
        if (recipe.equals("semaphore-mutex"))
            return semaphoreMutex.acquire(timeoutMs, TimeUnit.MILLISECONDS)
                ? "held - 0" : "busy";
        if (!takeLeases(permits, timeoutMs))
            return "busy";
        Lease first = leases.iterator().next();
        return "held " + first.getNodeName() + " " + leaseToken(first);
    }

    void semaphoreRelease() throws Exception {
        if (recipe.equals("semaphore-mutex"))
            semaphoreMutex.release();
        else
            semaphore.returnAll(leases);
    }

    void leaseCycle(Section section) throws Exception {
        if (!takeLeases(1, 120000))
            return;
        try {
            Lease lease = leases.iterator().next();
            long token = leaseToken(lease);

            if (token != 0)
                section.work("1", lease.getNodeName(), token);
        } finally {
            semaphore.returnAll(leases);
        }
    }

    /* It is protected. */
    static String nodePath(InterProcessMutex lock) throws Exception {
        Method method =
            InterProcessMutex.class.getDeclaredMethod("getLockPath");

        method.setAccessible(true);
        return (String) method.invoke(lock);
    }

    /* What Curator does not have: the fencing token. 0: the node has gone. */
    long token(InterProcessMutex lock) throws Exception {
        var stat = client.checkExists().forPath(nodePath(lock));

        return stat == null ? 0 : stat.getCzxid();
    }

    String acquire(String mode, long timeoutMs) throws Exception {
        if (isElection())
            return electionAcquire(timeoutMs);
        if (isSemaphore())
            return semaphoreAcquire(Integer.parseInt(mode), timeoutMs);
        InterProcessMutex lock = locks.get(mode);

        if (!lock.acquire(timeoutMs, TimeUnit.MILLISECONDS))
            return "busy";
        return "held " + ZKPaths.getNodeFromPath(nodePath(lock)) + " "
            + token(lock);
    }

    String release(String mode) throws Exception {
        if (isElection())
            election.leave();
        else if (isSemaphore())
            semaphoreRelease();
        else
            locks.get(mode).release();
        return "released";
    }

    /* One cycle of the mix. */
    void cycle(Section section, String mode) throws Exception {
        if (isElection()) {
            electionCycle(section);
            return;
        }
        if (isSemaphore()) {
            leaseCycle(section);
            return;
        }
        InterProcessMutex lock = locks.get(mode);

        lock.acquire();
        try {
            long token = token(lock);

            if (token != 0)
                section.work(mode, ZKPaths.getNodeFromPath(nodePath(lock)),
                    token);
        } finally {
            lock.release();
        }
    }

    String run(String dir, int writers) throws Exception {
        Section section = new Section(name, dir);
        Random random = new Random();
        int cycles = 0;

        while (!section.isOver()) {
            String mode = random.nextInt(100) < writers ? "write" : "read";

            try {
                cycle(section, mode);
                cycles++;
            } catch (Exception e) {
                System.err.println(name + ": " + e);
                Thread.sleep(20);
                makeLocks();
            }
        }
        section.close();
        return "ran " + cycles;
    }

    String obey(String[] words) throws Exception {
        switch (words[0]) {
        case "version":
            return version();
        case "open":
            return open(words[1], Integer.parseInt(words[2]));
        case "close":
            return close();
        case "lock":
            return lock(words[1], words[2], words[3]);
        case "listen":
            listening = true;
            makeLocks();
            return "listening";
        case "acquire":
            return acquire(words[1], Long.parseLong(words[2]));
        case "release":
            return release(words[1]);
        case "revoke":
            Revoker.attemptRevoke(client, words[1]);
            return "revoked";
        case "leader":
            return leader();
        case "run":
            return run(words[1], Integer.parseInt(words[2]));
        default:
            return Gather.obey(client, words);
        }
    }

    public static void main(String[] args) throws Exception {
        Worker worker = new Worker(args[0]);
        var in = new BufferedReader(new InputStreamReader(System.in));
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
