/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a graph of owners and locks as Graphviz reads it. */
#include "text/dot.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/escape.h"
#include "common/words.h"
#include "model/deadlock.h"
#include "text/cells.h"

void dot_begin(void)
{
    (void)puts("digraph locks {\n"
               "  rankdir=LR;\n"
               "  node [fontname=\"sans-serif\"];\n"
               "  edge [fontname=\"sans-serif\", fontsize=10];");
}

void dot_end(void)
{
    (void)puts("}");
}

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

void dot_owner(const char *id, const struct contender *c, bool bad)
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

void dot_lock(const char *id, const struct lock *lock, bool bad)
{
    char path[PATH_TEXT_MAX];

    (void)printf("  %s [shape=box, label=\"", id);
    print_text(cell_path(lock->path, path));
    (void)putchar('"');
    print_look(bad);
}

void dot_edge(const char *from, const char *to, const char *text, bool bad)
{
    (void)printf("  %s -> %s [label=\"%s\"", from, to, text);
    print_look(bad);
}

const char *dot_lock_id(const struct scan *scan, const struct lock *lock,
                        char id[DOT_ID_MAX])
{
    (void)snprintf(id, DOT_ID_MAX, "lock_%zu", (size_t)(lock - scan->locks));
    return id;
}

/* A node of no session is one of its own. */
const char *dot_owner_id(const struct scan *scan, const struct lock *lock,
                         const struct contender *c, char id[DOT_ID_MAX])
{
    if (c->node->session_id == 0)
        (void)snprintf(id, DOT_ID_MAX, "node_%zu_%zu",
                       (size_t)(lock - scan->locks), (size_t)(c - lock->items));
    else
        (void)snprintf(id, DOT_ID_MAX, "owner_%" PRIx64 "_%" PRIx64,
                       (uint64_t)c->node->session_id,
                       (uint64_t)contender_thread(c));
    return id;
}
