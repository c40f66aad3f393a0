/* SPDX-License-Identifier: Apache-2.0 */
/* An intrusive, doubly linked, circular list. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct zkr__list {
    struct zkr__list *next;
    struct zkr__list *prev;
};

#define ZKR__CONTAINER(ptr, type, member)                                      \
    ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

static inline void zkr__list_init(struct zkr__list *l)
{
    l->next = l->prev = l;
}

static inline bool zkr__list_empty(const struct zkr__list *l)
{
    return l->next == l;
}

static inline void zkr__list_append(struct zkr__list *l, struct zkr__list *item)
{
    item->prev = l->prev;
    item->next = l;
    l->prev->next = item;
    l->prev = item;
}

/* Leaves the item as a list of its own, so that removing twice is harmless. */
static inline void zkr__list_remove(struct zkr__list *item)
{
    item->prev->next = item->next;
    item->next->prev = item->prev;
    zkr__list_init(item);
}

static inline struct zkr__list *zkr__list_pop(struct zkr__list *l)
{
    struct zkr__list *first = l->next;

    if (zkr__list_empty(l))
        return NULL;
    zkr__list_remove(first);
    return first;
}

/* Moves all items of `from` to the end of `to`. */
static inline void zkr__list_splice(struct zkr__list *to,
                                    struct zkr__list *from)
{
    struct zkr__list *item;

    while ((item = zkr__list_pop(from)) != NULL)
        zkr__list_append(to, item);
}

/* Calls `fn` for each item that there is now. It may take out any of them, and
 * append others. */
static inline void zkr__list_each(struct zkr__list *l,
                                  void (*fn)(struct zkr__list *item, void *arg),
                                  void *arg)
{
    struct zkr__list todo;
    struct zkr__list *item;

    zkr__list_init(&todo);
    zkr__list_splice(&todo, l);
    while ((item = zkr__list_pop(&todo)) != NULL) {
        zkr__list_append(l, item);
        fn(item, arg);
    }
}
