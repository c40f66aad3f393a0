/* SPDX-License-Identifier: Apache-2.0 */
/* Curator's recipes that are no locks: as zkr_family.c. */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.retry.RetryNTimes;

class Family implements Peer.Bench {
    interface Cycle {
        void run() throws Exception;
    }

    private final List<CuratorFramework> clients = new ArrayList<>();
    private final List<Cycle> cycles = new ArrayList<>();
    private int memberCount;
    private String path;
    private CyclicBarrier allInside;
    private Crowd crowd;

    private static String roundPath(int number, int round) {
        return CuratorPeer.path("round", number) + "-" + round;
    }

    private Cycle semaphore(CuratorFramework client) {
        var semaphore = new InterProcessSemaphoreV2(client, path,
            Peer.number("limit", 1));
        int permits = Peer.number("permits", 1);

        return () -> semaphore.returnAll(semaphore.acquire(permits));
    }

    /* It waits for 10 ms between two attempts. */
    private Cycle counter(CuratorFramework client) {
        var counter =
            new DistributedAtomicLong(client, path, new RetryNTimes(10, 10));

        return () -> {
            while (!counter.increment().succeeded())
                continue;
        };
    }

    /* A latch serves once. */
    private Cycle leader(CuratorFramework client) {
        return () -> {
            var latch = new LeaderLatch(client, path);

            latch.start();
            latch.await();
            crowd.granted();
            crowd.releasing();
            latch.close();
        };
    }

    private Cycle barrier(CuratorFramework client, int number)
        throws Exception {
        int[] round = { 0 };

        new DistributedBarrier(client, roundPath(number, 0)).setBarrier();
        return () -> {
            int now = round[0]++;

            new DistributedBarrier(client, roundPath(number, now + 1))
                .setBarrier();
            new DistributedBarrier(client, roundPath(number, now))
                .removeBarrier();
            new DistributedBarrier(client, roundPath(1 - number, now))
                .waitOnBarrier();
        };
    }

    private Cycle doubleBarrier(CuratorFramework client) {
        int[] round = { 0 };

        return () -> {
            var barrier = new DistributedDoubleBarrier(client,
                roundPath(0, round[0]++), memberCount);

            barrier.enter();
            allInside.await();
            barrier.leave();
        };
    }

    private Cycle open(CuratorFramework client, int number) throws Exception {
        String recipe = Peer.option("recipe", "counter");

        switch (recipe) {
        case "semaphore":
            return semaphore(client);
        case "counter":
            return counter(client);
        case "leader":
            return leader(client);
        case "barrier":
            return barrier(client, number);
        case "double-barrier":
            return doubleBarrier(client);
        default:
            throw new Exception("no recipe " + recipe);
        }
    }

    public void prepare() throws Exception {
        memberCount = Peer.number("sessions", 1);
        path = CuratorPeer.path("family", 0);
        allInside = new CyclicBarrier(memberCount);
        for (int i = 0; i < memberCount; i++) {
            clients.add(CuratorPeer.open());
            cycles.add(open(clients.get(i), i));
        }
        crowd = new Crowd(memberCount, member -> cycles.get(member).run());
        run(Peer.number("warmup", 1000));
    }

    public void run(int n) throws Exception {
        crowd.run(n);
    }

    public void finish() throws Exception {
        crowd.stop();
        clients.forEach(CuratorFramework::close);
    }
}
