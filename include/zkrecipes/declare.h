/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Macros that the other headers use: the marks of functions, and the
 * initial values of options, in C11 and in every C++ since C++11.
 */
#ifndef ZKRECIPES_DECLARE_H
#define ZKRECIPES_DECLARE_H

/** Marks what the shared library exports. */
#if defined(__GNUC__)
#define ZKR_API __attribute__((visibility("default")))
#else
#define ZKR_API
#endif

/**
 * Marks a function whose result the caller must look at. All that return an
 * enum zkr_error are marked, and zkr_grant_is_held() and
 * zkr_leader_is_leader(): after an error the caller does not have what it goes
 * on with, such as a lock, an object, a write, or a callback to come. Functions
 * whose error leaves the caller nothing to do are not marked: those that end
 * something (release, leave, close, cancel, yield), zkr_grant_listen(), which
 * is also how to stop listening, and zkr_session_dispatch(), which is called
 * again anyway.
 */
#if defined(__GNUC__)
#define ZKR_MUST_CHECK __attribute__((warn_unused_result))
#else
#define ZKR_MUST_CHECK
#endif

/*
 * ZKR_..._OPTS_INIT is an option struct with the defaults of all members, and
 * with its size, which tells the library what members the caller knows of:
 *
 *     struct zkr_mutex_opts opts = ZKR_MUTEX_OPTS_INIT;
 *
 * In C it is an initializer, also of an object of static storage. C++ has no
 * designated initializers before C++20: there it is a value.
 */
#ifdef __cplusplus
/* A template is no part of extern "C", in which a program may include this. */
extern "C++" {
template <class Opts> inline Opts zkr__default_opts()
{
    Opts opts = Opts();

    opts.size = sizeof(opts);
    return opts;
}
}
#define ZKR__DEFAULT_OPTS(type) zkr__default_opts<type>()
#else
/* clang-format off */
#define ZKR__DEFAULT_OPTS(type) { .size = sizeof(type) }
/* clang-format on */
#endif

/*
 * Flags are of an enum of their own, which is that of the member that takes
 * them. They are combined with |, in C++, too.
 */
#ifdef __cplusplus
#define ZKR__FLAGS(type)                                                       \
    extern "C++" {                                                             \
    constexpr type operator|(type a, type b)                                   \
    {                                                                          \
        return static_cast<type>(static_cast<unsigned>(a) |                    \
                                 static_cast<unsigned>(b));                    \
    }                                                                          \
    inline type &operator|=(type &a, type b)                                   \
    {                                                                          \
        return a = a | b;                                                      \
    }                                                                          \
    }
#else
#define ZKR__FLAGS(type)
#endif

#endif
