/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the runs around ours: in "zk-lockctl run A zk-lockctl run B COMMAND"
 * the inner run has the sessions of all outer ones in its environment. Pure. */
#include "run/nested.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct nested *n, int64_t session)
{
    if (n->count == NESTED_MAX) {
        n->count--;
        (void)memmove(n->sessions, n->sessions + 1,
                      n->count * sizeof(n->sessions[0]));
    }
    n->sessions[n->count++] = session;
}

/* "0x", up to 16 digits, and a blank or the end. Where it ends; NULL when it is
 * none. */
static const char *read_one(const char *text, int64_t *ret_session)
{
    size_t digits;

    if (strncmp(text, "0x", 2) != 0)
        return NULL;
    digits = strspn(text + 2, "0123456789abcdef");
    *ret_session = (int64_t)strtoull(text, NULL, 16);
    text += 2 + digits;
    if (digits == 0 || digits > 16 || (*text != ' ' && *text != '\0'))
        return NULL;
    return *text == ' ' ? text + 1 : text;
}

void nested_read(struct nested *n, const char *text)
{
    n->count = 0;
    while (text != NULL && text[0] != '\0') {
        int64_t session;

        text = read_one(text, &session);
        if (text == NULL || session == 0)
            n->count = 0;
        else
            add(n, session);
    }
}

void nested_remove(struct nested *n, int64_t session)
{
    size_t kept = 0;

    for (size_t i = 0; i < n->count; i++) {
        if (n->sessions[i] != session)
            n->sessions[kept++] = n->sessions[i];
    }
    n->count = kept;
}

void nested_write(const struct nested *n, int64_t session,
                  char text[NESTED_TEXT_MAX])
{
    struct nested all = *n;
    size_t used = 0;

    add(&all, session);
    for (size_t i = 0; i < all.count; i++)
        used += (size_t)snprintf(text + used, NESTED_TEXT_MAX - used,
                                 "%s0x%llx", i == 0 ? "" : " ",
                                 (unsigned long long)all.sessions[i]);
}

int64_t nested_innermost(const struct nested *n)
{
    return n->count == 0 ? 0 : n->sessions[n->count - 1];
}

static bool is_around(const struct nested *n, const struct zkr_participant *p)
{
    for (size_t i = 0; i < n->count; i++) {
        if (n->sessions[i] == p->session_id)
            return true;
    }
    return false;
}

/* A reader joins readers, unless a writer stands between them. */
static bool joins(const struct zkr_participants *list, size_t from)
{
    for (size_t i = from; i < list->count; i++) {
        if (list->items[i].kind == ZKR_PARTICIPANT_EXCLUSIVE &&
            zkr__is_seen(&list->items[i], ZKR__KIND_RW))
            return false;
    }
    return true;
}

static const struct zkr_participant *
waits_for_leases(const struct nested *n, const struct zkr_participants *list,
                 uint32_t slots)
{
    const struct zkr_participant *first = NULL;
    uint32_t held = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct zkr_participant *p = &list->items[i];

        if (!zkr__is_lease(p) || !p->holds || !is_around(n, p))
            continue;
        if (held++ == 0)
            first = p;
    }
    return held >= slots ? first : NULL;
}

static const struct zkr_participant *
waits_in_queue(const struct nested *n, const struct zkr_participants *list,
               enum claim_kind kind)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct zkr_participant *p = &list->items[i];

        if (zkr__is_seen(p, claim_kinds[kind].lock) && is_around(n, p) &&
            (kind != CLAIM_READ || !joins(list, i)))
            return p;
    }
    return NULL;
}

const struct zkr_participant *
nested_waits_for(const struct nested *n, const struct zkr_participants *list,
                 const struct wanted *wanted)
{
    return wanted->kind == CLAIM_SEMAPHORE
               ? waits_for_leases(n, list, wanted->slots)
               : waits_in_queue(n, list, wanted->kind);
}
