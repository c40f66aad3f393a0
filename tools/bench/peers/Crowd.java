/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that do cycles together, and sleep between batches: as crowd.c. */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

class Crowd {
    interface Cycle {
        void run(int member) throws Exception;
    }

    private static final int SAMPLES_MAX = 65536;

    private final Cycle cycle;
    private final List<Thread> threads = new ArrayList<>();
    private int batch;
    private int atWork;
    private boolean isOver;
    private final AtomicInteger toBegin = new AtomicInteger();

    /* Of the holder of the lock. */
    private volatile long releasedAt;
    private long grantedAt;
    private long longestGap;
    private final long[] samples = new long[SAMPLES_MAX];
    private volatile int sampleCount;

    Crowd(int count, Cycle cycle) {
        this.cycle = cycle;
        for (int i = 0; i < count; i++) {
            int member = i;
            Thread thread = new Thread(() -> work(member));

            threads.add(thread);
            thread.start();
        }
    }

    void granted() {
        long now = System.nanoTime();

        if (releasedAt != 0 && sampleCount < SAMPLES_MAX)
            samples[sampleCount++] = now - releasedAt;
        if (grantedAt != 0)
            longestGap = Math.max(longestGap, now - grantedAt);
        grantedAt = now;
    }

    void releasing() {
        releasedAt = System.nanoTime();
    }

    /* Returns the number of the batch, or 0: there is nothing more to do. */
    private synchronized int awaitBatch(int done) throws Exception {
        while (batch == done && !isOver)
            wait();
        return isOver ? 0 : batch;
    }

    private synchronized void leaveBatch() {
        if (--atWork == 0)
            notifyAll();
    }

    private void work(int member) {
        try {
            int done = 0;

            while ((done = awaitBatch(done)) != 0) {
                while (toBegin.getAndDecrement() > 0)
                    cycle.run(member);
                leaveBatch();
            }
        } catch (Throwable e) {
            Peer.fail(e);
        }
    }

    synchronized void open(int n) {
        toBegin.set(n);
        sampleCount = 0;
        releasedAt = grantedAt = longestGap = 0;
        atWork = threads.size();
        batch++;
        notifyAll();
    }

    synchronized void await() throws Exception {
        while (atWork > 0)
            wait();
    }

    private void addFigures() {
        int count = sampleCount;

        if (count == 0)
            return;
        Peer.figure("handoff_ns", Peer.quantile(samples, count, 0.5));
        Peer.figure("p99_ns", Peer.quantile(samples, count, 0.99));
        Peer.figure("gap_ns", longestGap);
    }

    void run(int n) throws Exception {
        Peer.begin();
        open(n);
        await();
        Peer.end();
        addFigures();
    }

    void runFor(int seconds) throws Exception {
        Peer.begin();
        open(Integer.MAX_VALUE);
        Thread.sleep(1000L * seconds);
        toBegin.set(0);
        await();
        Peer.end();
        addFigures();
    }

    void stop() throws Exception {
        synchronized (this) {
            isOver = true;
            notifyAll();
        }
        for (Thread thread : threads)
            thread.join();
    }
}
