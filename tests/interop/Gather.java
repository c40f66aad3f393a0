/* SPDX-License-Identifier: Apache-2.0 */
/* The counters and barriers of the Java side. worker.h has the commands. */
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.atomic.PromotedToLock;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.retry.RetryNTimes;

class Gather {
    private static DistributedDoubleBarrier member;

    static DistributedAtomicLong atomic(CuratorFramework client, String path,
                                        String lock) {
        var retries = new RetryNTimes(5, 10);

        if (lock.equals("-"))
            return new DistributedAtomicLong(client, path, retries);
        return new DistributedAtomicLong(client, path, retries,
            PromotedToLock.builder().lockPath(lock).retryPolicy(retries)
                .timeout(60, TimeUnit.SECONDS).build());
    }

    /* Adds 1; false when others were faster. */
    static Callable<Boolean> adder(CuratorFramework client, String kind,
        String path, String lock) throws Exception {
        if (kind.equals("long")) {
            var number = atomic(client, path, lock);

            return () -> number.increment().succeeded();
        }
        var count = new SharedCount(client, path, 0);

        count.start();
        return () -> {
            var found = count.getVersionedValue();

            return count.trySetCount(found, found.getValue() + 1);
        };
    }

    /* Curator's client would send a set again whose answer was lost, and count
     * twice; so this one does not repeat anything. */
    static String add(CuratorFramework client, String[] words)
        throws Exception {
        int times = Integer.parseInt(words[4]);
        int made = 0;
        int unknown = 0;

        try (var once = CuratorFrameworkFactory.newClient(
                 client.getZookeeperClient().getCurrentConnectionString(),
                 10000, 15000, new RetryNTimes(0, 0))) {
            once.start();
            once.blockUntilConnected();
            var adder = adder(once, words[1], words[2], words[3]);

            while (made + unknown < times) {
                try {
                    if (adder.call())
                        made++;
                } catch (Exception e) {
                    unknown++;
                    Thread.sleep(20);
                }
            }
        }
        return "added " + made + " " + unknown;
    }

    static String number(CuratorFramework client, String[] words)
        throws Exception {
        if (words[1].equals("long"))
            return "number " + atomic(client, words[2], "-").get().postValue();
        try (var count = new SharedCount(client, words[2], 0)) {
            count.start();
            return "number " + count.getCount();
        }
    }

    static String barrier(CuratorFramework client, String[] words)
        throws Exception {
        var barrier = new DistributedBarrier(client, words[2]);

        switch (words[1]) {
        case "set" -> barrier.setBarrier();
        case "remove" -> barrier.removeBarrier();
        default -> barrier.waitOnBarrier();
        }
        return "done " + words[1];
    }

    static String enter(CuratorFramework client, String[] words)
        throws Exception {
        member = new DistributedDoubleBarrier(client, words[1],
            Integer.parseInt(words[2]));
        return member.enter(Long.parseLong(words[3]), TimeUnit.MILLISECONDS)
            ? "entered" : "busy";
    }

    static String leave(String[] words) throws Exception {
        return member.leave(Long.parseLong(words[1]), TimeUnit.MILLISECONDS)
            ? "left" : "busy";
    }
}
