/* SPDX-License-Identifier: Apache-2.0 */
/**
 * zkrecipes for C++17 and later: values that clean up, exceptions, callbacks
 * that are any callable, and locks that std::unique_lock, std::scoped_lock and
 * std::shared_lock take.
 *
 *     zkr::session session("10.0.0.1:2181,10.0.0.2:2181");
 *     zkr::mutex orders(session, "/locks/orders");
 *     {
 *         std::unique_lock lock(orders, 5s);
 *         if (lock)
 *             orders.held().guarded_set("/orders", "open", version, 5s);
 *     }
 *
 * All is in this header; each function calls that of the C interface with its
 * name, whose header is the manual: its limits and errors, and when it may be
 * called. The options are those of C, which its macros make:
 *
 *     zkr_lockable_opts opts = ZKR_LOCKABLE_OPTS_INIT;
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
 * destroyed or assigned to. All that was made of a session must end before it,
 * and a listener before what it listens to. A grant that is destroyed is given
 * back in the background.
 *
 * Threads. As in C. A lock object has one exclusive holder at a time, and any
 * thread may unlock it, so a std::unique_lock may be moved to another thread.
 * Other threads that lock the same object queue like everybody else. When the
 * lock was lost, the next of them that is granted it waits here until the old
 * holder has unlocked: two are never inside in one process, and no unlock() can
 * hit the lock of another.
 *
 * Callbacks are callables that can be moved; they need not be copied. One that
 * is called once is destroyed then, or when the call throws that was given it;
 * that of a listener, a watch or a leader, with the object, which may be
 * destroyed in the callback. An exception that leaves one ends the program
 * (std::terminate). They run as session.h says, so what waits is ZKR_EDEADLK.
 */
#ifndef ZKRECIPES_HPP
#define ZKRECIPES_HPP

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#if __cplusplus >= 202002L
#include <future>
#include <stop_token>
#endif
#if defined(__cpp_impl_coroutine)
#include <coroutine>
#endif

#include <zkrecipes/testing.h>
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

} // namespace zkr

/** So that std::error_code takes a code of the C interface, and compares with
 *  it: e.code() == ZKR_ELOST. */
inline std::error_code make_error_code(zkr_error code) noexcept
{
    return std::error_code(code, zkr::category());
}

/** @cond */
template <>
struct std::is_error_code_enum<zkr_error> : std::true_type {};
/** @endcond */

namespace zkr {

/** code() has the code; what() the sentence of zkr_error_detail(). */
class error : public std::system_error {
public:
    /** The error of the call that has just failed on this thread. */
    explicit error(int code) : error(code, zkr_error_detail()) {}
    /** One that was told elsewhere. */
    error(int code, const std::string &what)
        : std::system_error(code, category(), what)
    {
    }

    /** The same call may succeed later; what was held is gone for good; it is
     *  not known whether the lock is held. @{ */
    bool is_transient() const noexcept
    {
        return zkr_error_is_transient(value());
    }
    bool is_session_over() const noexcept
    {
        return zkr_error_is_session_over(value());
    }
    bool is_unsure() const noexcept { return zkr_error_is_unsure(value()); }
    /** @} */

private:
    int value() const noexcept { return code().value(); }
};

/** What states, losses and causes are called. @{ */
inline const char *name_of(zkr_session_state_kind state) noexcept
{
    return zkr_session_state_name(state);
}
inline const char *name_of(zkr_grant_state_kind state) noexcept
{
    return zkr_grant_state_name(state);
}
inline const char *name_of(zkr_loss loss) noexcept
{
    return zkr_loss_text(loss);
}
inline const char *name_of(zkr_cause cause) noexcept
{
    return zkr_cause_name(cause);
}
/** @} */

/** Throws unless `code` is ZKR_OK. */
inline void check(int code)
{
    if (code != ZKR_OK)
        throw error(code);
}

/** False when it has not come in time; throws other errors. */
inline bool in_time(int code)
{
    if (code == ZKR_ETIMEDOUT || code == ZKR_EBUSY)
        return false;
    check(code);
    return true;
}

/** The counters of a session or a lock; see session.h. */
using counters = zkr_counters;

/** How long a call may take: a duration, or until a time of any clock; without
 *  either, no limit. Nothing or less tries once. Fractions of a millisecond are
 *  rounded up: a wait is never shorter than what was asked for. */
class timeout {
public:
    /** No limit, so long, or until then. @{ */
    constexpr timeout() noexcept = default;
    template <class Rep, class Period>
    timeout(const std::chrono::duration<Rep, Period> &time)
    {
        const double count =
            std::chrono::duration<double, std::milli>(time).count();

        ms_ = most;
        if (!(count > 0))
            ms_ = 0;
        else if (count < static_cast<double>(most))
            ms_ = std::chrono::ceil<std::chrono::milliseconds>(time).count();
    }
    template <class Clock, class Duration>
    timeout(const std::chrono::time_point<Clock, Duration> &until)
        : timeout(until - Clock::now())
    {
    }
    /** @} */

    /** For the C interface. */
    std::int64_t ms() const noexcept { return ms_; }

private:
    static constexpr std::int64_t most = 1000000000000; /* 31 years */

    std::int64_t ms_ = -1;
};

/** No time: a try. */
inline timeout at_once() { return std::chrono::seconds(0); }

class grant;

/* -- how calls are made: nothing here is for programs ---------------------- */

namespace detail {

/** What a function of C is given for an argument. @{ */
inline auto raw(const std::string &path) { return std::tuple(path.c_str()); }
inline auto raw(std::string_view data)
{
    return std::tuple(data.data(), data.size());
}
inline auto raw(timeout limit) { return std::tuple(limit.ms()); }
template <class T> auto raw(const T &of)
{
    if constexpr (std::is_class_v<T>)
        return of.raw();
    else
        return std::tuple(of);
}
/** @} */

/** What a callback is given for an argument of C. @{ */
inline std::error_code cooked(int code) noexcept
{
    return std::error_code(code, category());
}
inline grant cooked(zkr_grant *granted) noexcept;
template <class T> T cooked(T same) noexcept { return same; }
/** @} */

template <class Call, class... Args> int invoke(Call call, const Args &...args)
{
    return std::apply(call, std::tuple_cat(raw(args)...));
}

/** The functions that C calls with Args: the first frees F, the second finds F
 *  alive although its object may end meanwhile. */
template <class F, class... Args> struct called {
    static void once(Args... args, void *user) noexcept
    {
        const std::unique_ptr<F> f(static_cast<F *>(user));

        (*f)(cooked(args)...);
    }
    static void often(Args... args, void *user) noexcept
    {
        const auto f = *static_cast<std::shared_ptr<F> *>(user);

        (*f)(args...);
    }
};

/** Makes a call that calls back once, after all other arguments of it; `made`
 *  comes last, where there is one. */
template <class... Args, class F, class Call, class... Rest>
void post(F f, Call call, const Rest &...rest)
{
    auto kept = std::make_unique<F>(std::move(f));

    check(invoke(call, rest..., &called<F, Args...>::once,
                 static_cast<void *>(kept.get())));
    (void)kept.release(); /* it has been called, or will be */
}

/** A callable for what calls back again and again. */
template <class F> auto keep(F f)
{
    return std::make_shared<std::shared_ptr<F>>(
        std::make_shared<F>(std::move(f)));
}

/** Frees an object, and then its callable. */
template <auto Free> struct freer {
    std::shared_ptr<void> callable;

    template <class T> void operator()(T *object) const noexcept
    {
        (void)Free(object);
    }
};

/** An object of the C interface, which Free ends. */
template <class T, auto Free> class handle {
public:
    /** For the functions of the C interface. */
    T *get() const noexcept { return object_.get(); }
    /** For those of this header. */
    auto raw() const noexcept { return std::tuple(get()); }

protected:
    /** Takes one over. */
    explicit handle(T *object = nullptr) noexcept : object_(object) {}

    /** Makes it, as all functions do whose output comes last. */
    template <class Make, class... Args>
    void make(Make call, const Args &...args)
    {
        object_.reset(ask<T *>(call, args...));
    }
    /** The same of what calls back again and again. */
    template <class... Args, class F, class Make, class... Rest>
    void listen(F f, Make call, const Rest &...rest)
    {
        auto kept = keep(std::move(f));

        object_ = std::unique_ptr<T, freer<Free>>(
            ask<T *>(call, rest..., &called<F, Args...>::often,
                     static_cast<void *>(kept.get())),
            freer<Free>{ kept });
    }
    /** Calls a function that has no output, with this object or without. @{ */
    template <class Call, class... Args>
    void run(Call call, const Args &...args) const
    {
        check(invoke(call, get(), args...));
    }
    template <class Call, class... Args>
    bool in_time(Call call, const Args &...args) const
    {
        return zkr::in_time(invoke(call, get(), args...));
    }
    /** @} */
    /** Returns what comes through the last argument. */
    template <class Out, class Call, class... Args>
    static Out ask(Call call, const Args &...args)
    {
        Out out{};

        check(invoke(call, args..., &out));
        return out;
    }
    /** Returns what a call fills in, whose size is set before. */
    template <class Out, class Call> Out filled(Call call) const
    {
        Out out = zkr__default_opts<Out>();

        run(call, &out);
        return out;
    }

    /** The object, until it is freed. */
    std::unique_ptr<T, freer<Free>> object_;
};

} // namespace detail

/* -- lines of log, lists of servers ---------------------------------------- */

namespace detail {

/** Frees the callable that is replaced, which does not run any more. That of
 *  the last hook stays, since threads of the library may log to the end. */
inline void log_to(zkr_log_level level, zkr_log_fn fn,
                   std::shared_ptr<void> callable)
{
    static std::mutex mutex;
    static auto &kept = *new std::shared_ptr<void>;
    const std::lock_guard<std::mutex> guard(mutex);

    zkr_log_set(level, fn, callable.get());
    kept = std::move(callable);
}

} // namespace detail

/** Sends the lines of the process to f(zkr_log_level, const char *), on several
 *  threads at once; see session.h. Not to be called in f. @{ */
template <class F> void log_to(zkr_log_level level, F f)
{
    detail::log_to(level,
                   detail::called<F, zkr_log_level, const char *>::often,
                   detail::keep(std::move(f)));
}
inline void log_to(std::nullptr_t)
{
    detail::log_to(ZKR_LOG_ERROR, nullptr, nullptr);
}
/** @} */

/** A list of servers, in its parts; see session.h. */
class hosts : public detail::handle<zkr_hosts, zkr_hosts_free> {
public:
    /** Takes it apart. */
    explicit hosts(const std::string &text) { make(zkr_hosts_parse, text); }

    /** Each server; how many there are; "/app", or "". @{ */
    const zkr_server *begin() const noexcept { return get()->servers; }
    const zkr_server *end() const noexcept { return begin() + size(); }
    std::size_t size() const noexcept { return get()->count; }
    const char *chroot() const noexcept { return get()->chroot; }
    /** @} */
};

/* -- the session, and its program's own reads and writes ------------------- */

/** What a read returned; see client.h. */
class reply : public detail::handle<zkr_reply, zkr_reply_free> {
public:
    /** Takes over one of the C interface. */
    explicit reply(zkr_reply *taken) noexcept : handle(taken) {}
    /** The stat, and what else client.h says. */
    const zkr_reply *operator->() const noexcept { return get(); }
    /** The data of a get; empty also when there are none. */
    std::string_view data() const noexcept { return { get()->data, get()->len }; }
    /** The names of the children. */
    std::vector<std::string> names() const
    {
        return { get()->names, get()->names + get()->count };
    }
};

/** A session; see session.h and client.h. The destructor closes it. */
class session : public detail::handle<zkr_session, zkr_session_close> {
public:
    /** Opens it, and waits until it is connected. */
    explicit session(const std::string &hosts,
                     const zkr_session_opts &opts = ZKR_SESSION_OPTS_INIT)
    {
        make(zkr_session_open, hosts, &opts);
    }
    /** Opens it in the background, and calls f(std::error_code) then. */
    template <class F>
    session(const std::string &hosts, const zkr_session_opts &opts, F f)
    {
        auto open = [&](zkr_open_fn fn, void *user) {
            zkr_session *made = nullptr;
            const int code = zkr_session_open_async(hosts.c_str(), &opts, fn,
                                                    user, &made);

            object_.reset(made);
            return code;
        };

        detail::post<int>(std::move(f), open);
    }
    /** Ends it; throws ZKR_EPENDING when the server could not be told. */
    void close()
    {
        const int code = zkr_session_close(get());

        if (code != ZKR_EDEADLK && code != ZKR_EFORKED) /* it has been taken */
            (void)object_.release();
        check(code);
    }

    /** As in session.h. @{ */
    auto state() const noexcept { return ::zkr_session_state(get()); }
    std::int64_t id() const noexcept { return zkr_session_id(get()); }
    std::uint64_t epoch() const noexcept { return zkr_session_epoch(get()); }
    auto timeout_ms() const noexcept { return zkr_session_timeout_ms(get()); }
    counters stats() const { return filled<counters>(zkr_session_stats); }
    auto last_error() const
    {
        return filled<zkr_session_error>(zkr_session_last_error);
    }
    void set_servers(const std::string &hosts)
    {
        run(zkr_session_set_servers, hosts);
    }
    void set_credentials(const zkr_session_opts &opts)
    {
        run(zkr_session_set_credentials, &opts);
    }
    /** @} */
    /** With ZKR_SESSION_OWN_LOOP: readable when callbacks are due. Poll it, and
     *  dispatch() then, which runs them; never read or close it. @{ */
    int fd() const { return ask<int>(zkr_session_fd, get()); }
    void dispatch() { run(zkr_session_dispatch); }
    /** @} */
    /** Returns f(zhandle_t *), or why it was not called: see zhandle.h, which
     *  the program includes. */
    template <class F> int with_handle(F f) const
    {
        return zkr_session_with_handle(
            get(),
            [](auto *zh, void *user) {
                const auto call = [=]() noexcept -> int {
                    return (*static_cast<F *>(user))(zh);
                };
                return call();
            },
            &f);
    }
    /** For tests of a program: ends it on the servers; see testing.h. */
    void test_expire() const { run(zkr_test_expire_session); }
    /** How many handles of the process cannot be closed. */
    static auto stuck_handles() noexcept { return zkr_session_stuck_handles(); }

    using handle::get;
    /** Reads and writes that wait for the answer. A node that is missing throws
     *  ZKR_ZNONODE, but in exists(). A create returns the path as it was made;
     *  a set, the new stat. @{ */
    reply get(const std::string &path, timeout limit) const
    {
        return read(zkr_session_get, path, limit);
    }
    reply children(const std::string &path, timeout limit) const
    {
        return read(zkr_session_children, path, limit);
    }
    std::optional<zkr_stat> exists(const std::string &path, timeout limit) const
    {
        zkr_reply *made = nullptr;
        const int code =
            detail::invoke(zkr_session_exists, get(), path, limit, &made);

        if (code == ZKR_ZNONODE)
            return std::nullopt;
        check(code);
        return reply(made)->stat;
    }
    void sync(timeout limit) const { run(zkr_session_sync, limit); }
    std::string
    create(const std::string &path, std::string_view data, timeout limit,
           const zkr_create_opts &opts = ZKR_CREATE_OPTS_INIT) const
    {
        return read(zkr_session_create, path, data, &opts, limit)->path;
    }
    zkr_stat set(const std::string &path, std::string_view data,
                 std::int32_t version, timeout limit) const
    {
        return read(zkr_session_set, path, data, version, limit)->stat;
    }
    void remove(const std::string &path, std::int32_t version,
                timeout limit) const
    {
        run(zkr_session_delete, path, version, limit);
    }
    /** @} */

    /** Without waiting: `post(zkr_session_get_async, f, path, 5s)`, and so with
     *  the others of client.h, whose data are a std::string_view. They call
     *  f(std::error_code, const zkr_reply *). */
    template <class Call, class F, class... Args>
    void post(Call call, F f, const Args &...args) const
    {
        detail::post<int, const zkr_reply *>(std::move(f), call, get(),
                                             args...);
    }

private:
    template <class Call, class... Args>
    reply read(Call call, const Args &...args) const
    {
        return reply(ask<zkr_reply *>(call, get(), args...));
    }
};

namespace detail {

/** What is made at a path of a session, in one way. */
template <class T, auto Make, auto Free, class Opts>
class object : public handle<T, Free> {
public:
    /** Makes the handle, and sends nothing. */
    object(const session &of, const std::string &path,
           const Opts &opts = zkr__default_opts<Opts>())
    {
        this->make(Make, of, path, &opts);
    }
};

} // namespace detail

/** Calls f(zkr_session *, const zkr_session_event *) for every change of state,
 *  until it is destroyed; see session.h. */
class listener : public detail::handle<zkr_listener, zkr_listener_free> {
public:
    /** The first event is the present state. */
    template <class F> listener(const session &of, F f)
    {
        listen<zkr_session *, const zkr_session_event *>(
            std::move(f), zkr_session_listen, of);
    }
};

/** Calls f(int error, const zkr_reply *, zkr_watch_why) with each state of a
 *  node, until it is destroyed; see client.h. */
class watch : public detail::handle<zkr_watch, zkr_watch_free> {
public:
    /** The node need not exist. */
    template <class F>
    watch(const session &of, const std::string &path, zkr_watch_what what, F f,
          const zkr_watch_opts &opts = ZKR_WATCH_OPTS_INIT)
    {
        listen<int, const zkr_reply *, zkr_watch_why>(
            std::move(f), zkr_session_watch, of, path, what, &opts);
    }
    /** The least time from an answer to the next read. */
    void set_pause(timeout pause) { run(zkr_watch_set_pause, pause); }
};

/* -- grants and guarded writes --------------------------------------------- */

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
    void ensure() const { run(zkr_grant_check); }
    /** Asks the servers; throws when it is not ours. */
    void verify(timeout limit) const { run(zkr_grant_verify, limit); }

    /** As in grant.h. @{ */
    std::int64_t token() const noexcept { return zkr_grant_token(grant_); }
    std::uint64_t handoff() const noexcept { return zkr_grant_handoff(grant_); }
    std::uint32_t depth() const noexcept { return zkr_grant_depth(grant_); }
    auto valid_until() const noexcept { return zkr_grant_valid_until(grant_); }
    auto state() const noexcept { return ::zkr_grant_state(grant_); }
    zkr_loss loss() const noexcept { return zkr_grant_loss(grant_); }
    /** @} */
    /** The path of its node, and its data; "" without a grant. @{ */
    std::string node() const { return text(zkr_grant_node(grant_)); }
    std::string record() const { return text(zkr_grant_record(grant_)); }
    /** @} */

    /** Writes that are made only while the lock is held, and throw ZKR_ELOST
     *  otherwise. A set returns the new version. @{ */
    std::int32_t guarded_set(const std::string &path, std::string_view data,
                             std::int32_t version, timeout limit) const
    {
        std::int32_t made = 0;

        run(zkr_grant_guarded_set, path, data, version, limit, &made);
        return made;
    }
    void guarded_create(const std::string &path, std::string_view data,
                        timeout limit) const
    {
        run(zkr_grant_guarded_create, path, data, limit);
    }
    void guarded_remove(const std::string &path, std::int32_t version,
                        timeout limit) const
    {
        run(zkr_grant_guarded_delete, path, version, limit);
    }
    /** @} */

    /** For the functions of the C interface, and of this header. @{ */
    zkr_grant *get() const noexcept { return grant_; }
    auto raw() const noexcept { return std::tuple(grant_); }
    /** @} */

protected:
    /** The grant, or nullptr. */
    zkr_grant *grant_;

private:
    static std::string text(const char *of) { return of == nullptr ? "" : of; }
    template <class Call, class... Args>
    void run(Call call, const Args &...args) const
    {
        check(detail::invoke(call, grant_, args...));
    }
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
    void release() { check(zkr_grant_release(grant_)); }
    /** The same without waiting: f(std::error_code). One that is held several
     *  times (reentrant) loses a count, and f is not called. */
    template <class F> void release_async(F f)
    {
        if (depth() > 1)
            check(zkr_grant_release_async(grant_, nullptr, nullptr));
        else
            detail::post<int>(std::move(f), zkr_grant_release_async, grant_);
    }
};

inline grant detail::cooked(zkr_grant *granted) noexcept
{
    return grant(granted);
}

/** Several grants, of one acquire. The destructor gives them back. */
class grants : public std::vector<grant> {
public:
    /** Throws unless all of them are provably ours. */
    void ensure() const { run(zkr_grants_check); }
    /** Gives all of them back, in one flight, and waits; throws the first
     *  error. */
    void release() { run(zkr_grants_release); }

private:
    template <class Call> void run(Call call) const
    {
        std::vector<zkr_grant *> all;

        for (const view &each : *this)
            all.push_back(each.get());
        check(call(all.data(), all.size()));
    }
};

namespace detail {

inline void stop_listening(zkr_grant *of)
{
    (void)zkr_grant_listen(of, nullptr, nullptr);
}

} // namespace detail

/** Calls f(zkr_grant *, const zkr_grant_event *) for what becomes of a grant,
 *  until it is destroyed, before the grant is. A grant has one; see grant.h. */
class grant_listener
    : public detail::handle<zkr_grant, detail::stop_listening> {
public:
    /** If it is not held any more, that is the first event. */
    template <class F> grant_listener(const view &of, F f)
    {
        auto begin = [](zkr_grant *grant, zkr_grant_fn fn, void *user,
                        zkr_grant **made) {
            *made = grant;
            return zkr_grant_listen(grant, fn, user);
        };

        listen<zkr_grant *, const zkr_grant_event *>(std::move(f), begin, of);
    }
};

/** Several writes, all or none; see client.h. */
class transaction : public detail::handle<zkr_txn, zkr_txn_free> {
public:
    /** An empty one. */
    explicit transaction(const session &of,
                         const zkr_txn_opts &opts = ZKR_TXN_OPTS_INIT)
    {
        make(zkr_txn_new, of, &opts);
    }
    /** A guarded one: made only while the lock is held (grant.h). */
    explicit transaction(const view &guard) { make(zkr_txn_new_guarded, guard); }

    /** Add an operation. @{ */
    transaction &check(const std::string &path,
                       std::int32_t version = ZKR_ANY_VERSION)
    {
        return add(zkr_txn_check, path, version);
    }
    transaction &create(const std::string &path, std::string_view data,
                        const zkr_create_opts &opts = ZKR_CREATE_OPTS_INIT)
    {
        return add(zkr_txn_create, path, data, &opts);
    }
    transaction &set(const std::string &path, std::string_view data,
                     std::int32_t version)
    {
        return add(zkr_txn_set, path, data, version);
    }
    transaction &remove(const std::string &path, std::int32_t version)
    {
        return add(zkr_txn_delete, path, version);
    }
    /** @} */

    /** Commits it, and waits; or calls f(std::error_code, zkr_txn *). @{ */
    void commit(timeout limit) { run(zkr_txn_commit, limit); }
    template <class F> void commit_async(timeout limit, F f)
    {
        detail::post<int, zkr_txn *>(std::move(f), zkr_txn_commit_async, *this,
                                     limit);
    }
    /** @} */

    /** The operation that was refused; what a create made, or nullptr; the stat
     *  after a set, or nullptr. @{ */
    int failed() const noexcept { return zkr_txn_failed(get()); }
    auto path(std::size_t nth) const { return zkr_txn_path(get(), nth); }
    auto stat(std::size_t nth) const { return zkr_txn_stat(get(), nth); }
    /** @} */

private:
    template <class Call, class... Args>
    transaction &add(Call call, const Args &...args)
    {
        run(call, args...);
        return *this;
    }
};

/* -- locks ----------------------------------------------------------------- */

/** An acquire without a waiting thread, while it is under way. Destroying it
 *  does not cancel the acquire. */
class request : public detail::handle<zkr_request, zkr_request_free> {
public:
    /** Takes over one of the C interface. */
    explicit request(zkr_request *taken) noexcept : handle(taken) {}
    /** Its callback is told ZKR_ECANCELED, unless it was decided before. */
    void cancel() { run(zkr_request_cancel); }
};

namespace detail {

/** Who holds an object in one mode: for lock(), one at most, for lock_shared(),
 *  any number. With each grant the thread that locked, which is a hint. */
class holders {
public:
    explicit holders(bool alone) : alone_(alone) {}

    using deadline = std::optional<std::chrono::steady_clock::time_point>;

    /** Waits for the unlock() of an exclusive holder whose grant was lost, and
     *  returns false when it has not come in time. Taking part again in the
     *  same grant (reentrant) waits for nobody. */
    bool put(grant &&held, const deadline &until)
    {
        std::unique_lock<std::mutex> guard(mutex_);
        const auto free = [&] {
            return !alone_ || all_.empty() ||
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
    zkr_grant *get()
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        const auto found = alone_ ? all_.rbegin() : find();

        if (found == all_.rend())
            not_held();
        return found->second.get();
    }

private:
    using entry = std::pair<std::thread::id, grant>;

    [[noreturn]] static void not_held()
    {
        throw error(ZKR_ENOTHELD, "nobody has locked this object");
    }

    std::vector<entry>::reverse_iterator find() noexcept
    {
        const auto me = std::this_thread::get_id();
        auto it = all_.rbegin();

        while (it != all_.rend() && it->first != me)
            ++it;
        return it;
    }

    const bool alone_;
    std::mutex mutex_;
    std::condition_variable unlocked_;
    std::vector<entry> all_;
};

/** How an acquire has ended, as a callback was told. */
template <class T> struct outcome {
    int code = ZKR_OK;
    T granted;
    std::string sentence;

    outcome() = default;
    outcome(std::error_code end, T &&with)
        : code(end.value()), granted(std::move(with)),
          sentence(end ? zkr_error_detail() : "")
    {
    }
    T get()
    {
        if (code != ZKR_OK)
            throw error(code, sentence);
        return std::move(granted);
    }
};

} // namespace detail

/** What locks of all recipes have; see lockable.h. */
class lock_base : public detail::handle<zkr_lockable, zkr_lockable_free> {
public:
    /** As in lockable.h. @{ */
    const char *path() const noexcept { return zkr_lockable_path(get()); }
    void cancel() { run(zkr_lockable_cancel); }
    void give_back() { run(zkr_lockable_give_back); }
    counters stats() const { return filled<counters>(zkr_lockable_stats); }
    /** @} */
};

#if defined(__cpp_impl_coroutine)
template <class T> class acquiring;
#endif

/** What can be acquired, as a grant that any thread may use. `how` has the mode
 *  of a read/write lock, the permits of a semaphore, and the owner. */
class acquirable : public lock_base {
public:
    /** How it is acquired. */
    using terms = zkr_acquire_opts;

    /** Waits without limit. */
    grant acquire(const terms &how = ZKR_ACQUIRE_OPTS_INIT)
    {
        return *acquire_for(timeout(), how);
    }
    /** Nothing when it was not granted in time. */
    std::optional<grant> acquire_for(timeout limit,
                                     const terms &how = ZKR_ACQUIRE_OPTS_INIT)
    {
        zkr_grant *granted = nullptr;

        if (!in_time(zkr_lockable_acquire, &how, limit, &granted))
            return std::nullopt;
        return grant(granted);
    }
    /** The same of an acquire that gives several grants, all or none. @{ */
    grants acquire_all(const terms &how = ZKR_ACQUIRE_OPTS_INIT)
    {
        return *acquire_all_for(timeout(), how);
    }
    std::optional<grants>
    acquire_all_for(timeout limit, const terms &how = ZKR_ACQUIRE_OPTS_INIT)
    {
        std::vector<zkr_grant *> granted(zkr_lockable_count(get(), &how) + 1);
        grants all;

        all.reserve(granted.size());
        if (!in_time(zkr_lockable_acquire_all, &how, limit, granted.data()))
            return std::nullopt;
        granted.pop_back(); /* it is there for a lock that has none */
        for (zkr_grant *each : granted)
            all.emplace_back(each);
        return all;
    }
    /** @} */
    /** Without a waiting thread: f(std::error_code, zkr::grant). */
    template <class F>
    request acquire_async(timeout limit, F f,
                          const terms &how = ZKR_ACQUIRE_OPTS_INIT)
    {
        return begin<int, zkr_grant *>(std::move(f), zkr_lockable_acquire_async,
                                       limit, how);
    }
    /** The same of several: f(std::error_code, zkr::grants). */
    template <class F>
    request acquire_all_async(timeout limit, F f,
                              const terms &how = ZKR_ACQUIRE_OPTS_INIT)
    {
        auto told = [f = std::move(f)](std::error_code code,
                                       zkr_grant *const *granted,
                                       std::size_t count) mutable {
            grants all;

            for (std::size_t i = 0; granted != nullptr && i < count; i++)
                all.emplace_back(granted[i]);
            f(code, std::move(all));
        };

        return begin<int, zkr_grant *const *, std::size_t>(
            std::move(told), zkr_lockable_acquire_all_async, limit, how);
    }
#if __cplusplus >= 202002L
    /** Waits until it is granted or a stop is requested, which throws
     *  ZKR_ECANCELED. Not in a callback of the session. */
    grant acquire(std::stop_token stop, const terms &how = ZKR_ACQUIRE_OPTS_INIT)
    {
        std::promise<detail::outcome<grant>> promise;
        auto future = promise.get_future();
        const request claim = acquire_async(
            timeout(),
            [promise = std::move(promise)](std::error_code code,
                                           grant granted) mutable {
                promise.set_value({ code, std::move(granted) });
            },
            how);
        const std::stop_callback canceller(
            stop, [&claim] { (void)zkr_request_cancel(claim.get()); });

        return future.get().get();
    }
#endif
#if defined(__cpp_impl_coroutine)
    /** For a coroutine, `auto held = co_await lock.when_granted(5s);`: a grant,
     *  and an empty one when it was not granted in time. The coroutine goes on
     *  in a callback of the session, where nothing may wait (session.h). It must
     *  not be destroyed meanwhile, and the lock must not: cancel() first. */
    acquiring<grant> when_granted(timeout limit = timeout(),
                                  const terms &how = ZKR_ACQUIRE_OPTS_INIT);
    /** The same of an acquire that gives several grants. */
    acquiring<grants>
    when_all_granted(timeout limit = timeout(),
                     const terms &how = ZKR_ACQUIRE_OPTS_INIT);
#endif

private:
    template <class... Args, class F, class Call>
    request begin(F f, Call call, timeout limit, const terms &how)
    {
        zkr_request *made = nullptr;
        auto with = [&](auto fn, void *user) {
            return call(get(), &how, limit.ms(), fn, user, &made);
        };

        detail::post<Args...>(std::move(f), with);
        return request(made);
    }
};

#if defined(__cpp_impl_coroutine)
/** What co_await takes, of acquirable::when_granted(). */
template <class T> class acquiring {
public:
    /** Nothing begins yet. */
    acquiring(acquirable &lock, timeout limit, const zkr_acquire_opts &how)
        : lock_(lock), limit_(limit), how_(how)
    {
    }
    /** As C++ wants it. @{ */
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiting)
    {
        auto told = [this, waiting](std::error_code code, T granted) {
            end_ = detail::outcome<T>(code, std::move(granted));
            waiting.resume();
        };

        if constexpr (std::is_same_v<T, grant>)
            (void)lock_.acquire_async(limit_, told, how_);
        else
            (void)lock_.acquire_all_async(limit_, told, how_);
    }
    T await_resume()
    {
        if (end_.code == ZKR_ETIMEDOUT || end_.code == ZKR_EBUSY)
            return T();
        return end_.get();
    }
    /** @} */

private:
    acquirable &lock_;
    timeout limit_;
    zkr_acquire_opts how_;
    detail::outcome<T> end_;
};

inline acquiring<grant> acquirable::when_granted(timeout limit,
                                                 const terms &how)
{
    return { *this, limit, how };
}
inline acquiring<grants> acquirable::when_all_granted(timeout limit,
                                                      const terms &how)
{
    return { *this, limit, how };
}
#endif

/** What can be locked, too: meets TimedLockable. */
class lockable : public acquirable {
public:
    /** As acquire(); unlock() gives it back. */
    void lock() { (void)keep(*holder_, ZKR_EXCLUSIVE, timeout()); }
    /** False when it was not granted in time, or at once. @{ */
    bool try_lock() { return try_lock_for(at_once()); }
    bool try_lock_for(timeout limit)
    {
        return keep(*holder_, ZKR_EXCLUSIVE, limit);
    }
    bool try_lock_until(timeout limit) { return try_lock_for(limit); }
    /** @} */
    /** Gives it back, on any thread. Throws when it is called without need:
     *  ZKR_ENOTHELD, nobody has locked this object; ZKR_ENOTOWNER, another
     *  thread has, and ZKR_REENTRANT binds it to that thread. */
    void unlock() { give_up(*holder_); }
    /** The grant of the holder, which calls it, until its unlock(). Throws
     *  ZKR_ENOTHELD when nobody has locked this object. */
    view held() const { return view(holder_->get()); }

protected:
    /** False when it was not granted in time; else the object is held. */
    bool keep(detail::holders &by, zkr_mode kind, timeout limit)
    {
        detail::holders::deadline until;
        terms how = ZKR_ACQUIRE_OPTS_INIT;

        how.mode = kind;
        if (limit.ms() >= 0)
            until = std::chrono::steady_clock::now() +
                    std::chrono::milliseconds(limit.ms());
        std::optional<grant> granted = acquire_for(limit, how);

        return granted && by.put(std::move(*granted), until);
    }
    /** Waits for the answer, so that the next lock() is not behind us. */
    void give_up(detail::holders &by)
    {
        grant held = by.take();
        const int code = zkr_grant_release(held.get());

        if (code != ZKR_ENOTOWNER)
            return;
        const error refused(code);
        (void)by.put(std::move(held), std::nullopt);
        throw refused;
    }

private:
    std::unique_ptr<detail::holders> holder_ =
        std::make_unique<detail::holders>(true);
};

namespace detail {

/** A lock that is made in the usual way. */
template <auto Make> class usual : public lockable {
public:
    /** Makes the handle, and sends nothing. */
    usual(const session &of, const std::string &path,
          const zkr_lockable_opts &opts = ZKR_LOCKABLE_OPTS_INIT)
    {
        make(Make, of, path, &opts);
    }
};

} // namespace detail

/** A fair mutex; see mutex.h. */
class mutex : public detail::usual<zkr_mutex_new> {
    using usual::usual;
};

/** An unfair mutex; see unfair_mutex.h. */
class unfair_mutex : public detail::usual<zkr_unfair_mutex_new> {
    using usual::usual;
};

/** A read/write lock; see rwlock.h. Meets SharedTimedLockable: lock() and
 *  acquire() write, lock_shared() and acquire_shared() read. */
class shared_mutex : public detail::usual<zkr_rwlock_new> {
public:
    using usual::usual;

    /** The `how` of an acquire that reads. */
    static terms shared() noexcept
    {
        terms how = ZKR_ACQUIRE_OPTS_INIT;

        how.mode = ZKR_SHARED;
        return how;
    }
    /** To read, as those above. @{ */
    grant acquire_shared() { return acquire(shared()); }
    std::optional<grant> acquire_shared_for(timeout limit)
    {
        return acquire_for(limit, shared());
    }
    void lock_shared() { (void)keep(*readers_, ZKR_SHARED, timeout()); }
    bool try_lock_shared() { return try_lock_shared_for(at_once()); }
    bool try_lock_shared_for(timeout limit)
    {
        return keep(*readers_, ZKR_SHARED, limit);
    }
    bool try_lock_shared_until(timeout end) { return try_lock_shared_for(end); }
    /** @} */
    /** Gives back what this thread has locked last; or else, for a
     *  std::shared_lock that was moved here, what was locked first. */
    void unlock_shared() { give_up(*readers_); }
    /** The grant of the lock_shared() of this thread, until its unlock: readers
     *  of one object have a grant each. Throws ZKR_ENOTHELD when this thread
     *  has none, as after such a move: there, use acquire_shared(). */
    view held_shared() const { return view(readers_->get()); }
    /** Makes a write grant a read grant, and no writer gets in between. */
    grant downgrade(const view &writer)
    {
        return grant(ask<zkr_grant *>(zkr_rwlock_downgrade, *this, writer));
    }

private:
    std::unique_ptr<detail::holders> readers_ =
        std::make_unique<detail::holders>(false);
};

/** A mutex that its thread may lock again; see reentrant_mutex.h. Meets
 *  TimedLockable. Each function concerns the calling thread. */
class recursive_mutex : public lock_base {
public:
    /** Makes the handle, and sends nothing. */
    recursive_mutex(const session &of, const std::string &path,
                    const zkr_lockable_opts &opts = ZKR_LOCKABLE_OPTS_INIT)
    {
        make(zkr_reentrant_mutex_new, of, path, &opts);
    }

    /** As those of lockable. @{ */
    void lock() { (void)try_lock_for(timeout()); }
    bool try_lock() { return try_lock_for(at_once()); }
    bool try_lock_for(timeout limit)
    {
        return in_time(zkr_reentrant_mutex_acquire, limit);
    }
    bool try_lock_until(timeout limit) { return try_lock_for(limit); }
    /** @} */
    /** Takes back one lock(); the last one gives the lock back. Throws when
     *  this thread has not locked it (ZKR_ENOTHELD, ZKR_ENOTOWNER): so a
     *  std::unique_lock that was moved to another thread ends the program. */
    void unlock()
    {
        const int code = zkr_reentrant_mutex_release(get());

        if (code == ZKR_ENOTHELD || code == ZKR_ENOTOWNER)
            throw error(code);
    }
    /** Throws ZKR_ENOTHELD or ZKR_ENOTOWNER when this thread has none. */
    view held() const
    {
        const zkr_acquire_opts *const ours = nullptr;

        return view(ask<zkr_grant *>(zkr_lockable_grant, *this, ours));
    }
    /** How often this thread holds it. */
    auto depth() const noexcept { return zkr_reentrant_mutex_depth(get()); }
};

/** A semaphore; see semaphore.h. A permit is a grant: acquire() gives one. */
class semaphore : public acquirable {
public:
    /** Makes the handle. */
    semaphore(const session &of, const std::string &path, std::uint32_t limit,
              const zkr_lockable_opts &opts = ZKR_LOCKABLE_OPTS_INIT)
    {
        make(zkr_semaphore_new, of, path, limit, &opts);
    }
    /** The `how` of an acquire_all() of so many. */
    static terms permits(std::uint32_t count) noexcept
    {
        terms how = ZKR_ACQUIRE_OPTS_INIT;

        how.permits = count == 0 ? UINT32_MAX : count; /* none: ZKR_EINVAL */
        return how;
    }
    /** The limit as it is known now. */
    std::uint32_t limit() const noexcept { return zkr_semaphore_limit(get()); }
};

/** Several locks as one; see multi_lock.h. acquire_all() takes them. */
class multi_lock : public acquirable {
public:
    /** One without locks. */
    explicit multi_lock(const session &of,
                        const zkr_lockable_opts &opts = ZKR_LOCKABLE_OPTS_INIT)
    {
        make(zkr_multi_lock_new, of, &opts);
    }
    /** Adds one, which must end after this. */
    multi_lock &add(const lock_base &lock,
                    const terms &how = ZKR_ACQUIRE_OPTS_INIT)
    {
        run(zkr_multi_lock_add, lock, &how);
        return *this;
    }
};

/* -- the other recipes ----------------------------------------------------- */

/** A participant of an election; see leader.h. The destructor leaves. */
class leader : public detail::handle<zkr_leader, zkr_leader_free> {
public:
    /** Calls f(zkr_leader *, const zkr_leader_event *). */
    template <class F>
    leader(const session &of, const std::string &path, F f,
           const zkr_leader_opts &opts = ZKR_LEADER_OPTS_INIT)
    {
        listen<zkr_leader *, const zkr_leader_event *>(
            std::move(f), zkr_leader_new, of, path, &opts);
    }

    /** As in leader.h. @{ */
    void campaign() { run(zkr_leader_campaign); }
    void leave() { run(zkr_leader_leave); }
    void leave_async() { run(zkr_leader_leave_async); }
    bool is_leader() const noexcept { return zkr_leader_is_leader(get()); }
    const char *path() const noexcept { return zkr_leader_path(get()); }
    counters stats() const { return filled<counters>(zkr_leader_stats); }
    /** @} */
    /** Waits until it leads; false when that does not come in time. */
    bool wait_for(timeout limit) { return in_time(zkr_leader_wait, limit); }
    /** The grant of the present term; its release() gives back the term, its
     *  destructor does not. Throws ZKR_ENOTHELD when it does not lead. */
    grant term() const
    {
        return grant(ask<zkr_grant *>(zkr_leader_grant, *this));
    }
};

/** A counter; see counter.h. */
class counter : public detail::object<zkr_counter, zkr_counter_new,
                                      zkr_counter_free, zkr_counter_opts> {
public:
    using object::object;
    /** A number, and the version of its node, for set(). */
    using reading = std::pair<std::int64_t, std::int32_t>;

    /** As in counter.h: the number and its version; the number after the
     *  addition; the number that was found. @{ */
    reading read(timeout limit) const
    {
        reading now;

        run(zkr_counter_get, limit, &now.first, &now.second);
        return now;
    }
    std::int64_t add(std::int64_t delta, timeout limit)
    {
        return ask<std::int64_t>(zkr_counter_add, *this, delta, limit);
    }
    std::int64_t compare_and_set(std::int64_t expected, std::int64_t wanted,
                                 timeout limit)
    {
        return ask<std::int64_t>(zkr_counter_compare_and_set, *this, expected,
                                 wanted, limit);
    }
    void set(std::int64_t value, std::int32_t version, timeout limit)
    {
        run(zkr_counter_set, value, version, limit);
    }
    const char *path() const noexcept { return zkr_counter_path(get()); }
    /** @} */
};

/** A barrier; see barrier.h. */
class barrier : public detail::object<zkr_barrier, zkr_barrier_new,
                                      zkr_barrier_free, zkr_barrier_opts> {
public:
    using object::object;

    /** As in barrier.h; false when it is still set. @{ */
    void set(timeout limit) { run(zkr_barrier_set, limit); }
    void remove(timeout limit) { run(zkr_barrier_remove, limit); }
    bool wait_for(timeout limit) { return in_time(zkr_barrier_wait, limit); }
    const char *path() const noexcept { return zkr_barrier_path(get()); }
    /** @} */
};

/** A member of a double barrier; see barrier.h. */
class double_barrier
    : public detail::handle<zkr_double_barrier, zkr_double_barrier_free> {
public:
    /** Makes the member. */
    double_barrier(const session &of, const std::string &path,
                   std::uint32_t members,
                   const zkr_barrier_opts &opts = ZKR_BARRIER_OPTS_INIT)
    {
        make(zkr_double_barrier_new, of, path, members, &opts);
    }

    /** As in barrier.h; false when not all have come, or left, in time. @{ */
    bool enter_for(timeout t) { return in_time(zkr_double_barrier_enter, t); }
    bool leave_for(timeout t) { return in_time(zkr_double_barrier_leave, t); }
    const char *path() const noexcept { return zkr_double_barrier_path(get()); }
    /** @} */
};

/** A fence, which needs no session; see fence.h. */
class fence : public detail::handle<zkr_fence, zkr_fence_free> {
public:
    /** In memory, or in the file of the options. */
    explicit fence(const zkr_fence_opts &opts = ZKR_FENCE_OPTS_INIT)
    {
        make(zkr_fence_new, &opts);
    }

    /** Throw ZKR_ESTALE for the token of an older holder. @{ */
    void accept(std::int64_t token, std::uint64_t handoff = 0)
    {
        run(zkr_fence_accept, token, handoff);
    }
    void accept_shared(std::int64_t token)
    {
        run(zkr_fence_accept_shared, token);
    }
    /** @} */
    /** The highest token seen. */
    auto highest() const { return ask<std::int64_t>(zkr_fence_highest, *this); }
};

/** A section of a fence: begun when it is made, ended with it, on one thread. */
class fence_section : public detail::handle<zkr_fence, zkr_fence_end> {
public:
    /** Throws ZKR_ESTALE; ZKR_ETIMEDOUT when others are in a section. */
    fence_section(const fence &of, std::int64_t token, std::uint64_t handoff,
                  timeout limit = timeout())
    {
        check(zkr_fence_begin(of.get(), token, handoff, limit.ms()));
        object_.reset(of.get());
    }
};

/** Who holds a lock, and who waits for it, in their order; see
 *  participants.h. */
class participants
    : public detail::object<zkr_participants, zkr_participants_list,
                            zkr_participants_free, zkr_participants_opts> {
public:
    using object::object; /**< Lists them. */

    /** Each of them. @{ */
    const zkr_participant *begin() const noexcept { return get()->items; }
    const zkr_participant *end() const noexcept { return begin() + size(); }
    std::size_t size() const noexcept { return get()->count; }
    /** @} */

    /** Asks the owner of a node to give the lock back; or, as the last resort,
     *  deletes the node, and the old holder is not stopped. @{ */
    static void revoke(const session &of, const std::string &node)
    {
        check(zkr_participants_revoke(of.get(), node.c_str()));
    }
    static void break_lock(const session &of, const std::string &node,
                           std::int64_t token, timeout limit)
    {
        check(zkr_participants_break(of.get(), node.c_str(), token,
                                     limit.ms()));
    }
    /** @} */
};

} // namespace zkr

#endif
