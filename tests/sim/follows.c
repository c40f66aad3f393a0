/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of watches that last: what each has told must be so in the end. */
#include "oracle.h"

/* A watch, and what it has told last. */
struct follow {
    struct follow *next;
    const struct process *process;
    const char *path;
    enum zkr_watch_what what;
    zkr_watch *watch;
    int ends_at; /* that call frees it; 0: none does */
    int calls;
    bool inside;
    bool ended;
    uint64_t epoch; /* of the first call, or of the last that was a gap */
    int error;
    struct zkr_stat stat;
    size_t count;
    uint64_t names; /* a sum, because they come in no order */
};

static OF_SCHEDULE struct follow *all;

static uint64_t sum_of(const char *const *names, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t h = 5381;

        for (const char *c = names[i]; *c != '\0'; c++)
            h = h * 33 + (unsigned char)*c;
        sum += h;
    }
    return sum;
}

/* -- one call -------------------------------------------------------------- */

/* A session sees no older state than before. Nor does a new one: it began with
 * a transaction, which its server has seen. */
static bool goes_back(const struct zkr_stat *old, const struct zkr_stat *s)
{
    return s->czxid < old->czxid ||
           (s->czxid == old->czxid &&
            (s->mzxid < old->mzxid || s->pzxid < old->pzxid));
}

static void judge_and_note(struct follow *f, int error,
                           const struct zkr_reply *reply,
                           enum zkr_watch_why why)
{
    WRONG_IF(f->ended, "a watch on %s tells after it was freed", f->path);
    WRONG_IF((f->calls == 0) != (why == ZKR_WATCH_FIRST),
             "call %d of a watch on %s says %d", f->calls, f->path, (int)why);
    WRONG_IF((error == ZKR_OK) != (reply != NULL),
             "a watch on %s tells %d, and a reply or none", f->path, error);
    WRONG_IF(error == ZKR_OK && f->error == ZKR_OK &&
                 goes_back(&f->stat, &reply->stat),
             "a watch on %s goes back", f->path);
    if (why != ZKR_WATCH_CHANGED)
        f->epoch = zkr_session_epoch(f->process->session);
    f->calls++;
    f->error = error;
    if (reply == NULL)
        return;
    f->stat = reply->stat;
    f->count = reply->count;
    f->names = sum_of(reply->names, reply->count);
}

static void end(struct follow *f)
{
    zkr_watch *watch = f->watch;

    f->watch = NULL;
    zkr_watch_free(watch);
    f->ended = true;
}

static void on_watch(int error, const struct zkr_reply *reply,
                     enum zkr_watch_why why, void *user)
{
    struct follow *f = user;

    judge_and_note(f, error, reply, why);
    f->inside = true;
    if (one_in(4))
        fiber_yield();
    if (f->calls == f->ends_at && f->watch != NULL)
        end(f);
    f->inside = false;
}

/* -- users ----------------------------------------------------------------- */

void user_follows(struct process *p)
{
    struct follow *f;

    if (choose(3) == 0) {
        f = FIRST(w, all, w->process == p && w->watch != NULL && one_in(2));
        if (f != NULL)
            end(f);
        WRONG_IF(f != NULL && f->inside,
                 "a watch on %s is freed under its callback", f->path);
        return;
    }
    f = ARENA_NEW(struct follow, .next = all, .process = p);
    f->path = DRAW(char *, WORLD_PATH, "/locks/data");
    f->what = (enum zkr_watch_what)(1 + choose(3));
    f->ends_at = one_in(4) ? 1 + (int)choose(3) : 0;
    all = f;
    int rc = zkr_session_watch(p->session, process_sees(p, f->path), f->what,
                               NULL, on_watch, f, &f->watch);
    WRONG_IF(rc != ZKR_OK && rc != ZKR_ENOMEM && rc != ZKR_ECLOSED,
             "process %d: cannot watch: %s", p->number, zkr_error_detail());
}

void follows_end(const struct process *p)
{
    for (struct follow *f = all; f != NULL; f = f->next) {
        if (f->process == p && f->watch != NULL)
            end(f);
    }
}

/* -- the end --------------------------------------------------------------- */

static bool has_names(const struct follow *f, const struct node *n, int replica,
                      int64_t version)
{
    uint64_t names = 0;
    size_t count = 0;

    for (const struct node *c = n->children; c != NULL; c = c->next_sibling) {
        if (!tree_shows(c, replica, version))
            continue;
        count++;
        names += sum_of(&c->name, 1);
    }
    return count == f->count && names == f->names;
}

static bool agrees(const struct follow *f)
{
    int process = f->process->number;
    int replica = client_replica(process);

    if (client_knows(process) != CLIENT_IS_CONNECTED || replica == NO_REPLICA ||
        f->epoch != zkr_session_epoch(f->process->session))
        return false;
    int64_t version = ensemble.replicas[replica].applied;
    const struct node *n = tree_find_shown(f->path, replica, version);
    if (f->calls == 0 || n == NULL)
        return f->calls != 0 && f->error == ZKR_ZNONODE;
    if (f->error != ZKR_OK || f->stat.czxid != n->czxid)
        return false;
    if (f->what == ZKR_WATCH_DATA)
        return f->stat.version == tree_data(n, version)->number;
    return f->what == ZKR_WATCH_EXISTS || world.ghosts > 0 ||
           has_names(f, n, replica, version);
}

bool follows_agree(bool must)
{
    const struct follow *f =
        FIRST(w, all, w->watch != NULL && !w->process->closed && !agrees(w));

    WRONG_IF(f != NULL && must,
             "process %d: a watch of kind %d on %s has told %d, version %d, "
             "%zu names, in %d calls, and that is not so",
             f->process->number, (int)f->what, f->path, f->error,
             (int)f->stat.version, f->count, f->calls);
    return f == NULL;
}
