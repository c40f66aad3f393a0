/* SPDX-License-Identifier: Apache-2.0 */
// The C++ header on a real server: what std's own locks expect of a lock, and
// what an exception tells.
//
//   test_cxx HOSTS PATH
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <poll.h>
#include <zkrecipes/zkrecipes.hpp>
#include <zkrecipes/zhandle.h> // after it, as it may come

using namespace std::chrono_literals;

// NOLINTNEXTLINE: it names the line
#define REQUIRE(condition)                                                     \
    do {                                                                       \
        if (!(condition)) {                                                    \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);\
            std::exit(1);                                                      \
        }                                                                      \
    } while (false)

static_assert(!std::is_copy_constructible_v<zkr::session>);
static_assert(!std::is_copy_constructible_v<zkr::grant>);
static_assert(std::is_nothrow_move_constructible_v<zkr::grant>);
static_assert(std::is_nothrow_move_constructible_v<zkr::mutex>);

template <class Function> static int code_of(Function function, std::string *what = nullptr)
{
    try {
        function();
    } catch (const std::system_error &e) {
        REQUIRE(e.code().category() == zkr::category());
        if (what != nullptr) *what = e.what();
        return e.code().value();
    }
    return ZKR_OK;
}

#define GIVES(code, ...) REQUIRE(code_of([&] { (void)(__VA_ARGS__); }) == (code))

static void errors_say_what_and_why(const zkr::session &session)
{
    try {
        zkr::mutex bad(session, "no/slash");
        REQUIRE(false);
    } catch (const zkr::error &e) {
        REQUIRE(e.code().value() == ZKR_EPATH);
        REQUIRE(!e.is_session_over() && !e.is_unsure() && !e.is_transient());
        REQUIRE(std::string(e.what()).find("no/slash") != std::string::npos);
        REQUIRE(e.code() == std::errc::invalid_argument);
        REQUIRE(e.code() == ZKR_EPATH);
    }
    const auto is = [](int code, std::errc what) {
        return std::error_code(code, zkr::category()) == what;
    };

    // Programs that know only std's codes found none: the category had none.
    REQUIRE(is(ZKR_ETIMEDOUT, std::errc::timed_out));
    REQUIRE(is(ZKR_ZNONODE, std::errc::no_such_file_or_directory));
    REQUIRE(!is(ZKR_EUNSURE, std::errc::timed_out));
    REQUIRE(is(ZKR_EBUSY, std::errc::device_or_resource_busy));
    REQUIRE(is(ZKR_ELOST, std::errc::owner_dead));
    REQUIRE(is(ZKR_ENOTHELD, std::errc::operation_not_permitted));
    REQUIRE(is(ZKR_ENOTOWNER, std::errc::operation_not_permitted));
    REQUIRE(is(ZKR_EDEADLK, std::errc::resource_deadlock_would_occur));
    REQUIRE(is(ZKR_EPENDING, std::errc::operation_in_progress));
    REQUIRE(is(ZKR_ZNOAUTH, std::errc::permission_denied));
    REQUIRE(is(ZKR_ZNODEEXISTS, std::errc::file_exists));
    const std::pair<int, std::errc> rest[] = {
        { ZKR_ZBADARGUMENTS, std::errc::invalid_argument },
        { ZKR_ENOMEM, std::errc::not_enough_memory }, { ZKR_EUNREACHABLE, std::errc::timed_out },
        { ZKR_ZOPERATIONTIMEOUT, std::errc::timed_out }, { ZKR_ECLOSED, std::errc::not_connected },
        { ZKR_EREFUSED, std::errc::connection_refused }, { ZKR_EPROTO, std::errc::protocol_error },
        { ZKR_ENOTZK, std::errc::protocol_error }, { ZKR_EOVERFLOW, std::errc::value_too_large },
        { ZKR_EDAMAGED, std::errc::bad_message }, { ZKR_ENOTSUP, std::errc::not_supported },
        { ZKR_ZUNIMPLEMENTED, std::errc::not_supported },
        { ZKR_ZCONNECTIONLOSS, std::errc::connection_reset },
        { ZKR_ZAUTHFAILED, std::errc::permission_denied },
        { ZKR_ZNOTEMPTY, std::errc::directory_not_empty },
    };
    for (const auto &row : rest) REQUIRE(is(row.first, row.second));

    const zkr::error loss(ZKR_ZCONNECTIONLOSS, "here");
    REQUIRE(loss.is_transient() && loss.is_unsure());
    REQUIRE(!zkr::error(ZKR_EBUSY).is_unsure());
    REQUIRE(loss.what() == std::string("here: ") + zkr_strerror(loss.code().value()));
    REQUIRE(zkr::error(ZKR_ELOST).is_session_over());
}

// Options that are handed on are refused when their size is none.
template <class Opts> static Opts unsized()
{
    Opts opts{};
    opts.size = 1;
    return opts;
}

static void options_are_handed_on(const zkr::session &session,
                                  const std::string &path, zkr::mutex &mutex)
{
    const auto lock = unsized<zkr_lockable_opts>();
    const auto barrier = unsized<zkr_barrier_opts>();
    const auto how = unsized<zkr_acquire_opts>();
    const auto nobody = [](auto &&...) {};
    zkr::semaphore permits(session, path, 2);
    zkr::transaction txn(session);
    GIVES(ZKR_EINVAL, zkr::session("zk", unsized<zkr_session_opts>()));
    GIVES(ZKR_EINVAL, zkr::mutex(session, path, lock));
    GIVES(ZKR_EINVAL, zkr::recursive_mutex(session, path, lock));
    GIVES(ZKR_EINVAL, zkr::semaphore(session, path, 1, lock));
    GIVES(ZKR_EINVAL, zkr::multi_lock(session, lock));
    GIVES(ZKR_EINVAL, zkr::multi_lock(session).add(mutex, how));
    GIVES(ZKR_EINVAL, zkr::barrier(session, path, barrier));
    GIVES(ZKR_EINVAL, zkr::double_barrier(session, path, 1, barrier));
    GIVES(ZKR_EINVAL, zkr::leader(session, path, nobody, unsized<zkr_leader_opts>()));
    GIVES(ZKR_EINVAL, zkr::watch(session, path, ZKR_WATCH_DATA, nobody, unsized<zkr_watch_opts>()));
    GIVES(ZKR_EINVAL, zkr::fence(unsized<zkr_fence_opts>()));
    GIVES(ZKR_EINVAL, zkr::transaction(session, unsized<zkr_txn_opts>()));
    GIVES(ZKR_EINVAL, txn.create(path, "", unsized<zkr_create_opts>()));
    GIVES(ZKR_EINVAL, mutex.acquire(how));
    GIVES(ZKR_EINVAL, mutex.acquire_for(9s, how));
    GIVES(ZKR_EINVAL, mutex.acquire_async(9s, nobody, how));
    GIVES(ZKR_EINVAL, permits.acquire_all_async(9s, nobody, how));
}

static void a_grant_is_given_back_with_its_scope(zkr::mutex &mutex, zkr::mutex &other)
{
    std::int64_t token = 0;
    {
        zkr::grant first = mutex.acquire();
        zkr::grant moved = std::move(first);
        REQUIRE(!first && moved && moved.is_held()); // NOLINT: it is empty
        moved.ensure();
        REQUIRE(moved.state() == ZKR_GRANT_HELD && moved.depth() == 1);
        REQUIRE(moved.loss() == ZKR_LOSS_NONE && moved.valid_until() > 0);
        REQUIRE(moved.node().find(mutex.path()) == 0);
        REQUIRE(moved.record().find("zkrecipes") != std::string::npos);
        REQUIRE(zkr::view().node().empty() && zkr::view().record().empty());
        token = moved.token();
        REQUIRE(!other.acquire_for(0s));
        REQUIRE(!other.acquire_for(5ms));
    }
    zkr::grant next = other.acquire();
    REQUIRE(next.token() > token);
    next = zkr::grant(); // it is given back
    next = mutex.acquire();
    next.release();
    REQUIRE(!next.is_held());
    GIVES(ZKR_ENOTHELD, next.ensure());
}

static void standard_locks_take_a_mutex(zkr::mutex &mutex, zkr::mutex &other)
{
    GIVES(ZKR_ENOTHELD, mutex.held());
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
template <class Function> static bool in_another_thread(Function function)
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
    GIVES(ZKR_ENOTHELD, mutex.unlock());
}

// A lock that was lost stays with its holder until the unlock: else that would
// give back the lock of the next one.
static void
the_next_waits_for_the_unlock_of_a_lost_lock(const zkr::session &session,
                                             zkr::mutex &mutex)
{
    mutex.lock();
    session.test_expire();
    REQUIRE(!mutex.held().is_held());
    const auto lost = mutex.held().token();
    REQUIRE(in_another_thread([&] { return !mutex.try_lock_for(1s); }));
    std::thread next([&] { mutex.lock(); });
    // meanwhile it is granted the lock, and waits
    REQUIRE(in_another_thread([&] { return !mutex.try_lock_for(500ms); }));
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
    for (auto &thread : all) thread.join();
    REQUIRE(count == threads * rounds);
}

static void readers_share(const zkr::session &session, const std::string &path)
{
    zkr::shared_mutex lock(session, path + "-shared");
    zkr::shared_mutex other(session, path + "-shared");
    {
        const std::shared_lock first(lock);
        const std::shared_lock second(other, 60s);
        const std::shared_lock third(other, std::chrono::steady_clock::now() + 60s);
        REQUIRE(lock.held_shared().is_held() && other.held_shared().is_held());
        REQUIRE(!in_another_thread([&] { return other.try_lock_for(5ms); }));
        GIVES(ZKR_EDEADLK, lock.lock());
    }
    lock.lock_shared();
    const auto token = lock.held_shared().token();
    lock.lock_shared();
    REQUIRE(lock.held_shared().token() > token);
    lock.unlock_shared(); // the latest
    REQUIRE(lock.held_shared().token() == token);
    lock.lock_shared();
    std::thread([&] { lock.unlock_shared(); }).join(); // the first
    REQUIRE(lock.held_shared().token() > token);
    lock.unlock_shared();
    {
        const zkr::grant wrote = lock.acquire();
        const zkr::grant reads = lock.downgrade(wrote);
        REQUIRE(reads.is_held() && !wrote.is_held());
        REQUIRE(other.acquire_shared_for(60s).has_value());
    }
    std::shared_lock reader(lock);
    std::thread([&lock, moved = std::move(reader)]() mutable {
        GIVES(ZKR_ENOTHELD, lock.held_shared());
        moved.unlock();
    }).join();
    GIVES(ZKR_ENOTHELD, lock.unlock_shared());
    const std::unique_lock writer(lock);
    REQUIRE(lock.held().token() > 0);
    REQUIRE(!in_another_thread([&] { return other.try_lock_shared(); }));
    REQUIRE(!in_another_thread([&] { return other.try_lock_shared_for(5ms); }));
    REQUIRE(in_another_thread([&] { return !other.acquire_shared_for(5ms); }));
}

static void a_reentrant_lock_is_its_threads(const zkr::session &session, const std::string &path)
{
    zkr_lockable_opts opts = ZKR_LOCKABLE_OPTS_INIT;
    opts.flags = ZKR_REENTRANT;
    zkr::shared_mutex lock(session, path + "-reentrant", opts);
    lock.lock();
    lock.lock();
    REQUIRE(in_another_thread([&] { return code_of([&] { lock.unlock(); }) == ZKR_ENOTOWNER; }));
    lock.unlock();
    REQUIRE(lock.held().is_held());
    lock.unlock();
    GIVES(ZKR_ENOTHELD, lock.unlock());

    // Of the first of two releases nobody is told.
    auto word = std::make_shared<int>(0);
    const std::weak_ptr<int> alive = word;
    const zkr::grant first = lock.acquire();
    zkr::grant again = lock.acquire();
    again.release_async([word = std::move(word)](std::error_code) {});
    REQUIRE(alive.expired() && first.is_held());
}

static void a_lock_stays(const zkr::session &session, const std::string &path)
{
    zkr_lockable_opts opts = ZKR_LOCKABLE_OPTS_INIT;
    opts.retain_ms = 600000;
    zkr::mutex mutex(session, path + "-stays", opts);
    zkr::grant first = mutex.acquire();
    first.release();
    zkr::grant second = mutex.acquire();
    REQUIRE(first.handoff() == 0 && second.handoff() == 1);
    REQUIRE(second.token() == first.token());
    second.release();
    mutex.give_back();
    REQUIRE(mutex.acquire().token() > first.token());
}

static void a_lock_can_be_moved(const zkr::session &session, const std::string &path)
{
    zkr::mutex first(session, path + "-moved");
    first.lock();
    zkr::mutex second = std::move(first);
    REQUIRE(second.held().is_held());
    second.unlock();
}

static void locks_and_sessions_count(const zkr::session &session, const std::string &path)
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
    REQUIRE(zkr::timeout(-5s).ms() == 0);
    REQUIRE(zkr::timeout(1us).ms() == 1 && zkr::timeout(1001us).ms() == 2);
    REQUIRE(zkr::timeout(5s).ms() == 5000 && zkr::at_once().ms() == 0);
    REQUIRE(zkr::timeout(std::chrono::hours::max()).ms() == 1000000000000);
    REQUIRE(zkr::timeout(std::chrono::duration<double>(NAN)).ms() == 0);
    REQUIRE(zkr::timeout().ms() == -1);
    REQUIRE(mutex.acquire_for(-1s).has_value());
}

// A callable that cannot be copied, as one that has a promise.
template <class Function> static auto movable(Function function)
{
    return [f = std::make_unique<Function>(std::move(function))](
               auto &&...args) mutable {
        (*f)(std::forward<decltype(args)>(args)...);
    };
}

static void a_program_reads_and_writes(const zkr::session &session, const std::string &path)
{
    const std::string node = path + "-node";
    zkr_create_opts counted = ZKR_CREATE_OPTS_INIT;
    counted.mode = ZKR_CREATE_PERSISTENT_SEQUENTIAL;
    REQUIRE(!session.exists(node, 9s));
    GIVES(ZKR_EPATH, session.exists("no/slash", 9s));
    GIVES(ZKR_ZNONODE, session.get(node, 9s));
    REQUIRE(session.create(node, "", 9s) == node);
    REQUIRE(session.get(node, 9s).data().empty());
    REQUIRE(session.set(node, "one", 0, 9s).version == 1);
    GIVES(ZKR_ZBADVERSION, session.set(node, "x", 0, 9s));
    session.sync(9s);
    REQUIRE(session.get(node, 9s).data() == "one");
    REQUIRE(session.exists(node, 9s)->version == 1);

    const std::string child = session.create(node + "/c-", "", 9s, counted);
    REQUIRE(session.children(node, 9s).names().size() == 1);
    REQUIRE(child == node + "/" + session.children(node, 9s).names()[0]);
    GIVES(ZKR_ZBADVERSION, session.remove(child, 7, 9s));
    GIVES(ZKR_ZBADVERSION, zkr::transaction(session).remove(child, 7).commit(9s));
    session.remove(child, ZKR_ANY_VERSION, 9s);

    std::promise<std::string> promise;
    auto future = promise.get_future();
    session.post(
        zkr_session_set_async, [](std::error_code, auto) {}, node,
        std::string_view("two"), 1, zkr::timeout(9s));
    session.post(
        zkr_session_get_async,
        movable([promise = std::move(promise)](std::error_code code,
                                               const zkr_reply *reply) mutable {
            promise.set_value(code ? "" : reply->data);
        }),
        node, zkr::timeout(9s));
    REQUIRE(future.get() == "two");
    // A call that is refused frees the callable, and calls it not.
    REQUIRE(code_of([&] {
                session.post(
                    zkr_session_get_async,
                    movable([](std::error_code, auto) { std::abort(); }),
                    std::string("no/slash"), zkr::timeout(9s));
            }) == ZKR_EPATH);
}

static void writes_are_guarded(const zkr::session &session,
                               const std::string &path, zkr::mutex &mutex)
{
    const std::string node = path + "-guarded";
    zkr::grant grant = mutex.acquire();
    grant.guarded_create(node, "0", 9s);
    REQUIRE(grant.guarded_set(node, "1", 0, 9s) == 1);

    zkr::transaction both(grant);
    both.check(node, 1).set(node, "2", 1).create(node + "/child", "");
    both.commit(9s);
    REQUIRE(both.failed() == -1 && both.stat(1)->version == 2);
    REQUIRE(both.path(2) == node + "/child" && both.path(0) == nullptr);

    zkr::transaction stale(session);
    std::promise<std::error_code> promise;
    stale.remove(node + "/child", ZKR_ANY_VERSION).check(node, 7);
    stale.commit_async(9s, movable([&promise](std::error_code code, zkr_txn *) {
                           promise.set_value(code);
                       }));
    REQUIRE(promise.get_future().get() == ZKR_ZBADVERSION);
    REQUIRE(stale.failed() == 1);
    GIVES(ZKR_ZBADVERSION, grant.guarded_remove(node + "/child", 7, 9s));
    grant.guarded_remove(node + "/child", ZKR_ANY_VERSION, 9s);
    grant.release();
    GIVES(ZKR_ENOTHELD, grant.guarded_set(node, "late", -1, 9s));
    REQUIRE(session.get(node, 9s).data() == "2");
}

static void a_watch_lasts(const zkr::session &session, const std::string &path)
{
    const std::string node = path + "-watched";
    std::promise<void> seen;
    std::optional<zkr::watch> once;
    session.create(node, "", 9s);
    zkr::watch watch(
        session, node, ZKR_WATCH_DATA,
        movable([&](int error, const zkr_reply *reply, zkr_watch_why) {
            if (error == ZKR_OK && reply->stat.version == 2) seen.set_value();
        }));
    GIVES(ZKR_EINVAL, watch.set_pause({}));
    watch.set_pause(1ms);
    session.set(node, "1", 0, 9s);
    session.set(node, "2", 1, 9s);
    seen.get_future().get();

    // The callback may end its own watch: it lives until it has returned.
    std::promise<std::string> ended;
    std::promise<void> made;
    once.emplace(session, node, ZKR_WATCH_EXISTS,
                 [&, go = made.get_future(), text = std::string(99, 'x')](
                     int, const zkr_reply *, zkr_watch_why) mutable {
                     go.get();
                     once.reset();
                     ended.set_value(text);
                 });
    made.set_value();
    REQUIRE(ended.get_future().get().size() == 99);
}

static void listeners_are_told(const zkr::session &session, zkr::mutex &mutex)
{
    std::promise<zkr_session_state_kind> state;
    std::promise<void> released;
    zkr::grant grant = mutex.acquire();
    {
        const zkr::listener listener(session, movable([&](zkr_session *, auto *e) {
                                         state.set_value(e->state);
                                     }));
        const zkr::grant_listener of_grant(grant, movable([&](zkr_grant *, auto *e) {
                if (e->state == ZKR_GRANT_RELEASED) released.set_value();
            }));
        REQUIRE(state.get_future().get() == ZKR_SESSION_CONNECTED || session.epoch() > 1);
        grant.release();
        released.get_future().get();
    }
    std::promise<std::error_code> gone;
    grant = mutex.acquire();
    zkr::grant_listener(grant, [](auto...) { std::abort(); }); // and ends
    grant.release_async(movable([&](std::error_code code) { gone.set_value(code); }));
    REQUIRE(!gone.get_future().get());
}

static void a_leader_writes_in_its_term(const zkr::session &session, const std::string &path)
{
    std::promise<std::int64_t> gained;
    std::promise<std::int64_t> lost;
    zkr::leader leader(
        session, path + "-leader",
        movable([&](zkr_leader *, const zkr_leader_event *event) {
            (event->kind == ZKR_LEADER_GAINED ? gained : lost).set_value(event->token);
        }));
    REQUIRE(!leader.is_leader());
    GIVES(ZKR_ENOTHELD, leader.term());
    leader.campaign();
    REQUIRE(leader.wait_for(60s) && leader.is_leader());
    REQUIRE(leader.term().token() == gained.get_future().get());
    leader.term().guarded_create(path + "-led", "", 9s);
    zkr::leader moved = std::move(leader);
    moved.leave();
    REQUIRE(lost.get_future().get() > 0 && moved.stats().grants == 1);

    zkr::leader next(session, path + "-leader", [](auto...) {});
    zkr::leader last(session, path + "-leader", [](auto...) {});
    next.campaign();
    REQUIRE(next.wait_for(60s));
    last.campaign();
    REQUIRE(!last.wait_for(5ms) && !last.wait_for(zkr::at_once()));
    next.leave_async();
    REQUIRE(!next.is_leader() && last.wait_for(60s));
}

static void permits_and_several_locks(const zkr::session &session, const std::string &path)
{
    zkr::semaphore semaphore(session, path + "-semaphore", 3);
    zkr::grants two = semaphore.acquire_all(zkr::semaphore::permits(2));
    zkr::grant third = semaphore.acquire();
    two.ensure();
    REQUIRE(two.size() == 2 && semaphore.limit() == 3);
    REQUIRE(!semaphore.acquire_for(0s));
    REQUIRE(!semaphore.acquire_all_for(5ms, zkr::semaphore::permits(2)));
    two.release();
    GIVES(ZKR_ENOTHELD, two.ensure());
    GIVES(ZKR_EINVAL, semaphore.acquire_all(zkr::semaphore::permits(0)));

    zkr::mutex one(session, path + "-one");
    zkr::shared_mutex other(session, path + "-other");
    zkr::multi_lock both(session);
    std::promise<zkr::grants> promise;
    both.add(one).add(other, zkr::shared_mutex::shared());
    REQUIRE(both.acquire_all().size() == 2);
    both.acquire_all_async(60s, movable([&](std::error_code, zkr::grants all) {
                               promise.set_value(std::move(all));
                           }));
    const zkr::grants held = promise.get_future().get();
    const zkr::grant reader = other.acquire_shared();
    const zkr::participants queue(session, one.path());
    REQUIRE(held.size() == 2 && !one.try_lock() && reader.is_held());
    REQUIRE(queue.size() == 1 && queue.begin()->holds);
    REQUIRE(queue.end() == queue.begin() + 1);
}

static void participants_are_asked_and_broken(const zkr::session &session, const std::string &path)
{
    zkr::mutex mutex(session, path + "-broken");
    const zkr::grant grant = mutex.acquire();
    std::promise<void> asked;
    const zkr::grant_listener listener(
        grant, movable([&](zkr_grant *, const zkr_grant_event *e) {
            if (e->kind == ZKR_GRANT_REVOKE_REQUESTED) asked.set_value();
        }));
    const auto breaks = [&](std::int64_t token) {
        return code_of([&] {
            zkr::participants::break_lock(session, grant.node(), token, 60s);
        });
    };
    zkr::participants::revoke(session, grant.node());
    asked.get_future().get();
    REQUIRE(breaks(grant.token() - 1) == ZKR_ENOTHELD);
    REQUIRE(breaks(grant.token()) == ZKR_OK);
    REQUIRE(breaks(grant.token()) == ZKR_ZNONODE);
}

static void all_has_a_name_and_a_path(const zkr::session &session, const std::string &path)
{
    const zkr::hosts hosts("zk1,[::1]:2182/app");
    const std::string at = path + "-named";
    REQUIRE(hosts.size() == 2 && hosts.chroot() == std::string("/app"));
    REQUIRE(hosts.begin()[1].name == std::string("[::1]:2182"));
    REQUIRE(hosts.end() == hosts.begin() + 2);
    GIVES(ZKR_EINVAL, zkr::hosts(":1"));
    REQUIRE(zkr::name_of(ZKR_SESSION_CLOSED) == std::string("CLOSED"));
    REQUIRE(zkr::name_of(ZKR_GRANT_LOST) == std::string("LOST"));
    REQUIRE(zkr::name_of(ZKR_LOSS_NONE) == std::string(zkr_loss_text({})));
    REQUIRE(zkr::name_of(ZKR_CAUSE_NONE) == std::string(zkr_cause_name({})));
    REQUIRE(zkr::leader(session, at, [](auto...) {}).path() == at);
    REQUIRE(zkr::counter(session, at).path() == at);
    REQUIRE(zkr::barrier(session, at).path() == at);
    REQUIRE(zkr::double_barrier(session, at, 2).path() == at);
}

static void lines_are_logged(const zkr::session &session, const char *hosts)
{
    auto lines = std::make_shared<std::atomic<int>>(0);
    const std::weak_ptr<std::atomic<int>> alive = lines;
    zkr::log_to(ZKR_LOG_DEBUG, movable([lines = std::move(lines)](
                                   zkr_log_level, const char *line) {
                    *lines += *line != '\0';
                }));
    zkr::session(hosts).close();
    REQUIRE(*alive.lock() > 0);
    zkr::log_to(nullptr);
    REQUIRE(alive.expired());
    zkr::log_to(ZKR_LOG_ERROR, [](auto...) { std::abort(); });
    zkr::session(hosts).close();
    zkr::log_to(nullptr);
    REQUIRE(session.stuck_handles() == 0);
    const int code = session.with_handle([](zhandle_t *zh) { return zh != nullptr; });

    // A client inside the library is lent to nobody.
    REQUIRE(code == 1 || code == ZKR_ENOTSUP);
}

static void claims_need_no_thread(const zkr::session &session, zkr::mutex &mutex, zkr::mutex &other)
{
    zkr::grant first = mutex.acquire();
    std::promise<std::error_code> cancelled;
    std::promise<std::int64_t> granted;
    const auto tell = [](std::promise<std::error_code> &of) {
        return movable([&](std::error_code code, zkr::grant) { of.set_value(code); });
    };
    zkr::request request = other.acquire_async({}, tell(cancelled));

    other.acquire_async({}, movable([&](std::error_code, zkr::grant grant) {
                            granted.set_value(grant.token());
                        }));
    request.cancel();
    REQUIRE(cancelled.get_future().get() == std::errc::operation_canceled);

    const auto told = [](std::promise<std::error_code> &promise) {
        auto end = promise.get_future();
        REQUIRE(end.wait_for(60s) == std::future_status::ready);
        return end.get();
    };
    std::promise<std::error_code> late;
    std::promise<std::error_code> given_up;
    zkr::mutex third = zkr::mutex(session, other.path());
    third.acquire_async(5ms, tell(late));
    REQUIRE(told(late) == std::errc::timed_out);
    third.acquire_async({}, tell(given_up));
    third.cancel();
    REQUIRE(told(given_up) == std::errc::operation_canceled);
    first.release();
    REQUIRE(granted.get_future().get() > first.token());
}

static void a_recursive_mutex_is_its_threads(const zkr::session &session, const std::string &path)
{
    zkr::recursive_mutex mutex(session, path + "-recursive");
    GIVES(ZKR_ENOTHELD, mutex.unlock());
    GIVES(ZKR_ENOTHELD, mutex.held());
    const std::unique_lock outer(mutex, 60s);
    {
        const std::lock_guard inner(mutex);
        REQUIRE(mutex.depth() == 2 && mutex.held().is_held());
    }
    REQUIRE(in_another_thread([&] {
        return !mutex.try_lock() && mutex.depth() == 0 &&
               !mutex.try_lock_until(std::chrono::steady_clock::now() + 5ms) &&
               code_of([&] { (void)mutex.held(); }) == ZKR_ENOTOWNER &&
               code_of([&] { mutex.unlock(); }) == ZKR_ENOTOWNER;
    }));
    REQUIRE(mutex.depth() == 1);
    session.test_expire(); // the end of `outer` tells nothing of that
}

static void counters_barriers_and_fences(const zkr::session &session,
                                         const std::string &path,
                                         zkr::mutex &mutex)
{
    zkr::counter counter(session, path + "-counter");
    REQUIRE(counter.add(5, 9s) == 5);
    REQUIRE(counter.compare_and_set(5, 7, 9s) == 5);
    REQUIRE(counter.compare_and_set(8, 6, 9s) == 7);
    counter.set(9, counter.read(9s).second, 9s);
    GIVES(ZKR_ZBADVERSION, counter.set(1, 77, 9s));
    REQUIRE(counter.read(9s).first == 9);

    zkr::barrier barrier(session, path + "-barrier");
    barrier.set(9s);
    REQUIRE(!barrier.wait_for(zkr::at_once()));
    barrier.remove(9s);
    REQUIRE(barrier.wait_for({}));

    zkr::double_barrier member(session, path + "-double", 2);
    zkr::double_barrier other(session, path + "-double", 2);
    REQUIRE(!member.enter_for(zkr::at_once()));
    std::thread second([&] { REQUIRE(other.enter_for({}) && other.leave_for({})); });
    REQUIRE(member.enter_for(60s) && member.leave_for(60s));
    second.join();

    zkr::fence fence;
    zkr::unfair_mutex unfair(session, path + "-unfair");
    unfair.lock();
    unfair.unlock();
    mutex.lock();
    {
        const auto token = mutex.held().token();
        const zkr::fence_section section(fence, token, 0);
        REQUIRE(in_another_thread([&] {
            return code_of([&] { zkr::fence_section(fence, token, 0, 5ms); }) == ZKR_ETIMEDOUT;
        }));
    }
    REQUIRE(fence.highest() == mutex.held().token());
    GIVES(ZKR_ESTALE, fence.accept(fence.highest() - 1));
    fence.accept(INT64_MAX, 2);
    GIVES(ZKR_ESTALE, fence.accept(INT64_MAX, 1));
    GIVES(ZKR_ESTALE, zkr::fence_section(fence, INT64_MAX, 1));
    GIVES(ZKR_ESTALE, fence.accept_shared(1));
    mutex.unlock();
}

static void a_loop_of_its_own_runs_callbacks(const char *hosts, const std::string &path)
{
    zkr_session_opts opts = ZKR_SESSION_OPTS_INIT;
    bool opened = false;
    std::int64_t token = 0;
    opts.flags = ZKR_SESSION_OWN_LOOP;
    zkr::session session(hosts, opts, [&](std::error_code code) {
        REQUIRE(!code);
        opened = true; // on this thread: no lock is needed
    });
    zkr::mutex mutex(session, path + "-loop");
    mutex.acquire_async(60s, [&](std::error_code, zkr::grant grant) {
        token = grant.token();
        GIVES(ZKR_EDEADLK, session.close()); // and the session is there
    });
    while (token == 0) {
        pollfd due = { session.fd(), POLLIN, 0 };
        REQUIRE(::poll(&due, 1, 60000) == 1);
        session.dispatch();
    }
    REQUIRE(opened && session.fd() >= 0);
    session.close();
}

#if __cplusplus >= 202002L
static void a_stop_ends_a_wait(zkr::mutex &mutex, zkr::mutex &other)
{
    for (int twice = 0; twice < 2; twice++) {
        zkr::grant held = mutex.acquire();
        std::atomic<int> code = 0;
        std::string what;
        std::jthread waiter([&](std::stop_token stop) {
            code = code_of([&] { (void)other.acquire(stop); }, &what);
        });
        waiter.request_stop();
        waiter.join();
        REQUIRE(code == ZKR_ECANCELED);
        REQUIRE(what.find(other.path()) != std::string::npos);
        held.release();
        REQUIRE(other.acquire(std::stop_token()).is_held());
    }
    GIVES(ZKR_EINVAL, other.acquire(std::stop_token(), unsized<zkr_acquire_opts>()));
}
#endif

#if defined(__cpp_impl_coroutine)
struct task {
    struct promise_type {
        task get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::abort(); }
    };
};

static task take_turns(zkr::mutex &mutex, zkr::semaphore &permits, zkr::multi_lock &both,
                       std::promise<std::string> end)
{
    zkr::grant held = co_await mutex.when_granted(60s);
    std::string told = held.is_held() ? "held" : "";
    if (!co_await mutex.when_granted(5ms)) told += ", not granted";
    held = zkr::grant();
    try {
        zkr_acquire_opts how = ZKR_ACQUIRE_OPTS_INIT;
        how.permits = 2;
        held = co_await mutex.when_granted(60s, how);
    } catch (const zkr::error &e) {
        if (e.code() == std::errc::invalid_argument) told += ", thrown";
    }
    if ((co_await permits.when_all_granted(60s, zkr::semaphore::permits(2))).size() == 2)
        told += ", two";
    const zkr::grants all = co_await both.when_all_granted(60s);
    told += ", " + std::to_string(all.size());
    if ((co_await both.when_all_granted(zkr::at_once())).empty()) told += ", not all";
    all.ensure();
    end.set_value(told);
}

static void a_coroutine_waits(const zkr::session &session, zkr::mutex &mutex,
                              const std::string &path)
{
    zkr::mutex one(session, path + "-await");
    zkr::semaphore semaphore(session, path + "-permits", 2);
    zkr::multi_lock both(session);
    std::promise<std::string> end;
    auto told = end.get_future();
    both.add(one).add(semaphore, zkr::semaphore::permits(2));
    take_turns(mutex, semaphore, both, std::move(end));
    REQUIRE(told.get() == "held, not granted, thrown, two, 3, not all");
}
#endif

int main(int argc, char **argv)
{
    REQUIRE(argc == 3);
    try {
        zkr::session session(argv[1]);
        const std::string path = argv[2] + std::to_string(session.id()); // it runs twice
        zkr::mutex mutex(session, path);
        zkr::mutex other(session, path);
        REQUIRE(session.state() == ZKR_SESSION_CONNECTED);
        REQUIRE(session.last_error().cause == ZKR_CAUSE_NONE);
        REQUIRE(session.timeout_ms() > 0);
        session.set_servers(argv[1]);
        GIVES(ZKR_EINVAL, session.set_credentials(ZKR_SESSION_OPTS_INIT));
        errors_say_what_and_why(session);
        a_grant_is_given_back_with_its_scope(mutex, other);
        standard_locks_take_a_mutex(mutex, other);
        threads_share_a_mutex(mutex);
        any_thread_unlocks(mutex, other);
        the_next_waits_for_the_unlock_of_a_lost_lock(session, mutex);
        a_reentrant_lock_is_its_threads(session, path);
        readers_share(session, path);
        a_lock_stays(session, path);
        options_are_handed_on(session, path, mutex);
        a_lock_can_be_moved(session, path);
        locks_and_sessions_count(session, path);
        a_wait_of_nothing_tries_once(mutex);
        a_program_reads_and_writes(session, path);
        writes_are_guarded(session, path, mutex);
        a_watch_lasts(session, path);
        listeners_are_told(session, mutex);
        a_leader_writes_in_its_term(session, path);
        permits_and_several_locks(session, path);
        participants_are_asked_and_broken(session, path);
        all_has_a_name_and_a_path(session, path);
        lines_are_logged(session, argv[1]);
        claims_need_no_thread(session, mutex, other);
        a_recursive_mutex_is_its_threads(session, path);
        counters_barriers_and_fences(session, path, mutex);
        a_loop_of_its_own_runs_callbacks(argv[1], path);
#if __cplusplus >= 202002L
        a_stop_ends_a_wait(mutex, other);
#endif
#if defined(__cpp_impl_coroutine)
        a_coroutine_waits(session, mutex, path);
#endif
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
