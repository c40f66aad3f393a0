/* SPDX-License-Identifier: Apache-2.0 */
/* The list of what is wrong with locks, and the sentences for it. */
#include "model/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "common/shell.h"
#include "common/words.h"

static void free_finding(struct finding *one)
{
    free(one->path);
    free(one->node);
    free(one->what);
    free(one->cure);
}

void findings_add(struct findings *f, const char *check,
                  const struct lock *lock, const struct contender *c,
                  char *what, char *cure)
{
    struct finding one = {
        .check = check,
        .path = strdup(lock->path),
        .node = c == NULL ? NULL : strdup(c->node->name),
        .token = c == NULL ? 0 : c->node->token,
        .what = what,
        .cure = cure,
    };
    bool whole = one.path != NULL && (c == NULL || one.node != NULL) &&
                 what != NULL && cure != NULL;
    struct finding *added = whole ? GROW(f) : NULL;

    if (added != NULL) {
        *added = one;
        return;
    }
    free_finding(&one);
    f->failed = true;
}

void findings_done(struct findings *f)
{
    for (size_t i = 0; i < f->count; i++)
        free_finding(&f->items[i]);
    free(f->items);
    *f = (struct findings){ .items = NULL };
}

static int by_subject(const void *a, const void *b)
{
    const struct finding *x = a;
    const struct finding *y = b;
    int order = strcmp(x->check, y->check);

    if (order == 0)
        order = strcmp(x->path, y->path);
    if (order == 0 && x->token != y->token)
        order = x->token < y->token ? -1 : 1;
    if (order != 0 || x->node == NULL || y->node == NULL)
        return order != 0 ? order : (x->node != NULL) - (y->node != NULL);
    return strcmp(x->node, y->node);
}

void findings_keep(struct findings *f, const struct findings *before)
{
    struct finding *sorted = calloc(before->count + 1, sizeof(*sorted));
    size_t n = 0;

    if (sorted == NULL) {
        f->failed = true;
        return;
    }
    if (before->count > 0)
        memcpy(sorted, before->items, before->count * sizeof(*sorted));
    qsort(sorted, before->count, sizeof(*sorted), by_subject);
    for (size_t i = 0; i < f->count; i++) {
        if (bsearch(&f->items[i], sorted, before->count, sizeof(*sorted),
                    by_subject) != NULL) {
            struct finding kept = f->items[i];

            f->items[i] = f->items[n];
            f->items[n++] = kept;
        }
    }
    while (f->count > n)
        free_finding(&f->items[--f->count]);
    free(sorted);
}

/* --- sentences --- */

char *finding_text(const char *format, ...)
{
    char *made = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&made, format, args) < 0)
        made = NULL;
    va_end(args);
    return made;
}

char *cure_command(const char *verb, const struct lock *lock)
{
    char *word = shell_word(lock->path);
    char *made =
        word == NULL ? NULL : finding_text("zk-lockctl %s %s", verb, word);

    free(word);
    return made;
}

char *cure_break(const char *first, const struct lock *lock,
                 const struct contender *c)
{
    char verb[WORD_MAX + 32];
    char token[WORD_MAX];
    char *order;
    char *made;

    (void)snprintf(verb, sizeof(verb), "break --token %s",
                   word_token(c->node->token, token));
    order = cure_command(verb, lock);
    made = order == NULL ? NULL : finding_text("%s: %s", first, order);
    free(order);
    return made;
}
