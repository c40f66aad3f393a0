/* SPDX-License-Identifier: Apache-2.0 */
// The fair mutex in C++17: std's own locks take it, and what fails throws.
//
//   ./mutex_cpp 127.0.0.1:2181 /locks/orders
#include <cstdio>
#include <exception>
#include <mutex>

#include <zkrecipes/zkrecipes.hpp>

using namespace std::chrono_literals;

// Does the work that the lock protects. Before each step it checks that the
// lock is still held, and it gives the token to the resource, which refuses a
// late write.
static void work(const zkr::mutex &orders)
{
    for (int step = 1; step <= 3; step++) {
        orders.held().ensure();
        std::printf("step %d, token %lld\n", step,
                    static_cast<long long>(orders.held().token()));
    }
}

int main(int argc, char **argv)
{
    try {
        zkr::session session(argc > 1 ? argv[1] : "127.0.0.1:2181");
        zkr_lockable_opts opts = ZKR_LOCKABLE_OPTS_INIT;

        opts.label = "the example"; // shown to those who wait for us
        zkr::mutex orders(session, argc > 2 ? argv[2] : "/locks/orders", opts);

        const std::unique_lock lock(orders, 10s);
        if (!lock) {
            std::fprintf(stderr, "not granted in 10 s\n");
            return 1;
        }
        work(orders);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
