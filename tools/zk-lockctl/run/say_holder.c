/* SPDX-License-Identifier: Apache-2.0 */
/* Says in one line who holds the lock while we wait. */
#include "run/run.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/escape.h"
#include "protocol/dialect.h"
#include "protocol/owner.h"

/* The holder is read, and some of those behind it: so it is known whether we
 * are among them. */
enum { ANSWER_MS = 1000, SHOWN = 64, READS = 4, NAMES = 100000 };

struct text {
    char bytes[512];
};

static void add(struct text *t, const char *before, const char *bytes,
                size_t len, const char *after)
{
    char clean[SHOWN + 1];
    size_t used = strlen(t->bytes);

    (void)escape_text(bytes, len, clean, sizeof(clean));
    (void)snprintf(t->bytes + used, sizeof(t->bytes) - used, "%s%s%s", before,
                   clean, after);
}

/* "HOST:PID (PROGRAM, "LABEL")" */
static void add_owner(struct text *t, const struct zkr__known_owner *owner)
{
    const char *before = " (";
    char number[32];

    (void)snprintf(number, sizeof(number), ":%lld", (long long)owner->pid);
    add(t, "", owner->host, strlen(owner->host), number);
    if (owner->program[0] != '\0') {
        add(t, before, owner->program, strlen(owner->program), "");
        before = ", ";
    }
    if (owner->label[0] != '\0') {
        add(t, before, "", 0, "\"");
        add(t, "", owner->label, strlen(owner->label), "\"");
    }
    if (owner->program[0] != '\0' || owner->label[0] != '\0')
        add(t, "", "", 0, ")");
}

/* No server will ever remove it. */
static bool is_of_no_session(const struct zkr_participant *p)
{
    return p->token != 0 && p->session_id == 0;
}

static void add_node(struct text *t, const struct zkr_participant *p)
{
    char session[32];

    (void)snprintf(session, sizeof(session), "session 0x%llx",
                   (unsigned long long)p->session_id);
    if (is_of_no_session(p))
        add(t, "the node ", p->name, strlen(p->name), "");
    else
        add(t, "", session, strlen(session), "");
}

static void add_holder(struct text *t, const struct zkr_participant *p)
{
    struct zkr__known_owner owner;

    zkr__owner_read(&owner, p->data, p->data_size);
    if (owner.is_record)
        add_owner(t, &owner);
    else
        add_node(t, p);
    if (is_of_no_session(p))
        add(t, "", "", 0,
            " (a node without a session, which does not end by itself)");
    if (owner.is_asked)
        add(t, "", "", 0, ", which was asked to release");
    else if (!owner.is_record && p->data_size > 0)
        add(t, " \"", p->data, p->data_size, "\"");
}

static int64_t age_s(const struct zkr_participant *p)
{
    struct timespec ts;
    int64_t age;

    (void)clock_gettime(CLOCK_REALTIME, &ts);
    age = (int64_t)ts.tv_sec - p->since_ms / 1000;
    return age < 0 ? 0 : age; /* the clocks of the servers may be ahead */
}

/* Semaphores, whose nodes are a level below, and other locks on one path do not
 * exclude each other. */
static bool is_in_way(const struct zkr_participant *p, enum claim_kind kind)
{
    return p->kind != ZKR_PARTICIPANT_FOREIGN &&
           (strchr(p->name, '/') != NULL) == (kind == CLAIM_SEMAPHORE);
}

/* Who waits for a lease may have made it already: it is counted by its turn. */
static bool waits(const struct zkr_participant *p)
{
    return !p->holds && !zkr__is_lease(p);
}

/* 0 also when one of them is our own: that lock is not the one we wait for. */
static size_t holders_of(const struct lockctl *ctl,
                         const struct zkr_participants *list,
                         enum claim_kind kind,
                         const struct zkr_participant **ret_first)
{
    int64_t session = zkr_session_id(ctl->session);
    size_t holders = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct zkr_participant *p = &list->items[i];

        if (!p->holds || !is_in_way(p, kind))
            continue;
        if (p->session_id == session)
            return 0;
        if (holders++ == 0)
            *ret_first = p;
    }
    return holders;
}

/* "2 waiting before us", before the first of our session. Of those who were not
 * read nobody knows whether it is us; without a node of ours all are before. */
static void write_waiting(const struct lockctl *ctl,
                          const struct zkr_participants *list,
                          enum claim_kind kind, char *text, size_t size)
{
    int64_t session = zkr_session_id(ctl->session);
    size_t waiting = 0;
    bool met = false;
    bool unread = false;

    for (size_t i = 0; i < list->count && !met; i++) {
        const struct zkr_participant *p = &list->items[i];

        if (!is_in_way(p, kind))
            continue;
        met = p->session_id == session;
        unread = unread || (p->token == 0 && p->error == ZKR_OK);
        waiting += !met && waits(p);
    }
    (void)snprintf(text, size, "%zu waiting%s", waiting,
                   unread ? "" : " before us");
}

static void say(struct lockctl *ctl, const char *path, enum claim_kind kind,
                const char *what, const struct zkr_participants *list,
                size_t holders, const struct zkr_participant *first)
{
    struct text holder = { "" };
    struct text name = { "" };
    char waiting[64];

    write_waiting(ctl, list, kind, waiting, sizeof(waiting));
    add(&name, "", path, strlen(path), "");
    add_holder(&holder, first);
    if (holders > 1) {
        char more[32];

        (void)snprintf(more, sizeof(more), " and %zu more", holders - 1);
        add(&holder, "", more, strlen(more), "");
    }
    lockctl_say(ctl, "%s: %s is held by %s, queued %llds ago; %s", what,
                name.bytes, holder.bytes, (long long)age_s(first), waiting);
}

static enum run_holder say_holder_of(struct lockctl *ctl, const char *path,
                                     enum claim_kind kind, const char *what,
                                     int64_t *said)
{
    struct zkr_participants_opts opts = ZKR_PARTICIPANTS_OPTS_INIT;
    struct zkr_participants *list = NULL;
    const struct zkr_participant *first = NULL;
    size_t holders;
    int rc;

    opts.timeout_ms = ANSWER_MS;
    opts.limit = NAMES;
    opts.reads = READS;
    rc = zkr_participants_list(ctl->session, path, &opts, &list);
    if (rc != ZKR_OK)
        return zkr_error_is_transient(rc) ? HOLDER_SILENT : HOLDER_NONE;
    holders = holders_of(ctl, list, kind, &first);
    if (holders > 0 && first->token != *said)
        say(ctl, path, kind, what, list, holders, first);
    if (holders > 0)
        *said = first->token;
    zkr_participants_free(list);
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
