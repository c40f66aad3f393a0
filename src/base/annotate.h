/* SPDX-License-Identifier: Apache-2.0 */
/* Annotations of locks for clang, so that -Wthread-safety proves that they are
 * held; other compilers do not see them. */
#ifndef ZKR__ANNOTATE_H
#define ZKR__ANNOTATE_H

#if defined(__clang__)
#define ZKR__CLANG(attribute) __attribute__((attribute))
#else
#define ZKR__CLANG(attribute)
#endif

/* A type whose objects are locks. */
#define ZKR__CAPABILITY(name) ZKR__CLANG(capability(name))

/* The function takes the lock, lets go of it, needs it, or has made sure at run
 * time that it is held. */
#define ZKR__ACQUIRES(lock) ZKR__CLANG(acquire_capability(lock))
#define ZKR__RELEASES(lock) ZKR__CLANG(release_capability(lock))
#define ZKR__REQUIRES(lock) ZKR__CLANG(requires_capability(lock))
#define ZKR__ASSERTS(lock)  ZKR__CLANG(assert_capability(lock))

/* The function implements a lock with calls that clang does not know, so clang
 * does not look into it. */
#define ZKR__NO_ANALYSIS ZKR__CLANG(no_thread_safety_analysis)

#endif
