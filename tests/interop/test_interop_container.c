/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of kazoo with directories that the server removes when they are
 * empty. */
#include "pair.h"

/* We acquire first, so that the directory is a container. kazoo queues before
 * we release: the server would remove an empty directory under its first
 * acquire. */
static struct duo use_by_turns(const struct side *ours,
                               const struct side *theirs)
{
    struct duo d = duo_on_new_path("mutex", ours, theirs);

    worker_acquire(d.holder, "write");
    acquire_behind(d.other, "write", d.path, d.holder->node);
    worker_do(d.holder, "released", "release write");
    worker_expect_held(d.other);
    worker_do(d.other, "released", "release write");
    return d;
}

/* kazoo #563 */
TEST(kazoo_lock_object_does_not_outlive_a_container)
{
    struct duo d = use_by_turns(&c.writer, &kazoo_subclass.writer);

    AWAIT(admin_exists(admin, d.path, NULL) == ZNONODE);
    worker_do(d.other, "failed: NoNodeError", "again write %d", SOON_MS);
    worker_acquire(d.other, "write"); /* a new object */
    worker_do(d.other, "released", "release write");
}

TEST(kazoo_lock_object_outlives_our_kazoo_layout)
{
    struct duo d = use_by_turns(&c_for_kazoo.writer, &kazoo_as_is.writer);
    const char *empty = new_path();

    /* A container that is created now goes when the server looks next. */
    worker_do(d.holder, "lock", "lock mutex curator %s", empty);
    worker_acquire(d.holder, "write");
    worker_do(d.holder, "released", "release write");
    AWAIT(admin_exists(admin, empty, NULL) == ZNONODE);
    worker_do(d.other, "held ", "again write %d", SOON_MS);
    worker_do(d.other, "released", "release write");
}

int main(void)
{
    static const char *const java_opts[] = {
        "-Dznode.container.checkIntervalMs=100", NULL
    };
    const struct server_opts opts = { .java_opts = java_opts };

    return workers_installed() ? run_with_server(&opts, run_pairs) : 77;
}
