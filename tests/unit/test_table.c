/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the hash table: it finds what is in it, also when it has grown, when
 * hashes are equal, and when there was no memory for more rows. */
#include <stdbool.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/table.h"
#include "unit.h"

enum { ITEMS = 1000, HASHES = 400 };

struct item {
    struct zkr__entry entry;
    bool seen;
};

static struct item items[ITEMS];
static bool no_memory;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
    return no_memory ? NULL : __real_calloc(count, size);
}

/* Several items have the same hash, and more have it in their last bits. */
static uint64_t hash_of(size_t i)
{
    return (uint64_t)(i % HASHES) << 3;
}

static bool has(const struct zkr__table *table, size_t i)
{
    struct zkr__entry *e = zkr__table_find(table, hash_of(i));

    while (e != NULL && e != &items[i].entry)
        e = zkr__table_find_after(e);
    return e != NULL;
}

static size_t count_all(const struct zkr__table *table)
{
    struct zkr__entry *e = NULL;
    size_t count = 0;

    for (size_t i = 0; i < ITEMS; i++)
        items[i].seen = false;
    while ((e = zkr__table_next(table, e)) != NULL) {
        struct item *item = ZKR__CONTAINER(e, struct item, entry);

        assert_false(item->seen);
        item->seen = true;
        count++;
    }
    return count;
}

static void fill_and_empty(void)
{
    struct zkr__table table = { .count = 0 };

    assert_null(zkr__table_find(&table, 0));
    assert_null(zkr__table_next(&table, NULL));
    for (size_t i = 0; i < ITEMS; i++) {
        assert_false(has(&table, i));
        zkr__table_add(&table, &items[i].entry, hash_of(i));
        assert_true(has(&table, i));
    }
    assert_int_equal(count_all(&table), ITEMS);
    for (size_t i = 0; i < ITEMS; i += 2) {
        zkr__table_remove(&table, &items[i].entry);
        assert_false(has(&table, i));
        assert_true(has(&table, i + 1));
    }
    assert_int_equal(count_all(&table), ITEMS / 2);
    for (size_t i = 1; i < ITEMS; i += 2)
        zkr__table_remove(&table, &items[i].entry);
    assert_int_equal(count_all(&table), 0);
    zkr__table_done(&table);
}

TEST(finds_what_is_in_it)
{
    fill_and_empty();
}

TEST(needs_no_memory)
{
    no_memory = true;
    fill_and_empty();
    no_memory = false;
}

/* A chain with all items would make each of them slower than the one before. */
TEST(grows_with_what_is_in_it)
{
    struct zkr__table table = { .count = 0 };

    for (size_t i = 0; i < ITEMS; i++)
        zkr__table_add(&table, &items[i].entry, i);
    assert_true(table.last + 1 >= ITEMS);
    for (size_t i = 0; i < ITEMS; i++)
        zkr__table_remove(&table, &items[i].entry);
    zkr__table_done(&table);
}
