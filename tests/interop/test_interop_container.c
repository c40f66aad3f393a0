/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of kazoo with directories that the server removes when they are
 * empty. */
#include "clients.h"

/* We acquire first, so that the directory is a container. kazoo queues before
 * we release: the server would remove an empty directory under its first
 * acquire. */
static const char *use_by_turns(const struct side *ours,
                                const struct side *theirs,
                                struct worker **ret_kazoo)
{
    struct worker *us;
    const char *path = pair_on_new_path("mutex", ours, theirs, &us, ret_kazoo);

    worker_acquire(us, "write");
    acquire_behind(*ret_kazoo, "write", path, us->node);
    worker_do(us, "released", "release write");
    worker_expect_held(*ret_kazoo);
    worker_do(*ret_kazoo, "released", "release write");
    return path;
}

static void await_gone(const char *path)
{
    if (!COMES(admin_exists(admin, path, NULL) == ZNONODE, SOON_MS))
        fail_msg("%s stays", path);
}

/* kazoo #563 */
TEST(kazoo_lock_object_does_not_outlive_a_container)
{
    struct worker *kazoo;

    await_gone(use_by_turns(&c.writer, &kazoo_subclass.writer, &kazoo));
    worker_do(kazoo, "failed: NoNodeError", "again write %d", SOON_MS);
    worker_acquire(kazoo, "write"); /* a new object */
    worker_do(kazoo, "released", "release write");
}

TEST(kazoo_lock_object_outlives_our_kazoo_layout)
{
    struct worker *kazoo;
    struct worker *us = worker_of(KIND_C, 0);

    (void)use_by_turns(&c_for_kazoo.writer, &kazoo_as_is.writer, &kazoo);
    /* A container that is created now goes when the server looks next. */
    const char *empty = new_path();
    worker_do(us, "lock", "lock mutex curator %s", empty);
    worker_acquire(us, "write");
    worker_do(us, "released", "release write");
    await_gone(empty);
    worker_do(kazoo, "held ", "again write %d", SOON_MS);
    worker_do(kazoo, "released", "release write");
}

int main(void)
{
    static const char *const java_opts[] = {
        "-Dznode.container.checkIntervalMs=100", NULL
    };
    const struct server_opts opts = { .java_opts = java_opts };

    return workers_installed() ? run_with_server(&opts, run_pairs) : 77;
}
