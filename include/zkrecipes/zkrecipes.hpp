/* SPDX-License-Identifier: Apache-2.0 */
/**
 * zkrecipes for C++17 and later: values that clean up, exceptions, and locks
 * that std::unique_lock, std::scoped_lock and std::shared_lock take.
 *
 *     zkr::session session("10.0.0.1:2181,10.0.0.2:2181");
 *     zkr::mutex orders(session, "/locks/orders");
 *     {
 *         std::unique_lock lock(orders, 5s);
 *         if (lock && orders.held().is_held())
 *             write(orders.held().token());
 *     }
 *
 * All is in this header; it calls the C interface, whose headers are the
 * manual.
 *
 * Errors. A function that cannot do what it says throws zkr::error, a
 * std::system_error with a code of zkr::category() and, in what(), the sentence
 * that names the object and the cause. "Not granted in time" is no error of a
 * function that returns std::optional or bool.
 *
 * A distributed lock is not a std::mutex: it can be lost while it is held. So
 * check the grant before each step that others must not do at the same time,
 * and give its token to the resource. unlock() does not tell of a loss: ask
 * held().is_held() before it, or use acquire(), which returns the grant itself.
 *
 * Ownership. Objects can be moved, not copied; a moved-from object may only be
 * destroyed or assigned to. A lock must end before its session, and a grant
 * before its lock's session. A grant that is destroyed is given back in the
 * background.
 *
 * Threads. As in C. A lock object has one exclusive holder at a time, and any
 * thread may unlock it, so a std::unique_lock may be moved to another thread.
 * Other threads that lock the same object queue like everybody else. When the
 * lock was lost, the next of them that is granted it waits here until the old
 * holder has unlocked: two are never inside in one process, and no unlock() can
 * hit the lock of another.
 */
#ifndef ZKRECIPES_HPP
#define ZKRECIPES_HPP

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if __cplusplus >= 202002L
#include <future>
#include <stop_token>
#endif

#include <zkrecipes/zkrecipes.h>

namespace zkr {

/** The codes of enum zkr_error, ZooKeeper's among them. Those that mean the
 *  same as one of std::errc are equal to it: a code of ZKR_ETIMEDOUT to
 *  std::errc::timed_out. */
inline const std::error_category &category() noexcept
{
    class codes final : public std::error_category {
    public:
        const char *name() const noexcept override { return "zkrecipes"; }
        std::string message(int code) const override
        {
            return zkr_strerror(code);
        }
        std::error_condition
        default_error_condition(int code) const noexcept override
        {
            static constexpr struct {
                int ours;
                std::errc same;
            } rows[] = {
                { ZKR_EINVAL, std::errc::invalid_argument },
                { ZKR_EPATH, std::errc::invalid_argument },
                { ZKR_ZBADARGUMENTS, std::errc::invalid_argument },
                { ZKR_ENOMEM, std::errc::not_enough_memory },
                { ZKR_ETIMEDOUT, std::errc::timed_out },
                { ZKR_EUNREACHABLE, std::errc::timed_out },
                { ZKR_ZOPERATIONTIMEOUT, std::errc::timed_out },
                { ZKR_EBUSY, std::errc::device_or_resource_busy },
                { ZKR_ECANCELED, std::errc::operation_canceled },
                { ZKR_ECLOSED, std::errc::not_connected },
                { ZKR_EDEADLK, std::errc::resource_deadlock_would_occur },
                { ZKR_ENOTHELD, std::errc::operation_not_permitted },
                { ZKR_ENOTOWNER, std::errc::operation_not_permitted },
                { ZKR_ELOST, std::errc::owner_dead },
                { ZKR_EPENDING, std::errc::operation_in_progress },
                { ZKR_EREFUSED, std::errc::connection_refused },
                { ZKR_EPROTO, std::errc::protocol_error },
                { ZKR_ENOTZK, std::errc::protocol_error },
                { ZKR_EOVERFLOW, std::errc::value_too_large },
                { ZKR_EDAMAGED, std::errc::bad_message },
                { ZKR_ENOTSUP, std::errc::not_supported },
                { ZKR_ZUNIMPLEMENTED, std::errc::not_supported },
                { ZKR_ZCONNECTIONLOSS, std::errc::connection_reset },
                { ZKR_ZNOAUTH, std::errc::permission_denied },
                { ZKR_ZAUTHFAILED, std::errc::permission_denied },
                { ZKR_ZNONODE, std::errc::no_such_file_or_directory },
                { ZKR_ZNODEEXISTS, std::errc::file_exists },
                { ZKR_ZNOTEMPTY, std::errc::directory_not_empty },
            };

            for (const auto &row : rows)
                if (row.ours == code)
                    return row.same;
            return { code, *this };
        }
    };
    static const codes the_codes;

    return the_codes;
}

/** code() has the code; what() the sentence of zkr_error_detail(). */
class error : public std::system_error {
public:
    /** The error of the call that has just failed on this thread. */
    explicit error(int code)
        : std::system_error(code, category(), zkr_error_detail())
    {
    }

    /** True if the same call may succeed later. */
    bool is_transient() const noexcept
    {
        return zkr_error_is_transient(code().value());
    }
};

/** Throws unless `code` is ZKR_OK. */
inline void check(int code)
{
    if (code != ZKR_OK)
        throw error(code);
}

/** The counters of a session or a lock; see session.h. */
using counters = zkr_counters;

namespace detail {

/** Wait without limit. */
constexpr std::int64_t no_limit = -1;

/** Milliseconds for the C interface, rounded up: a wait is never shorter than
 *  what was asked for. Nothing or less tries once. */
template <class Rep, class Period>
std::int64_t to_ms(const std::chrono::duration<Rep, Period> &timeout)
{
    using ms = std::chrono::duration<double, std::milli>;
    const double count = ms(timeout).count();
    constexpr double most = 1e12; /* 31 years */

    if (!(count > 0))
        return 0;
    if (count >= most)
        return static_cast<std::int64_t>(most);
    return std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
}

template <class Clock, class Duration>
std::int64_t until_ms(const std::chrono::time_point<Clock, Duration> &deadline)
{
    return to_ms(deadline - Clock::now());
}

template <class T, void (*free)(T *)>
struct freer {
    void operator()(T *object) const noexcept { free(object); }
};

template <class T, void (*free)(T *)>
using owned = std::unique_ptr<T, freer<T, free>>;

inline void close(zkr_session *session) { (void)zkr_session_close(session); }

template <class T>
counters stats(int (*read)(T *, zkr_counters *), T *of)
{
    counters all = ZKR_COUNTERS_INIT;

    check(read(of, &all));
    return all;
}

} // namespace detail

/** A session; see session.h. The destructor closes it. */
class session {
public:
    /** Options as zkr_session_opts says; zero means default. */
    static zkr_session_opts options() noexcept { return ZKR_SESSION_OPTS_INIT; }

    /** Opens it, and waits until it is connected. */
    explicit session(const std::string &hosts,
                     const zkr_session_opts &opts = options())
    {
        zkr_session *made = nullptr;

        check(zkr_session_open(hosts.c_str(), &opts, &made));
        session_.reset(made);
    }

    /** Ends it; throws ZKR_EPENDING when the server could not be told. */
    void close()
    {
        const int code = zkr_session_close(get());

        if (code != ZKR_EDEADLK && code != ZKR_EFORKED) /* it has been taken */
            (void)session_.release();
        check(code);
    }

    /** As in session.h. @{ */
    zkr_session_state_kind state() const noexcept
    {
        return ::zkr_session_state(get());
    }
    std::int64_t id() const noexcept { return zkr_session_id(get()); }
    std::uint64_t epoch() const noexcept { return zkr_session_epoch(get()); }
    counters stats() const { return detail::stats(zkr_session_stats, get()); }
    /** @} */

    /** For the functions of the C interface. */
    zkr_session *get() const noexcept { return session_.get(); }

private:
    detail::owned<zkr_session, detail::close> session_;
};

/** A lock that somebody holds; see grant.h. Does not own the grant. */
class view {
public:
    /** Of a grant that somebody else owns; nullptr: of none. */
    explicit view(zkr_grant *of = nullptr) noexcept : grant_(of) {}

    /** True if there is a grant, held or lost. */
    explicit operator bool() const noexcept { return grant_ != nullptr; }

    /** True while it is provably ours; false also when that is not sure. */
    bool is_held() const noexcept { return zkr_grant_is_held(grant_); }
    /** Throws ZKR_ELOST, ZKR_EUNSURE ... unless it is provably ours. */
    void ensure() const { zkr::check(zkr_grant_check(grant_)); }
    /** Asks the servers; throws when it is not ours. */
    template <class Rep, class Period>
    void verify(const std::chrono::duration<Rep, Period> &timeout) const
    {
        zkr::check(zkr_grant_verify(grant_, detail::to_ms(timeout)));
    }

    /** As in grant.h. @{ */
    std::int64_t token() const noexcept { return zkr_grant_token(grant_); }
    std::uint64_t handoff() const noexcept { return zkr_grant_handoff(grant_); }
    zkr_grant_state_kind state() const noexcept
    {
        return ::zkr_grant_state(grant_);
    }
    zkr_loss loss() const noexcept { return zkr_grant_loss(grant_); }
    /** @} */
    /** The path of its node; "" without a grant. */
    std::string node() const
    {
        const char *path = zkr_grant_node(grant_);

        return path == nullptr ? "" : path;
    }

    /** For the functions of the C interface. */
    zkr_grant *get() const noexcept { return grant_; }

protected:
    /** The grant, or nullptr. */
    zkr_grant *grant_;
};

/** The same, and the owner of the grant: the destructor gives it back. */
class grant : public view {
public:
    /** No grant. */
    grant() = default;
    /** Takes over a grant of the C interface. */
    explicit grant(zkr_grant *taken) noexcept : view(taken) {}
    /** Takes over that of `other`. @{ */
    grant(grant &&other) noexcept : view(std::exchange(other.grant_, nullptr))
    {
    }
    grant &operator=(grant &&other) noexcept
    {
        zkr_grant_free(
            std::exchange(grant_, std::exchange(other.grant_, nullptr)));
        return *this;
    }
    /** @} */
    ~grant() { zkr_grant_free(grant_); }

    /** Gives it back, and waits for the answer; throws when it was lost, or
     *  when the server has not answered yet (ZKR_EPENDING). */
    void release() { zkr::check(zkr_grant_release(grant_)); }
};

namespace detail {

/** Who holds an object in one mode: for lock(), one at most, for lock_shared(),
 *  any number. With each grant the thread that locked, which is a hint. */
class holders {
public:
    using deadline = std::optional<std::chrono::steady_clock::time_point>;

    /** Waits for the unlock() of an exclusive holder whose grant was lost, and
     *  returns false when it has not come in time. Taking part again in the
     *  same grant (reentrant) waits for nobody. */
    bool put(grant &&held, bool alone, const deadline &until)
    {
        std::unique_lock<std::mutex> guard(mutex_);
        const auto free = [&] {
            return !alone || all_.empty() ||
                   all_.back().second.get() == held.get();
        };

        if (!until)
            unlocked_.wait(guard, free);
        else if (!unlocked_.wait_until(guard, *until, free))
            return false;
        all_.emplace_back(std::this_thread::get_id(), std::move(held));
        return true;
    }

    /** The latest of this thread, or else the oldest. Throws ZKR_ENOTHELD when
     *  there is none. */
    grant take()
    {
        const std::lock_guard<std::mutex> guard(mutex_);

        if (all_.empty())
            not_held();
        const auto mine = find();
        const auto from =
            mine == all_.rend() ? all_.begin() : std::next(mine).base();
        grant taken = std::move(from->second);

        all_.erase(from);
        unlocked_.notify_all();
        return taken;
    }

    /** That of the one holder, or of this thread. Throws ZKR_ENOTHELD. */
    zkr_grant *get(bool alone)
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        const auto found = alone ? all_.rbegin() : find();

        if (found == all_.rend())
            not_held();
        return found->second.get();
    }

private:
    using entry = std::pair<std::thread::id, grant>;

    [[noreturn]] static void not_held()
    {
        throw std::system_error(ZKR_ENOTHELD, category(),
                                "nobody has locked this object");
    }

    std::vector<entry>::reverse_iterator find() noexcept
    {
        const auto me = std::this_thread::get_id();
        auto it = all_.rbegin();

        while (it != all_.rend() && it->first != me)
            ++it;
        return it;
    }

    std::mutex mutex_;
    std::condition_variable unlocked_;
    std::vector<entry> all_;
};

#if __cplusplus >= 202002L
/** How a claim has ended. */
struct outcome {
    int error;
    grant granted;
    std::string detail;
};

/** Tells `user`, a promise of the outcome, and frees it. */
inline void on_end(int error, zkr_grant *granted, void *user)
{
    const std::unique_ptr<std::promise<outcome>> promise(
        static_cast<std::promise<outcome> *>(user));

    promise->set_value(
        { error, grant(granted), error == ZKR_OK ? "" : zkr_error_detail() });
}

/** A claim that ends with the stop token: nobody else needs to wait for it. */
inline grant acquire(zkr_lockable *lock, std::stop_token stop)
{
    auto promise = std::make_unique<std::promise<outcome>>();
    std::future<outcome> end = promise->get_future();
    zkr_request *request = nullptr;

    check(zkr_lockable_acquire_async(lock, nullptr, no_limit, on_end,
                                     promise.get(), &request));
    (void)promise.release(); /* on_end() has it */
    const owned<zkr_request, zkr_request_free> keep(request);
    const std::stop_callback canceller(
        stop, [request] { (void)zkr_request_cancel(request); });
    outcome ended = end.get();

    if (ended.error != ZKR_OK)
        throw std::system_error(ended.error, category(), ended.detail);
    return std::move(ended.granted);
}
#endif

} // namespace detail

/**
 * What can be acquired alone; see lockable.h. Meets TimedLockable, and has
 * acquire(), which returns the grant. Its kinds are below.
 */
class lockable {
public:
    /** Options as zkr_lockable_opts says; zero means default. */
    static zkr_lockable_opts options() noexcept
    {
        return ZKR_LOCKABLE_OPTS_INIT;
    }

    /** Waits without limit. */
    grant acquire() { return *claim(ZKR_EXCLUSIVE, detail::no_limit); }
    /** Nothing when it was not granted in time; no time tries once. */
    template <class Rep, class Period>
    std::optional<grant>
    acquire_for(const std::chrono::duration<Rep, Period> &timeout)
    {
        return claim(ZKR_EXCLUSIVE, detail::to_ms(timeout));
    }
    /** The same, until that time. */
    template <class Clock, class Duration>
    std::optional<grant>
    acquire_until(const std::chrono::time_point<Clock, Duration> &deadline)
    {
        return claim(ZKR_EXCLUSIVE, detail::until_ms(deadline));
    }
#if __cplusplus >= 202002L
    /** Waits until it is granted or a stop is requested, which throws
     *  ZKR_ECANCELED. Not in a callback of the session. */
    grant acquire(std::stop_token stop)
    {
        return detail::acquire(get(), std::move(stop));
    }
#endif

    /** As acquire(); unlock() gives it back. */
    void lock() { (void)keep(ZKR_EXCLUSIVE, detail::no_limit); }
    /** Tries once. */
    bool try_lock() { return keep(ZKR_EXCLUSIVE, 0); }
    /** False when it was not granted in time. */
    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period> &timeout)
    {
        return keep(ZKR_EXCLUSIVE, detail::to_ms(timeout));
    }
    /** The same, until that time. */
    template <class Clock, class Duration>
    bool
    try_lock_until(const std::chrono::time_point<Clock, Duration> &deadline)
    {
        return keep(ZKR_EXCLUSIVE, detail::until_ms(deadline));
    }
    /** Gives it back, on any thread. Throws when it is called without need:
     *  ZKR_ENOTHELD, nobody has locked this object; ZKR_ENOTOWNER, another
     *  thread has, and ZKR_REENTRANT binds it to that thread. */
    void unlock() { give_back(ZKR_EXCLUSIVE); }
    /** The grant of the holder, which calls it, until its unlock(). Throws
     *  ZKR_ENOTHELD when nobody has locked this object. */
    view held() const { return view_of(ZKR_EXCLUSIVE); }

    /** As in session.h. */
    counters stats() const { return detail::stats(zkr_lockable_stats, get()); }

    /** For the functions of the C interface. */
    zkr_lockable *get() const noexcept { return lockable_.get(); }

protected:
    /** A function of the C interface that makes one. */
    using maker = int(zkr_session *, const char *, const zkr_lockable_opts *,
                      zkr_lockable **);

    /** Makes the handle. */
    lockable(maker *make, const session &of, const std::string &path,
             const zkr_lockable_opts &opts)
        : holders_(std::make_unique<detail::holders[]>(ZKR_SHARED + 1))
    {
        zkr_lockable *made = nullptr;

        check(make(of.get(), path.c_str(), &opts, &made));
        lockable_.reset(made);
    }

    /** Nothing when it was not granted in time. */
    std::optional<grant> claim(zkr_mode mode, std::int64_t timeout_ms)
    {
        zkr_acquire_opts how = ZKR_ACQUIRE_OPTS_INIT;
        zkr_grant *granted = nullptr;

        how.mode = mode;
        const int code =
            zkr_lockable_acquire(get(), &how, timeout_ms, &granted);

        if (code == ZKR_ETIMEDOUT || code == ZKR_EBUSY)
            return std::nullopt;
        check(code);
        return grant(granted);
    }

    /** False when it was not granted in time; else the object is held. */
    bool keep(zkr_mode mode, std::int64_t timeout_ms)
    {
        detail::holders::deadline until;

        if (timeout_ms >= 0)
            until = std::chrono::steady_clock::now() +
                    std::chrono::milliseconds(timeout_ms);
        std::optional<grant> granted = claim(mode, timeout_ms);

        return granted && holders_[mode].put(std::move(*granted),
                                             mode == ZKR_EXCLUSIVE, until);
    }

    /** Waits for the answer, so that the next lock() is not behind us. */
    void give_back(zkr_mode mode)
    {
        grant held = holders_[mode].take();
        const int code = zkr_grant_release(held.get());

        if (code != ZKR_ENOTOWNER)
            return;
        error refused(code);
        (void)holders_[mode].put(std::move(held), false, std::nullopt);
        throw refused;
    }

    /** Of the grant of the holder. */
    view view_of(zkr_mode mode) const
    {
        return view(holders_[mode].get(mode == ZKR_EXCLUSIVE));
    }

private:
    std::unique_ptr<detail::holders[]> holders_; /* one for each mode */
    detail::owned<zkr_lockable, zkr_lockable_free> lockable_;
};

/** A fair mutex; see mutex.h. */
class mutex : public lockable {
public:
    /** Makes the handle, and sends nothing. */
    mutex(const session &of, const std::string &path,
          const zkr_lockable_opts &opts = options())
        : lockable(zkr_mutex_new, of, path, opts)
    {
    }
};

/**
 * A read/write lock; see rwlock.h. Meets SharedTimedLockable: lock() and
 * acquire() write, lock_shared() and acquire_shared() read.
 */
class shared_mutex : public lockable {
public:
    /** Makes the handle, and sends nothing. */
    shared_mutex(const session &of, const std::string &path,
                 const zkr_lockable_opts &opts = options())
        : lockable(zkr_rwlock_new, of, path, opts)
    {
    }

    /** To read, as those above. @{ */
    grant acquire_shared() { return *claim(ZKR_SHARED, detail::no_limit); }
    template <class Rep, class Period>
    std::optional<grant>
    acquire_shared_for(const std::chrono::duration<Rep, Period> &timeout)
    {
        return claim(ZKR_SHARED, detail::to_ms(timeout));
    }
    void lock_shared() { (void)keep(ZKR_SHARED, detail::no_limit); }
    bool try_lock_shared() { return keep(ZKR_SHARED, 0); }
    template <class Rep, class Period>
    bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &timeout)
    {
        return keep(ZKR_SHARED, detail::to_ms(timeout));
    }
    template <class Clock, class Duration>
    bool try_lock_shared_until(
        const std::chrono::time_point<Clock, Duration> &deadline)
    {
        return keep(ZKR_SHARED, detail::until_ms(deadline));
    }
    /** @} */
    /** Gives back what this thread has locked last; or else, for a
     *  std::shared_lock that was moved here, what was locked first. */
    void unlock_shared() { give_back(ZKR_SHARED); }
    /** The grant of the lock_shared() of this thread, until its unlock: readers
     *  of one object have a grant each. Throws ZKR_ENOTHELD when this thread
     *  has none, as after such a move: there, use acquire_shared(). */
    view held_shared() const { return view_of(ZKR_SHARED); }
};

} // namespace zkr

#endif
