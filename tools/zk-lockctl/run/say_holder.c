/* SPDX-License-Identifier: Apache-2.0 */
/* Says in one line who holds the lock while we wait. */
#include "run/run.h"

#include <stdio.h>
#include <string.h>

#include "common/escape.h"
#include "model/scan.h"

/* The holder is read, and some of those behind it: so it is known whether we
 * are among them. */
enum { ANSWER_MS = 1000, READS = 4, HOLDER_MAX = 1024 };

/* "HOST:PID PROGRAM, "LABEL"". A node of no session no server will ever
 * remove: without a record it has its name and its data. */
static void word_holder(const struct contender *c, char text[HOLDER_MAX])
{
    bool stays = c->node->token != 0 && c->node->session_id == 0;
    bool by_name = stays && !c->owner.is_record;
    char label[4 * ZKR_LABEL_MAX + 1] = "";
    char name[256] = "";
    char who[WHO_MAX];

    if (by_name) {
        (void)escape_string(c->node->name, name, sizeof(name));
        (void)escape_text(c->node->data, c->node->data_size, label,
                          sizeof(label));
    } else {
        (void)escape_string(c->owner.label, label, sizeof(label));
    }
    (void)snprintf(text, HOLDER_MAX, "%s%s%s%s%s%s",
                   by_name ? "the node " : contender_who(c, who), name,
                   label[0] == '\0' ? "" : ", \"", label,
                   label[0] == '\0' ? "" : "\"",
                   stays ? " (a node without a session, which does not end by "
                           "itself)"
                         : "");
}

/* The clocks of the servers may be ahead. */
static int64_t age_s(const struct contender *c)
{
    int64_t age_ms = clock_wall_ms() - c->node->since_ms;

    return age_ms < 0 ? 0 : age_ms / 1000;
}

/* Semaphores, whose nodes are a level below, and other locks on one path do not
 * exclude each other. */
static bool is_in_way(const struct zkr_participant *p, enum claim_kind kind)
{
    return p->kind != ZKR_PARTICIPANT_FOREIGN &&
           (strchr(p->name, '/') != NULL) == (kind == CLAIM_SEMAPHORE);
}

/* 0 also when one of them is our own: that lock is not the one we wait for. */
static size_t holders_of(const struct lockctl *ctl, const struct lock *lock,
                         enum claim_kind kind,
                         const struct contender **ret_first)
{
    int64_t session = zkr_session_id(ctl->session);
    size_t holders = 0;

    for (size_t i = 0; i < lock->count; i++) {
        const struct contender *c = &lock->items[i];

        if (!c->node->holds || !is_in_way(c->node, kind))
            continue;
        if (c->node->session_id == session)
            return 0;
        if (holders++ == 0)
            *ret_first = c;
    }
    return holders;
}

/* "2 waiting before us", before the first of our session. Of those who were not
 * read nobody knows whether it is us; without a node of ours all are before.
 * Who waits for a lease may have made it already: it is counted by its turn. */
static void write_waiting(const struct lockctl *ctl, const struct lock *lock,
                          enum claim_kind kind, char *text, size_t size)
{
    int64_t session = zkr_session_id(ctl->session);
    size_t waiting = 0;
    bool met = false;
    bool unread = false;

    for (size_t i = 0; i < lock->count && !met; i++) {
        const struct contender *c = &lock->items[i];

        if (!is_in_way(c->node, kind))
            continue;
        met = c->node->session_id == session;
        unread = unread || !node_is_read(c->node);
        waiting += !met && !c->node->holds && !zkr__is_lease(c->node);
    }
    (void)snprintf(text, size, "%zu waiting%s", waiting,
                   unread ? "" : " before us");
}

static void say(struct lockctl *ctl, const struct lock *lock,
                enum claim_kind kind, const char *what, size_t holders,
                const struct contender *first)
{
    char holder[HOLDER_MAX];
    char path[512];
    char more[32] = "";
    char waiting[64];

    write_waiting(ctl, lock, kind, waiting, sizeof(waiting));
    word_holder(first, holder);
    if (holders > 1)
        (void)snprintf(more, sizeof(more), " and %zu more", holders - 1);
    lockctl_say(ctl, "%s: %s is held by %s%s, queued %llds ago; %s", what,
                escape_string(lock->path, path, sizeof(path)), holder, more,
                (long long)age_s(first), waiting);
}

static enum run_holder say_holder_of(struct lockctl *ctl, const char *path,
                                     enum claim_kind kind, const char *what,
                                     int64_t *said)
{
    const struct contender *first = NULL;
    struct lock lock;
    size_t holders;
    int rc = lock_list(ctl->session, path, READS, ANSWER_MS, &lock);

    if (rc != ZKR_OK)
        return zkr_error_is_transient(rc) ? HOLDER_SILENT : HOLDER_NONE;
    holders = holders_of(ctl, &lock, kind, &first);
    if (holders > 0 && first->node->token != *said)
        say(ctl, &lock, kind, what, holders, first);
    if (holders > 0)
        *said = first->node->token;
    lock_done(&lock);
    return holders > 0 ? HOLDER_SAID : HOLDER_NONE;
}

enum run_holder run_say_holder(struct lockctl *ctl, const struct wanted *wanted,
                               const char *what, int64_t *said)
{
    enum run_holder found = HOLDER_NONE;

    for (size_t i = 0; !ctl->quiet && found == HOLDER_NONE && i < wanted->count;
         i++)
        found = say_holder_of(ctl, wanted->paths[i], wanted->kind, what, said);
    return found;
}
