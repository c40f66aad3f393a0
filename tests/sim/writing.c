/* Users who write the data that the lock protects, with guarded writes. */
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "base/error.h"
#include "choices.h"
#include "users.h"
#include "writes.h"

#define SHARED_PATH "/locks/data"

struct writing {
    const struct process *process;
    zkr_grant *grant;
    struct write *write;
    int32_t version; /* to expect */
    int64_t timeout_ms;
};

static int64_t some_timeout(void)
{
    static const int64_t timeouts[] = { 0, 3000, 200, 20, -1 };

    return timeouts[choose(5)];
}

static void on_written(int rc, const struct zkr_stat *stat, void *user)
{
    writes_told(user, rc, stat);
}

static int ask(const struct writing *w, struct zkr_stat *ret_stat)
{
    const char *path = process_sees(w->process, w->write->path);
    const char *data = w->write->data;
    size_t len = strlen(data);

    if (w->write->type == ZKR__ZK_CREATE)
        return zkr_grant_guarded_create(w->grant, path, data, len,
                                        w->timeout_ms);
    if (w->write->type == ZKR__ZK_DELETE)
        return zkr_grant_guarded_delete(w->grant, path, w->version,
                                        w->timeout_ms);
    return zkr_grant_guarded_set(w->grant, path, data, len, w->version,
                                 w->timeout_ms, ret_stat);
}

static int ask_async(const struct writing *w)
{
    const char *path = process_sees(w->process, w->write->path);
    const char *data = w->write->data;
    size_t len = strlen(data);

    if (w->write->type == ZKR__ZK_CREATE)
        return zkr_grant_guarded_create_async(
            w->grant, path, data, len, w->timeout_ms, on_written, w->write);
    if (w->write->type == ZKR__ZK_DELETE)
        return zkr_grant_guarded_delete_async(
            w->grant, path, w->version, w->timeout_ms, on_written, w->write);
    return zkr_grant_guarded_set_async(w->grant, path, data, len, w->version,
                                       w->timeout_ms, on_written, w->write);
}

static void wait_for(struct writing *w)
{
    int64_t began = sim_now;
    int64_t stopped = process_stopped_for(w->process->number);
    int64_t limit =
        w->timeout_ms == 0 ? w->process->opts.reply_timeout_ms : w->timeout_ms;
    struct zkr_stat stat = { 0 };
    int rc = ask(w, &stat);

    if (rc == ZKR_OK)
        w->version = stat.version;
    writes_told(w->write, rc, &stat);
    if (limit > 0)
        oracle_in_time("a guarded write", w->process->number, began, stopped,
                       limit * MS);
}

static void write_once(struct writing *w, const struct attempt *a,
                       enum zkr__zk_type type, const char *path)
{
    int rc;

    w->write = writes_asked(a, type, path);
    w->timeout_ms = some_timeout();
    if (choose(3) > 0) {
        wait_for(w);
        return;
    }
    rc = ask_async(w);
    if (rc != ZKR_OK)
        writes_told(w->write, rc, NULL);
}

static void refused(const struct writing *w)
{
    int rc = zkr_grant_guarded_set(w->grant, "/data", "", 0, -1, 0, NULL);

    if (rc != ZKR_EINVAL)
        world_fail("the node of an unfair mutex guards a write: %d", rc);
}

/* A node of our own: made, and most often unmade. */
static void write_own(struct writing *w, const struct attempt *a)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "%s-%d", SHARED_PATH, a->number);
    write_once(w, a, ZKR__ZK_CREATE, path);
    w->version = -1;
    if (choose(3) > 0)
        write_once(w, a, ZKR__ZK_DELETE, path);
}

void user_writes(const struct process *p, const struct attempt *a,
                 zkr_grant *grant)
{
    struct writing w = { .process = p, .grant = grant, .version = -1 };
    uint32_t sets = choose(3);

    if (world.recipe == UNFAIR) {
        refused(&w);
        return;
    }
    if (choose(3) == 0)
        write_once(&w, a, ZKR__ZK_CREATE, SHARED_PATH);
    while (sets-- > 0)
        write_once(&w, a, ZKR__ZK_SET, SHARED_PATH);
    if (one_in(4))
        write_own(&w, a);
}
