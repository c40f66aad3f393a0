/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a graph of owners and locks as Graphviz reads it. */
#include "text/dot.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/escape.h"
#include "common/words.h"
#include "text/lock_fields.h"

/* Ids are of bytes that are safe in DOT; what has the same is one node. */
enum { ID_MAX = 64 };

/* Escaped text: in DOT, a backslash begins an escape of its own, and a quote
 * ends the string. */
static void print_text(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            (void)putchar('\\');
        (void)putchar(*text);
    }
}

static void print_look(bool bad)
{
    (void)puts(bad ? ", color=red, penwidth=2];" : "];");
}

static void print_owner(const char *id, const struct contender *c, bool bad)
{
    char who[WHO_MAX];
    char session[WORD_MAX];
    char label[ZKR_LABEL_MAX * 4 + 1];

    (void)printf("  %s [shape=ellipse, label=\"", id);
    print_text(contender_who(c, who));
    if (c->owner.is_record && c->owner.label[0] != '\0') {
        (void)escape_string(c->owner.label, label, sizeof(label));
        (void)fputs("\\n", stdout);
        print_text(label);
    }
    if (c->node->session_id != 0)
        (void)printf("\\nsession %s", word_id(c->node->session_id, session));
    (void)putchar('"');
    print_look(bad);
}

static void print_lock(const char *id, const struct lock *lock)
{
    char path[PATH_TEXT_MAX];

    (void)printf("  %s [shape=box, label=\"", id);
    print_text(cell_path(lock->path, path));
    (void)puts("\"];");
}

static void print_edge(const char *from, const char *to, const char *text,
                       bool bad)
{
    (void)printf("  %s -> %s [label=\"%s\"", from, to, text);
    print_look(bad);
}

/* A node of no session is one of its own. */
static const char *owner_id(const struct scan *scan, const struct lock *lock,
                            const struct contender *c, char id[ID_MAX])
{
    if (c->node->session_id == 0)
        (void)snprintf(id, ID_MAX, "node_%zu_%zu", (size_t)(lock - scan->locks),
                       (size_t)(c - lock->items));
    else
        (void)snprintf(id, ID_MAX, "owner_%" PRIx64 "_%" PRIx64,
                       (uint64_t)c->node->session_id,
                       (uint64_t)contender_thread(c));
    return id;
}

/* --- the graph --- */

/* A member of a deadlock holds or waits with it: it is red. */
static bool is_bad(const struct deadlocks *all, const struct contender *c)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct deadlock *d = &all->items[i];

        for (size_t k = 0; k < d->count; k++) {
            if (d->members[k].waits == c || d->members[k].held == c)
                return true;
        }
    }
    return false;
}

/* One owner and one lock: it holds it, or waits for it. A node of the graph
 * that was red stays it when it is named again. */
static void print_contender(const struct scan *scan, const struct lock *lock,
                            const struct contender *c, const char *lock_id,
                            bool bad)
{
    char text[WORD_MAX];
    char id[ID_MAX];

    print_owner(owner_id(scan, lock, c, id), c, bad);
    if (bad)
        (void)printf("  %s [color=red, penwidth=2];\n", lock_id);
    if (c->node->holds) {
        print_edge(lock_id, id, "held by", bad);
        return;
    }
    (void)snprintf(text, sizeof(text), "waits, position %zu",
                   (size_t)(c - lock->items));
    print_edge(id, lock_id, text, bad);
}

/* A run inside of a session that waits. */
static void print_ties(const struct scan *scan, const struct deadlock *d)
{
    char outer[ID_MAX];
    char inner[ID_MAX];

    for (size_t k = 0; k < d->count; k++) {
        const struct deadlock_member *m = &d->members[k];

        if (deadlock_is_nested(m))
            print_edge(owner_id(scan, m->held_lock, m->held, outer),
                       owner_id(scan, m->waits_lock, m->waits, inner), "runs",
                       true);
    }
}

void dot_print(const struct scan *scan, const struct deadlocks *all)
{
    (void)puts("digraph locks {\n"
               "  rankdir=LR;\n"
               "  node [fontname=\"sans-serif\"];\n"
               "  edge [fontname=\"sans-serif\", fontsize=10];");
    for (size_t i = 0; i < scan->count; i++) {
        const struct lock *lock = &scan->locks[i];
        char id[ID_MAX];

        (void)snprintf(id, sizeof(id), "lock_%zu", i);
        print_lock(id, lock);
        for (size_t k = 0; k < lock->count; k++) {
            const struct contender *c = &lock->items[k];

            if (!contender_is_promised(c))
                print_contender(scan, lock, c, id, is_bad(all, c));
        }
    }
    for (size_t i = 0; i < all->count; i++)
        print_ties(scan, &all->items[i]);
    (void)puts("}");
}
