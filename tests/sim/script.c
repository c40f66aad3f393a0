/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts: the steps of a client through the seam, which must have the same
 * results on the simulated ensemble as on a real server. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "stage.h"
#include "zk/zk.h"

#define LINES 4096

/* A client; for the seam, a session. */
struct zkr_session {
    const char *name;
    struct zkr__zk *zk;
    int64_t id; /* of its session, which the client forgets when it ends */
    char lines[65536];
    size_t len;
    int connected; /* how often */
    int lost;
    int expired;
};

struct zkr__op {
    struct zkr_session *who;
    struct zkr__zk_request request;
    char text[128];
};

struct zkr__watch {
    struct zkr_session *who;
    const char *name;
};

static struct zkr_session a = { .name = "a" };
static struct zkr_session b = { .name = "b" };
static struct zkr__watch one = { .name = "one" };
static struct zkr__watch two = { .name = "two" };
static struct zkr__watch three = { .name = "three" };
static int pending;
static int events;
static int wanted_events;
static struct zkr__acl acl;

__attribute__((format(printf, 2, 3))) static void say(struct zkr_session *who,
                                                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    who->len += (size_t)vsnprintf(who->lines + who->len,
                                  sizeof(who->lines) - who->len, format, args);
    va_end(args);
}

/* Every upcall of the seam. */

static void on_event(struct zkr_session *who, enum zkr__zk_event event)
{
    stage_lock();
    who->connected += event == ZKR__ZK_CONNECTED;
    who->lost += event == ZKR__ZK_DISCONNECTED;
    who->expired += event == ZKR__ZK_EXPIRED;
    if (event == ZKR__ZK_EXPIRED)
        say(who, "expired\n");
    stage_wake();
    stage_unlock();
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static const char *owner_of(int64_t owner)
{
    if (owner == 0)
        return "nobody";
    return owner == a.id ? "a" : owner == b.id ? "b" : "?";
}

static const struct {
    const char *name;
    bool has_stat;
} types[ZKR__ZK_TYPES] = {
    [ZKR__ZK_CREATE] = { "create", true },
    [ZKR__ZK_DELETE] = { "delete", false },
    [ZKR__ZK_EXISTS] = { "exists", true },
    [ZKR__ZK_GET] = { "get", true },
    [ZKR__ZK_SET] = { "set", true },
    [ZKR__ZK_CHILDREN] = { "children", true },
    [ZKR__ZK_SYNC] = { "sync", false },
    [ZKR__ZK_CHECK] = { "check", false },
    [ZKR__ZK_UNWATCH] = { "unwatch", false },
    [ZKR__ZK_UNWATCH_CHILDREN] = { "unwatch children", false },
};

static void on_reply(struct zkr_session *who, uintptr_t id,
                     const struct zkr__zk_reply *reply)
{
    struct zkr__op *op = (struct zkr__op *)id;
    const char *names[16];

    stage_lock();
    say(who, "%s: %d", op->text, reply->rc);
    if (reply->path != NULL)
        say(who, " %s", reply->path);
    if (types[op->request.type].has_stat && reply->rc == ZKR_OK)
        say(who, " of %s%s", owner_of(reply->stat.ephemeral_owner),
            reply->stat.czxid > 0 ? "" : ", without a czxid");
    if (reply->data_len > 0)
        say(who, " %zu bytes '%.*s'", reply->data_len,
            reply->data == NULL ? 0 : (int)reply->data_len,
            reply->data == NULL ? "" : reply->data);
    if (reply->name_count > sizeof(names) / sizeof(names[0]))
        abort();
    for (size_t i = 0; i < reply->name_count; i++)
        names[i] = reply->names[i];
    qsort(names, reply->name_count, sizeof(*names), by_name);
    for (size_t i = 0; i < reply->name_count; i++)
        say(who, " [%s]", names[i]);
    say(who, "\n");
    pending--;
    free(op);
    stage_wake();
    stage_unlock();
}

static void on_watch(struct zkr__watch *watch, bool deleted)
{
    stage_lock();
    say(watch->who, "watch %s: %s\n", watch->name,
        deleted ? "deleted" : "changed");
    events++;
    stage_wake();
    stage_unlock();
}

static const struct zkr__zk_upcalls upcalls = {
    .on_event = on_event,
    .on_reply = on_reply,
    .on_watch = on_watch,
};

/* The steps of the script. */

static bool nothing_pending(void)
{
    return pending == 0;
}

static bool enough_events(void)
{
    return events >= wanted_events;
}

static void await_events(int count)
{
    wanted_events = count;
    stage_wait(enough_events);
}

static void submit(struct zkr_session *who, struct zkr__zk_request request)
{
    struct zkr__op *op = calloc(1, sizeof(*op));

    if (op == NULL)
        abort();
    op->who = who;
    op->request = request;
    op->request.version = ZKR_ANY_VERSION;
    if (request.data == NULL)
        op->request.data = "";
    op->request.data_len = strlen(op->request.data);
    (void)snprintf(op->text, sizeof(op->text), "%s %s%s%s",
                   types[request.type].name, request.path,
                   request.watch == NULL ? "" : " watch ",
                   request.watch == NULL ? "" : request.watch->name);
    stage_lock();
    pending++;
    stage_unlock();
    int rc = zkr__zk_submit(who->zk, &op->request, (uintptr_t)op);
    if (rc == ZKR_OK)
        return;
    stage_lock();
    pending--;
    say(who, "%s: refused, %d\n", op->text, rc);
    stage_unlock();
    free(op);
}

static void send(struct zkr_session *who, enum zkr__zk_type type,
                 const char *path)
{
    submit(who, (struct zkr__zk_request){ .type = type, .path = path });
}

static void ask(struct zkr_session *who, enum zkr__zk_type type,
                const char *path)
{
    send(who, type, path);
    stage_wait(nothing_pending);
}

static void watch(struct zkr_session *who, enum zkr__zk_type type,
                  const char *path, struct zkr__watch *w)
{
    w->who = who;
    submit(who,
           (struct zkr__zk_request){ .type = type, .path = path, .watch = w });
    stage_wait(nothing_pending);
}

static void create(struct zkr_session *who, enum zkr_create_mode mode,
                   const char *path)
{
    submit(who, (struct zkr__zk_request){
                    .type = ZKR__ZK_CREATE, .mode = mode, .path = path });
    stage_wait(nothing_pending);
}

static void set(struct zkr_session *who, const char *path, const char *data)
{
    submit(who, (struct zkr__zk_request){
                    .type = ZKR__ZK_SET, .path = path, .data = data });
    stage_wait(nothing_pending);
}

/* Both of them, if there are two. */
static bool connected(void)
{
    return a.connected > 0 && (b.zk == NULL || b.connected > 0);
}

static bool b_expired(void)
{
    return b.expired > 0;
}

static bool both_lost(void)
{
    return a.lost > 0 && b.lost > 0;
}

static void open_client(struct zkr_session *who)
{
    const struct zkr__zk_config config = { .servers = stage_hosts(),
                                           .timeout_ms = 4000,
                                           .acl = &acl };

    who->connected = who->lost = who->expired = 0;
    if (zkr__zk_open(&config, &upcalls, who, &who->zk) != ZKR_OK)
        abort();
    stage_wait(connected);
    who->id = zkr__zk_session_id(who->zk);
}

static void show(const char *title)
{
    stage_lock();
    printf("== %s\n", title);
    if (a.len > 0)
        printf("a:\n%s", a.lines);
    if (b.len > 0)
        printf("b:\n%s", b.lines);
    a.len = b.len = 0;
    a.lines[0] = b.lines[0] = '\0';
    events = 0;
    stage_unlock();
}

static void numbers(void)
{
    create(&a, ZKR_CREATE_PERSISTENT, "/n");
    create(&a, ZKR_CREATE_EPHEMERAL_SEQUENTIAL, "/n/x-");
    create(&a, ZKR_CREATE_EPHEMERAL_SEQUENTIAL, "/n/y-");
    ask(&a, ZKR__ZK_DELETE, "/n/x-0000000000");
    create(&a, ZKR_CREATE_EPHEMERAL_SEQUENTIAL, "/n/x-");
    create(&a, ZKR_CREATE_EPHEMERAL, "/n/plain");
    create(&a, ZKR_CREATE_EPHEMERAL, "/n/plain");
    create(&b, ZKR_CREATE_EPHEMERAL_SEQUENTIAL, "/n/x-");
    ask(&b, ZKR__ZK_CHILDREN, "/n");
    ask(&b, ZKR__ZK_DELETE, "/n/x-0000000004");
    ask(&a, ZKR__ZK_DELETE, "/n/plain");
    ask(&a, ZKR__ZK_DELETE, "/n/x-0000000002");
    ask(&a, ZKR__ZK_DELETE, "/n");
    ask(&a, ZKR__ZK_DELETE, "/n/y-0000000001");
    ask(&a, ZKR__ZK_DELETE, "/n");
    create(&a, ZKR_CREATE_PERSISTENT, "/n");
    create(&a, ZKR_CREATE_EPHEMERAL_SEQUENTIAL, "/n/again-");
    show("numbers");
}

static void missing(void)
{
    static const enum zkr__zk_type all[] = {
        ZKR__ZK_DELETE, ZKR__ZK_EXISTS, ZKR__ZK_GET,
        ZKR__ZK_SET,    ZKR__ZK_CHECK,  ZKR__ZK_CHILDREN,
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        ask(&a, all[i], "/m/none");
    create(&a, ZKR_CREATE_EPHEMERAL_SEQUENTIAL, "/m/x-");
    create(&a, ZKR_CREATE_CONTAINER, "/m");
    create(&a, ZKR_CREATE_CONTAINER, "/m/c");
    ask(&a, ZKR__ZK_SYNC, "/m");
    ask(&a, ZKR__ZK_CHECK, "/m");
    ask(&a, ZKR__ZK_DELETE, "/m");
    create(&a, ZKR_CREATE_EPHEMERAL, "/m/c/e");
    create(&a, ZKR_CREATE_EPHEMERAL, "/m/c/e/below");
    create(&a, ZKR_CREATE_EPHEMERAL_SEQUENTIAL, "/m/c/e/below-");
    ask(&a, ZKR__ZK_DELETE, "/m/c/e");
    ask(&a, ZKR__ZK_CHILDREN, "/m/c");
    show("what is missing, and what is in the way");
}

static void contents(void)
{
    create(&a, ZKR_CREATE_EPHEMERAL, "/d");
    ask(&a, ZKR__ZK_GET, "/d");
    set(&b, "/d", "__REVOKE__");
    ask(&b, ZKR__ZK_GET, "/d");
    ask(&b, ZKR__ZK_CHILDREN, "/d");
    ask(&b, ZKR__ZK_EXISTS, "/d");
    ask(&b, ZKR__ZK_DELETE, "/d");
    ask(&a, ZKR__ZK_SYNC, "/");
    ask(&a, ZKR__ZK_GET, "/d");
    show("contents");
}

static void watches(void)
{
    watch(&a, ZKR__ZK_GET, "/w", &one);
    watch(&a, ZKR__ZK_EXISTS, "/w", &two);
    create(&b, ZKR_CREATE_PERSISTENT, "/w");
    await_events(1);
    watch(&a, ZKR__ZK_GET, "/w", &one);
    watch(&a, ZKR__ZK_EXISTS, "/w", &two);
    ask(&b, ZKR__ZK_SYNC, "/w");
    watch(&b, ZKR__ZK_GET, "/w", &three);
    set(&b, "/w", "x");
    await_events(4);
    set(&b, "/w", "y");
    ask(&a, ZKR__ZK_SYNC, "/w");
    watch(&a, ZKR__ZK_GET, "/w", &one);
    ask(&a, ZKR__ZK_DELETE, "/w"); /* the event comes before the answer */
    await_events(5);
    show("watches");
}

static void no_more_watches(void)
{
    create(&b, ZKR_CREATE_PERSISTENT, "/u");
    ask(&a, ZKR__ZK_SYNC, "/u"); /* it may read from another server */
    watch(&a, ZKR__ZK_UNWATCH, "/u", &one);
    ask(&a, ZKR__ZK_UNWATCH, "/u");
    watch(&a, ZKR__ZK_GET, "/u", &one);
    watch(&a, ZKR__ZK_GET, "/u", &two);
    watch(&a, ZKR__ZK_UNWATCH, "/u", &one);
    set(&b, "/u", "x");
    await_events(1);
    watch(&a, ZKR__ZK_GET, "/u", &one);
    ask(&a, ZKR__ZK_UNWATCH, "/u");
    ask(&b, ZKR__ZK_DELETE, "/u");
    ask(&a, ZKR__ZK_SYNC, "/u");
    ask(&a, ZKR__ZK_EXISTS, "/u");
    show("watches taken back");
}

/* A watch on the children and one on the node are two. */
static void watched_children(void)
{
    watch(&b, ZKR__ZK_CHILDREN, "/k", &one);
    create(&a, ZKR_CREATE_PERSISTENT, "/k");
    ask(&b, ZKR__ZK_SYNC, "/k");
    watch(&b, ZKR__ZK_CHILDREN, "/k", &one);
    watch(&b, ZKR__ZK_GET, "/k", &two);
    create(&a, ZKR_CREATE_EPHEMERAL, "/k/x");
    await_events(1);
    create(&a, ZKR_CREATE_EPHEMERAL, "/k/y");
    ask(&b, ZKR__ZK_SYNC, "/k");
    watch(&b, ZKR__ZK_CHILDREN, "/k", &one);
    set(&a, "/k", "x");
    await_events(2);
    ask(&a, ZKR__ZK_DELETE, "/k/x");
    await_events(3);
    watch(&b, ZKR__ZK_CHILDREN, "/k", &one);
    watch(&b, ZKR__ZK_CHILDREN, "/k", &two);
    ask(&b, ZKR__ZK_UNWATCH, "/k");
    ask(&a, ZKR__ZK_DELETE, "/k/y");
    await_events(5);
    watch(&b, ZKR__ZK_CHILDREN, "/k", &one);
    watch(&b, ZKR__ZK_GET, "/k", &two);
    ask(&a, ZKR__ZK_DELETE, "/k");
    await_events(7);
    show("watches on children");

    create(&a, ZKR_CREATE_PERSISTENT, "/k");
    ask(&b, ZKR__ZK_SYNC, "/k");
    watch(&b, ZKR__ZK_CHILDREN, "/k", &one);
    watch(&b, ZKR__ZK_CHILDREN, "/k", &two);
    watch(&b, ZKR__ZK_UNWATCH_CHILDREN, "/k", &one);
    create(&a, ZKR_CREATE_EPHEMERAL, "/k/x");
    await_events(1);
    ask(&b, ZKR__ZK_SYNC, "/k");
    watch(&b, ZKR__ZK_CHILDREN, "/k", &one);
    watch(&b, ZKR__ZK_GET, "/k", &two);
    ask(&b, ZKR__ZK_UNWATCH_CHILDREN, "/k");
    ask(&a, ZKR__ZK_DELETE, "/k/x");
    set(&a, "/k", "x");
    await_events(2);
    show("watches on children taken back");
}

static void in_one_flight(void)
{
    create(&a, ZKR_CREATE_PERSISTENT, "/f");
    submit(&a,
           (struct zkr__zk_request){ .type = ZKR__ZK_CREATE,
                                     .mode = ZKR_CREATE_EPHEMERAL_SEQUENTIAL,
                                     .path = "/f/x-" });
    send(&a, ZKR__ZK_CHILDREN, "/f");
    send(&a, ZKR__ZK_CHECK, "/f/x-0000000000");
    send(&a, ZKR__ZK_DELETE, "/f/x-0000000000");
    send(&a, ZKR__ZK_CHECK, "/f/x-0000000000");
    send(&a, ZKR__ZK_SYNC, "/f");
    send(&a, ZKR__ZK_CHILDREN, "/f");
    stage_wait(nothing_pending);
    show("requests in one flight");
}

static void forget_events(void)
{
    stage_lock();
    a.lost = b.lost = a.connected = b.connected = 0;
    stage_unlock();
}

static void await_reconnect(void)
{
    stage_wait(both_lost);
    stage_wait(connected);
}

static void used_up(void)
{
    create(&a, ZKR_CREATE_PERSISTENT, "/s");
    forget_events();
    stage_set_number("/s", "/s/seed", INT32_MAX - 2);
    await_reconnect();
    for (int i = 0; i < 5; i++)
        create(&a, ZKR_CREATE_EPHEMERAL_SEQUENTIAL, i < 4 ? "/s/x-" : "/s/y-");
    ask(&a, ZKR__ZK_SYNC, "/s");
    show("numbers used up");
}

static void broken_connections(void)
{
    create(&a, ZKR_CREATE_PERSISTENT, "/b1");
    create(&a, ZKR_CREATE_EPHEMERAL, "/b");
    ask(&b, ZKR__ZK_SYNC, "/b");
    watch(&b, ZKR__ZK_GET, "/b", &one);
    watch(&b, ZKR__ZK_EXISTS, "/b2", &two);
    watch(&b, ZKR__ZK_CHILDREN, "/b1", &three);
    forget_events();
    stage_restart();
    await_reconnect();
    ask(&b, ZKR__ZK_EXISTS, "/b");
    create(&a, ZKR_CREATE_EPHEMERAL, "/b2");
    await_events(1);
    ask(&a, ZKR__ZK_DELETE, "/b");
    await_events(2);
    create(&a, ZKR_CREATE_EPHEMERAL, "/b1/x");
    await_events(3);
    show("connections broken, sessions alive");
}

static void ended_by_client(void)
{
    create(&b, ZKR_CREATE_EPHEMERAL, "/c");
    ask(&a, ZKR__ZK_SYNC, "/c");
    watch(&a, ZKR__ZK_GET, "/c", &one);
    say(&b, "close: %s\n",
        zkr__zk_close(b.zk, ZKR__NEVER) ? "told" : "not told");
    await_events(1);
    ask(&a, ZKR__ZK_EXISTS, "/c");
    show("a session closed");
}

static void ended_by_server(void)
{
    open_client(&b);
    create(&b, ZKR_CREATE_EPHEMERAL, "/e");
    ask(&a, ZKR__ZK_SYNC, "/e");
    watch(&a, ZKR__ZK_GET, "/e", &one);
    stage_kill_session(b.id);
    await_events(1);
    stage_wait(b_expired);
    ask(&a, ZKR__ZK_EXISTS, "/e");
    ask(&b, ZKR__ZK_EXISTS, "/e");
    (void)zkr__zk_close(b.zk, ZKR__NEVER);
    show("a session ended by the server");
}

static void script(void)
{
    if (zkr__acl_parse(&acl, "world:anyone:cdrwa") != ZKR_OK)
        abort();
    open_client(&a);
    open_client(&b);
    numbers();
    missing();
    contents();
    watches();
    no_more_watches();
    watched_children();
    in_one_flight();
    used_up();
    broken_connections();
    ended_by_client();
    ended_by_server();
    (void)zkr__zk_close(a.zk, ZKR__NEVER);
    zkr__acl_done(&acl);
}

int main(void)
{
    return stage_play(script);
}
