/* SPDX-License-Identifier: Apache-2.0 */
// The C++ header on a real server: what std's own locks expect of a lock, and
// what an exception tells.
//
//   test_cxx HOSTS PATH
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <type_traits>

#include <zkrecipes/testing.h>
#include <zkrecipes/zkrecipes.hpp>

using namespace std::chrono_literals;

// NOLINTNEXTLINE: it names the line
#define REQUIRE(condition)                                                     \
    do {                                                                       \
        if (!(condition)) {                                                    \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,            \
                         #condition);                                          \
            std::exit(1);                                                      \
        }                                                                      \
    } while (false)

static_assert(!std::is_copy_constructible_v<zkr::session>);
static_assert(!std::is_copy_constructible_v<zkr::grant>);
static_assert(std::is_nothrow_move_constructible_v<zkr::grant>);
static_assert(std::is_nothrow_move_constructible_v<zkr::mutex>);

template <class Function>
static int code_of(Function function)
{
    try {
        function();
    } catch (const std::system_error &e) {
        REQUIRE(e.code().category() == zkr::category());
        return e.code().value();
    }
    return ZKR_OK;
}

static void errors_say_what_and_why(const zkr::session &session)
{
    try {
        zkr::mutex bad(session, "no/slash");
        REQUIRE(false);
    } catch (const zkr::error &e) {
        REQUIRE(e.code().value() == ZKR_EPATH);
        REQUIRE(std::string(e.what()).find("no/slash") != std::string::npos);
        REQUIRE(!e.is_transient());
        REQUIRE(e.code() == std::errc::invalid_argument);
    }
    const auto is = [](int code, std::errc what) {
        return std::error_code(code, zkr::category()) == what;
    };

    // Programs that know only std's codes found none: the category had none.
    REQUIRE(is(ZKR_ETIMEDOUT, std::errc::timed_out));
    REQUIRE(is(ZKR_ZNONODE, std::errc::no_such_file_or_directory));
    REQUIRE(!is(ZKR_EUNSURE, std::errc::timed_out));
}

static void a_grant_is_given_back_with_its_scope(zkr::mutex &mutex,
                                                 zkr::mutex &other)
{
    std::int64_t token = 0;
    {
        zkr::grant first = mutex.acquire();
        zkr::grant moved = std::move(first);

        REQUIRE(!first && moved && moved.is_held()); // NOLINT: it is empty
        moved.ensure();
        token = moved.token();
        REQUIRE(!other.acquire_for(0s));
        REQUIRE(!other.acquire_for(5ms));
    }
    zkr::grant next = other.acquire();

    REQUIRE(next.token() > token);
    next.release();
    REQUIRE(!next.is_held());
    REQUIRE(code_of([&] { next.ensure(); }) == ZKR_ENOTHELD);
}

static void standard_locks_take_a_mutex(zkr::mutex &mutex, zkr::mutex &other)
{
    REQUIRE(code_of([&] { (void)mutex.held(); }) == ZKR_ENOTHELD);
    {
        const std::unique_lock lock(mutex, 60s);

        REQUIRE(lock.owns_lock() && mutex.held().is_held());
        REQUIRE(!std::unique_lock(other, std::try_to_lock).owns_lock());
        REQUIRE(!std::unique_lock(other, 10ms).owns_lock());
        REQUIRE(!other.try_lock_until(std::chrono::steady_clock::now() + 10ms));
    }
    REQUIRE(other.try_lock_until(std::chrono::system_clock::now() + 60s));
    other.unlock();
    const std::lock_guard guard(mutex);
}

// A thread that reads must not try to write: it would wait for itself.
template <class Function>
static bool in_another_thread(Function function)
{
    bool result = false;

    std::thread([&] { result = function(); }).join();
    return result;
}

// unlock() on another thread did nothing, said nothing, and the lock was kept
// until the session ended.
static void any_thread_unlocks(zkr::mutex &mutex, zkr::mutex &other)
{
    std::unique_lock lock(mutex);

    REQUIRE(in_another_thread([&] {
        return mutex.held().is_held() && !mutex.try_lock() && !other.try_lock();
    }));
    std::thread([moved = std::move(lock)]() mutable { moved.unlock(); }).join();
    REQUIRE(other.try_lock());
    other.unlock();
    REQUIRE(code_of([&] { mutex.unlock(); }) == ZKR_ENOTHELD);
}

// A lock that was lost stays with its holder until the unlock: else that would
// give back the lock of the next one.
static void
the_next_waits_for_the_unlock_of_a_lost_lock(const zkr::session &session,
                                             zkr::mutex &mutex)
{
    mutex.lock();
    zkr::check(zkr_test_expire_session(session.get()));
    REQUIRE(!mutex.held().is_held());
    const auto lost = mutex.held().token();

    REQUIRE(in_another_thread([&] { return !mutex.try_lock_for(1s); }));
    std::thread next([&] { mutex.lock(); });
    REQUIRE(mutex.held().token() == lost);
    mutex.unlock();
    next.join();
    REQUIRE(mutex.held().token() > lost && mutex.held().is_held());
    mutex.unlock();
}

static void threads_share_a_mutex(zkr::mutex &mutex)
{
    constexpr int threads = 4;
    constexpr int rounds = 25;
    std::vector<std::thread> all;
    long count = 0; // no atomic: the lock protects it

    for (int i = 0; i < threads; i++)
        all.emplace_back([&] {
            for (int round = 0; round < rounds; round++) {
                const std::scoped_lock lock(mutex);

                count++;
            }
        });
    for (auto &thread : all)
        thread.join();
    REQUIRE(count == threads * rounds);
}

static void readers_share(const zkr::session &session, const std::string &path)
{
    zkr::shared_mutex lock(session, path + "-shared");
    zkr::shared_mutex other(session, path + "-shared");

    {
        const std::shared_lock first(lock);
        const std::shared_lock second(other, 60s);

        REQUIRE(lock.held_shared().is_held() && other.held_shared().is_held());
        REQUIRE(!in_another_thread([&] { return other.try_lock_for(5ms); }));
        REQUIRE(code_of([&] { lock.lock(); }) == ZKR_EDEADLK);
    }
    std::shared_lock reader(lock);
    std::thread([&lock, moved = std::move(reader)]() mutable {
        REQUIRE(code_of([&] { (void)lock.held_shared(); }) == ZKR_ENOTHELD);
        moved.unlock();
    }).join();
    REQUIRE(code_of([&] { lock.unlock_shared(); }) == ZKR_ENOTHELD);
    const std::unique_lock writer(lock);

    REQUIRE(lock.held().token() > 0);
    REQUIRE(!in_another_thread([&] { return other.try_lock_shared(); }));
    REQUIRE(!in_another_thread([&] { return other.try_lock_shared_for(5ms); }));
}

static void a_reentrant_lock_is_its_threads(const zkr::session &session,
                                            const std::string &path)
{
    zkr_lockable_opts opts = zkr::shared_mutex::options();

    opts.flags = ZKR_REENTRANT;
    zkr::shared_mutex lock(session, path + "-reentrant", opts);
    lock.lock();
    lock.lock();
    REQUIRE(in_another_thread(
        [&] { return code_of([&] { lock.unlock(); }) == ZKR_ENOTOWNER; }));
    lock.unlock();
    REQUIRE(lock.held().is_held());
    lock.unlock();
    REQUIRE(code_of([&] { lock.unlock(); }) == ZKR_ENOTHELD);
}

static void a_lock_can_be_moved(const zkr::session &session,
                                const std::string &path)
{
    zkr::mutex first(session, path + "-moved");

    first.lock();
    zkr::mutex second = std::move(first);
    REQUIRE(second.held().is_held());
    second.unlock();
}

static void locks_and_sessions_count(const zkr::session &session,
                                     const std::string &path)
{
    const zkr::counters before = session.stats();
    zkr::mutex mutex(session, path + "-counted");
    zkr::shared_mutex shared(session, path + "-counted-too");

    mutex.acquire().release();
    shared.acquire_shared().release();
    shared.acquire().release();
    REQUIRE(mutex.stats().releases == 1);
    REQUIRE(shared.stats().releases == 2);
    REQUIRE(session.stats().releases == before.releases + 3);
}

static void a_wait_of_nothing_tries_once(zkr::mutex &mutex)
{
    REQUIRE(zkr::detail::to_ms(-5s) == 0);
    REQUIRE(zkr::detail::to_ms(1us) == 1);
    REQUIRE(zkr::detail::to_ms(std::chrono::hours::max()) > 0);
    REQUIRE(mutex.acquire_for(-1s).has_value());
}

#if __cplusplus >= 202002L
static void a_stop_ends_a_wait(zkr::mutex &mutex, zkr::mutex &other)
{
    for (int twice = 0; twice < 2; twice++) {
        zkr::grant held = mutex.acquire();
        std::atomic<int> code = 0;
        std::jthread waiter([&](std::stop_token stop) {
            code = code_of([&] { (void)other.acquire(stop); });
        });

        waiter.request_stop();
        waiter.join();
        REQUIRE(code == ZKR_ECANCELED);
        held.release();
        REQUIRE(other.acquire(std::stop_token()).is_held());
    }
}
#endif

int main(int argc, char **argv)
{
    REQUIRE(argc == 3);
    try {
        zkr::session session(argv[1]);
        const std::string path = argv[2];
        zkr::mutex mutex(session, path);
        zkr::mutex other(session, path);

        REQUIRE(session.state() == ZKR_SESSION_CONNECTED);
        errors_say_what_and_why(session);
        a_grant_is_given_back_with_its_scope(mutex, other);
        standard_locks_take_a_mutex(mutex, other);
        threads_share_a_mutex(mutex);
        any_thread_unlocks(mutex, other);
        the_next_waits_for_the_unlock_of_a_lost_lock(session, mutex);
        a_reentrant_lock_is_its_threads(session, path);
        readers_share(session, path);
        a_lock_can_be_moved(session, path);
        locks_and_sessions_count(session, path);
        a_wait_of_nothing_tries_once(mutex);
#if __cplusplus >= 202002L
        a_stop_ends_a_wait(mutex, other);
#endif
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
