/* SPDX-License-Identifier: Apache-2.0 */
/* Starts zk-lockctl run, for its tests. */
#pragma once

#include "look.h"

/* Runs zk-lockctl run with these arguments. A session is as short as T_MS only
 * where a test waits for its end: elsewhere a busy machine must not end it. */
#define T_MS 2000

#define START_FOR(c, timeout, hosts, ...)                                      \
    cli_start(c, LOCKCTL,                                                      \
              (const char *const[]){ "run", "--servers", hosts,                \
                                     "--session-timeout", timeout,             \
                                     __VA_ARGS__, NULL })
#define START(c, ...)                                                          \
    START_FOR(c, "20s", server_hosts(the_server), "--kill-grace", "600ms",     \
              __VA_ARGS__)

/* The same with a command that says which signals it gets; it runs. */
#define START_READY_FOR(c, ...)                                                \
    (START_FOR(c, __VA_ARGS__, COMMAND, "signals"), cli_wait_said(c, "ready"   \
                                                                     "\n"))
#define START_READY(c, ...)                                                    \
    (START(c, __VA_ARGS__, COMMAND, "signals"), cli_wait_said(c, "ready\n"))

/* Each program that includes this has its own. */
static struct cli cli;

/* The lock of a test, for FIXTURE(take_path, NULL). */
static const char *path __attribute__((unused));

static inline int take_path(void)
{
    path = new_path();
    return 0;
}

/* Programs are started with preloads.c, which does this, until
 * unsetenv("LD_PRELOAD"). */
static inline void preload(const char *what)
{
    const char *before = getenv("ASAN_OPTIONS");

    (void)setenv(
        "ASAN_OPTIONS",
        textf("%s:verify_asan_link_order=0", before != NULL ? before : ""), 1);
    (void)setenv("PRELOAD", what, 1);
    (void)setenv("LD_PRELOAD", PRELOADS, 1);
}
