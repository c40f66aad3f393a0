/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of kazoo with directories that the server removes when empty. */
#include "pair.h"

/* We acquire first, so that the directory is a container. kazoo queues before
 * we release: the server would remove an empty directory under its first
 * acquire. */
static void use_by_turns(const struct client *ours, const struct client *theirs)
{
    cast_on_new_path("mutex", ours, theirs);
    play("a acquire write = held, b acquire write, b watches a, "
         "a release write = released, b = held, b release write = released");
}

/* kazoo #563 */
TEST(kazoo_lock_object_does_not_outlive_a_container)
{
    use_by_turns(&c, &kazoo_subclass);
    AWAIT(admin_exists(admin, stage, NULL) == ZNONODE);
    /* and then a new object */
    play("b again write %d = failed: NoNodeError, b acquire write = held, "
         "b release write = released",
         SOON_MS);
}

TEST(kazoo_lock_object_outlives_our_kazoo_layout)
{
    use_by_turns(&c_for_kazoo, &kazoo_as_is);
    const char *empty = new_path();
    /* A container that is created now goes when the server looks next. */
    play("a lock mutex curator %s = lock, a acquire write = held, "
         "a release write = released",
         empty);
    AWAIT(admin_exists(admin, empty, NULL) == ZNONODE);
    play("b again write %d = held, b release write = released", SOON_MS);
}

int main(void)
{
    return workers_installed() ? run_with_server(&quick_containers, run_pairs)
                               : 77;
}
