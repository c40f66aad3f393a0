/* SPDX-License-Identifier: Apache-2.0 */
/* Users who look on: they list participants, ask for a lock, and break it. */
#include "users.h"

/* A call, and the results that are allowed for it. */
struct look {
    const struct process *process;
    const char *what;
    struct call call;
    int64_t version; /* committed then */
    uint64_t answers;
};

static struct look begin(const struct process *p, const char *what)
{
    world_trace("process %d: %s", p->number, what);
    return (struct look){ p, what, oracle_begins(p->number), ensemble.committed,
                          client_answers[p->number] };
}

static void ended(const struct look *l, int rc, int64_t timeout_ms)
{
    world_trace("process %d: %s: %s", l->process->number, l->what,
                zkr_strerror(rc));
    oracle_in_time(l->what, &l->call, process_patience(l->process, timeout_ms));
    WRONG_IF(rc == ZKR_OK && client_answers[l->process->number] == l->answers,
             "%s ends well, and nobody has answered", l->what);
}

static void unexpected(const struct look *l, int rc)
{
    WRONG_IF(!ONE_OF(rc, ZKR_OK, ZKR_ECLOSED, ZKR_ENOMEM /* of a client */,
                     ZKR_ZNONODE, ZKR_EUNREACHABLE, ZKR_ZCONNECTIONLOSS) &&
                 !(rc == ZKR_ZNOAUTH && acls.denials > 0) &&
                 !(l->process->gives_up && zkr_error_is_transient(rc)),
             "%s ends with %d, %s: %s", l->what, rc, zkr_strerror(rc),
             zkr_error_detail());
}

/* A leader that the others have left gives old answers. */
static bool is_fresh(const struct look *l)
{
    return !ensemble_deserted(l->call.began);
}

static bool was_there(const struct look *l, const struct node *n)
{
    return n != NULL && n->created <= l->version && is_there(n);
}

/* --- listing --- */

static bool has_said(const struct node *n, const struct zkr_participant *p)
{
    for (const struct node_data *d = n->data; d != NULL; d = d->older) {
        if (d->len == p->full_size && memcmp(d->bytes, p->data, d->len) == 0)
            return true;
    }
    return n->data == NULL && p->full_size == 0;
}

static void check_item(const struct look *l, const struct zkr_participant *p)
{
    char path[256];

    if (p->error == ZKR_ZNOAUTH && acls.denials > 0)
        return;
    WRONG_IF(p->error != ZKR_OK, "%s cannot read %s: %s", l->what, p->name,
             zkr_strerror(p->error));
    (void)snprintf(path, sizeof(path), "%s/%s", WORLD_PATH, p->name);
    const struct node *n = oracle_node(path, p->token);
    WRONG_IF(n == NULL, "%s has %s with token %lld, which never was", l->what,
             p->name, (long long)p->token);
    WRONG_IF(n->deleted <= l->version && n->haunts == 0 && is_fresh(l),
             "%s has %s, which had gone before", l->what, n->path);
    WRONG_IF(p->session_id != n->session + 1 || !has_said(n, p),
             "%s says of %s what is not so", l->what, n->path);
}

/* The first nodes of the queue are read, as many as requested. */
static void check_items(const struct look *l,
                        const struct zkr_participants *list, uint32_t reads)
{
    size_t read = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct zkr_participant *p = &list->items[i];

        if (p->token != 0 || p->error != ZKR_OK) {
            check_item(l, p);
            read++;
        } else if (reads == 0 || read < reads) {
            world_fail("%s has not read %s", l->what, p->name);
        }
    }
}

static bool has(const struct zkr_participants *list, const struct node *n)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].name, n->name) == 0)
            return true;
    }
    return false;
}

static void check_complete(const struct look *l,
                           const struct zkr_participants *list)
{
    const struct node *dir = tree_find(WORLD_PATH, ensemble.committed);

    if (dir == NULL || !is_fresh(l))
        return;
    for (const struct node *n = dir->children; n != NULL; n = n->next_sibling) {
        WRONG_IF(was_there(l, n) && !has(list, n), "%s does not have %s",
                 l->what, n->path);
    }
}

static void list(const struct process *p)
{
    struct zkr_participants_opts opts = ZKR_PARTICIPANTS_OPTS_INIT;
    struct zkr_participants *list;
    struct look l = begin(p, "a list of participants");

    opts.flags = choose(2) == 0 ? ZKR_PARTICIPANTS_ACL : 0;
    opts.limit = one_in(4) ? 2 : 0;
    opts.timeout_ms = one_in(4) ? 300 : 0;
    opts.reads = one_in(2) ? 1 + choose(2) : 0;
    int rc = zkr_participants_list(p->session, process_sees(p, WORLD_PATH),
                                   &opts, &list);
    ended(&l, rc, opts.timeout_ms);
    unexpected(&l, rc);
    WRONG_IF(rc == ZKR_ZNONODE && is_fresh(&l) &&
                 was_there(&l, tree_find(WORLD_PATH, ensemble.committed)),
             "%s does not find %s", l.what, WORLD_PATH);
    if (rc != ZKR_OK)
        return;
    check_items(&l, list, opts.reads);
    if (opts.limit == 0)
        check_complete(&l, list);
    zkr_participants_free(list);
}

/* --- asking for it back, and breaking it --- */

static void revoke(const struct process *p)
{
    const struct node *n = world_lock_node();
    struct look l = begin(p, "a request to give back");

    if (n == NULL)
        return;
    int rc = zkr_participants_revoke(p->session, process_sees(p, n->path));
    ended(&l, rc, 0);
    if (rc != ZKR_EPATH && rc != ZKR_EUNKNOWN)
        unexpected(&l, rc);
    WRONG_IF(rc == ZKR_ZNONODE && was_there(&l, n), "%s does not find %s",
             l.what, n->path);
    WRONG_IF(rc == ZKR_OK &&
                 !oracle_was_written(n->path, "__REVOKE__", l.version),
             "%s has not written to %s", l.what, n->path);
}

static void break_one(const struct process *p)
{
    const struct node *n = world_lock_node();
    uint32_t timeout_ms = one_in(4) ? 300 : 0;
    struct look l = begin(p, "a break");

    if (n == NULL)
        return;
    int64_t token = n->czxid - one_in(6);
    world_trace("process %d: breaks %s", p->number, n->path);
    deletes_break(p->number, n->path, token);
    int rc = zkr_participants_break(p->session, process_sees(p, n->path), token,
                                    timeout_ms);
    ended(&l, rc, timeout_ms);
    if (rc == ZKR_EPATH && n->session == NO_SESSION)
        return;
    WRONG_IF(rc == ZKR_OK && (token != n->czxid || is_there(n)),
             "%s of %s has done nothing", l.what, n->path);
    WRONG_IF(rc == ZKR_ZNONODE && was_there(&l, n) && is_fresh(&l),
             "%s does not find %s", l.what, n->path);
    WRONG_IF(rc == ZKR_ENOTHELD && token == n->czxid && is_there(n) &&
                 is_fresh(&l),
             "%s takes %s for another", l.what, n->path);
    if (rc != ZKR_ENOTHELD && rc != ZKR_EUNKNOWN)
        unexpected(&l, rc);
}

void user_looks_on(const struct process *p)
{
    static void (*const ways[])(const struct process *) = { list, revoke,
                                                            break_one };

    if (!p->closed && world.recipe != SEMAPHORE)
        ways[choose(3)](p);
}
