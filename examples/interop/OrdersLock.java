/* SPDX-License-Identifier: Apache-2.0 */
/* The Java side of a lock that C and Python programs share: README.md. */
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

public class OrdersLock {
    public static void main(String[] args) throws Exception {
        String hosts = args.length > 0 ? args[0] : "127.0.0.1:2181";
        String path = args.length > 1 ? args[1] : "/locks/orders";

        try (CuratorFramework client = CuratorFrameworkFactory.newClient(
                 hosts, new ExponentialBackoffRetry(100, 10))) {
            client.start();

            // To take turns with zkr_mutex, nothing more is needed.
            InterProcessMutex lock = new InterProcessMutex(client, path);

            if (!lock.acquire(10, TimeUnit.SECONDS)) {
                System.err.println("somebody else has it");
                System.exit(1);
            }
            try {
                // Curator does not say when the lock is lost: ask before each
                // step whether the connection stands.
                for (int step = 1; step <= 3; step++) {
                    if (!client.getZookeeperClient().isConnected())
                        throw new IllegalStateException("connection lost");
                    System.out.println("Java: step " + step);
                }
            } finally {
                lock.release();
            }
        }
    }
}
