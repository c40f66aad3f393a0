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

/* A request, as the script says it: who asks, for what, of which node, and with
 * which watch or data. */
struct zkr__op {
    struct zkr_session *who;
    const struct verb *verb;
    char text[128];
    char path[64];
    char more[16];
};

struct zkr__watch {
    struct zkr_session *who;
    const char *name;
};

static struct zkr_session a = { .name = "a" };
static struct zkr_session b = { .name = "b" };
static struct zkr__watch all_watches[] = { { .name = "one" },
                                           { .name = "two" },
                                           { .name = "three" } };
static int asked;
static int answers;
static int events;
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

static const struct verb {
    const char *name;
    enum zkr__zk_type type;
    enum zkr_create_mode mode;
    bool has_stat;
} verbs[] = {
    { "create", ZKR__ZK_CREATE, ZKR_CREATE_PERSISTENT, true },
    { "ephemeral", ZKR__ZK_CREATE, ZKR_CREATE_EPHEMERAL, true },
    { "sequential", ZKR__ZK_CREATE, ZKR_CREATE_EPHEMERAL_SEQUENTIAL, true },
    { "container", ZKR__ZK_CREATE, ZKR_CREATE_CONTAINER, true },
    { "delete", .type = ZKR__ZK_DELETE },
    { "exists", .type = ZKR__ZK_EXISTS, .has_stat = true },
    { "get", .type = ZKR__ZK_GET, .has_stat = true },
    { "set", .type = ZKR__ZK_SET, .has_stat = true },
    { "children", .type = ZKR__ZK_CHILDREN, .has_stat = true },
    { "sync", .type = ZKR__ZK_SYNC },
    { "check", .type = ZKR__ZK_CHECK },
    { "unwatch", .type = ZKR__ZK_UNWATCH },
    { "unwatch-children", .type = ZKR__ZK_UNWATCH_CHILDREN },
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
    if (op->verb->has_stat && reply->rc == ZKR_OK)
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
    answers++;
    free(op);
    stage_unlock();
}

static void on_watch(struct zkr__watch *watch, bool deleted)
{
    stage_lock();
    say(watch->who, "watch %s: %s\n", watch->name,
        deleted ? "deleted" : "changed");
    events++;
    stage_unlock();
}

static const struct zkr__zk_upcalls upcalls = {
    .on_event = on_event,
    .on_reply = on_reply,
    .on_watch = on_watch,
};

/* The steps of the script. */

static void submit(struct zkr__op *op)
{
    struct zkr__zk_request request = { .type = op->verb->type,
                                       .mode = op->verb->mode,
                                       .path = op->path,
                                       .version = ZKR_ANY_VERSION,
                                       .data = "" };

    if (request.type == ZKR__ZK_SET)
        request.data = op->more;
    request.data_len = strlen(request.data);
    for (int i = 0; i < 3; i++) {
        if (strcmp(op->more, all_watches[i].name) != 0)
            continue;
        request.watch = &all_watches[i];
        request.watch->who = op->who;
    }
    asked++;
    int rc = zkr__zk_submit(op->who->zk, &request, (uintptr_t)op);
    if (rc == ZKR_OK)
        return;
    stage_lock();
    asked--;
    say(op->who, "%s: refused, %d\n", op->text, rc);
    stage_unlock();
    free(op);
}

static struct zkr__op *read_request(const char *text, size_t len)
{
    struct zkr__op *op = calloc(1, sizeof(*op));
    char who;
    char verb[32];

    if (op == NULL)
        abort();
    (void)snprintf(op->text, sizeof(op->text), "%.*s", (int)len, text);
    if (sscanf(op->text, "%c %31s %63s %15s", &who, verb, op->path, op->more) <
        3)
        abort();
    op->who = who == 'a' ? &a : &b;
    op->verb = verbs;
    while (strcmp(op->verb->name, verb) != 0) {
        if (++op->verb == verbs + sizeof(verbs) / sizeof(verbs[0]))
            abort();
    }
    return op;
}

/* Steps with commas between them: a request, or "3 events", which waits for so
 * many. In one flight nobody waits for the answers before the end. */
static void play_in(bool one_flight, const char *text)
{
    size_t len;
    int count;

    for (; *text != '\0'; text += len + strspn(text + len, ", ")) {
        len = strcspn(text, ",");
        if (sscanf(text, "%d events", &count) == 1)
            stage_wait(&events, count);
        else
            submit(read_request(text, len));
        if (!one_flight)
            stage_wait(&answers, asked);
    }
    stage_wait(&answers, asked);
}

static void play(const char *text)
{
    play_in(false, text);
}

static void open_client(struct zkr_session *who)
{
    const struct zkr__zk_config config = { .servers = stage_hosts(),
                                           .timeout_ms = 4000,
                                           .acl = &acl };

    who->connected = who->lost = who->expired = 0;
    if (zkr__zk_open(&config, &upcalls, who, &who->zk) != ZKR_OK)
        abort();
    stage_wait(&who->connected, 1);
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

static void requests(void)
{
    play("a create /n, a sequential /n/x-, a sequential /n/y-, "
         "a delete /n/x-0000000000, a sequential /n/x-, a ephemeral /n/plain, "
         "a ephemeral /n/plain, b sequential /n/x-, b children /n, "
         "b delete /n/x-0000000004, a delete /n/plain, "
         "a delete /n/x-0000000002, a delete /n, a delete /n/y-0000000001, "
         "a delete /n, a create /n, a sequential /n/again-");
    show("numbers");

    play("a delete /m/none, a exists /m/none, a get /m/none, a set /m/none, "
         "a check /m/none, a children /m/none, a sequential /m/x-, "
         "a container /m, a container /m/c, a sync /m, a check /m, "
         "a delete /m, a ephemeral /m/c/e, a ephemeral /m/c/e/below, "
         "a sequential /m/c/e/below-, a delete /m/c/e, a children /m/c");
    show("what is missing, and what is in the way");

    play("a ephemeral /d, a get /d, b set /d __REVOKE__, b get /d, "
         "b children /d, b exists /d, b delete /d, a sync /, a get /d");
    show("contents");

    play("a create /f");
    play_in(true, "a sequential /f/x-, a children /f, a check /f/x-0000000000, "
                  "a delete /f/x-0000000000, a check /f/x-0000000000, "
                  "a sync /f, a children /f");
    show("requests in one flight");
}

static void watches(void)
{
    /* the last event comes before the answer */
    play("a get /w one, a exists /w two, b create /w, 1 events, a get /w one, "
         "a exists /w two, b sync /w, b get /w three, b set /w x, 4 events, "
         "b set /w y, a sync /w, a get /w one, a delete /w, 5 events");
    show("watches");

    /* it may read from another server before the first sync */
    play("b create /u, a sync /u, a unwatch /u one, a unwatch /u, "
         "a get /u one, a get /u two, a unwatch /u one, b set /u x, 1 events, "
         "a get /u one, a unwatch /u, b delete /u, a sync /u, a exists /u");
    show("watches taken back");

    /* A watch on the children and one on the node are two. */
    play("b children /k one, a create /k, b sync /k, b children /k one, "
         "b get /k two, a ephemeral /k/x, 1 events, a ephemeral /k/y, "
         "b sync /k, b children /k one, a set /k x, 2 events, a delete /k/x, "
         "3 events, b children /k one, b children /k two, b unwatch /k, "
         "a delete /k/y, 5 events, b children /k one, b get /k two, "
         "a delete /k, 7 events");
    show("watches on children");

    play("a create /k, b sync /k, b children /k one, b children /k two, "
         "b unwatch-children /k one, a ephemeral /k/x, 1 events, b sync /k, "
         "b children /k one, b get /k two, b unwatch-children /k, "
         "a delete /k/x, a set /k x, 2 events");
    show("watches on children taken back");
}

static void forget_connections(void)
{
    stage_lock();
    a.lost = b.lost = a.connected = b.connected = 0;
    stage_unlock();
}

static void await_reconnect(void)
{
    stage_wait(&a.lost, 1);
    stage_wait(&b.lost, 1);
    stage_wait(&a.connected, 1);
    stage_wait(&b.connected, 1);
}

static void faults(void)
{
    play("a create /s");
    forget_connections();
    stage_set_number("/s", "/s/seed", INT32_MAX - 2);
    await_reconnect();
    play("a sequential /s/x-, a sequential /s/x-, a sequential /s/x-, "
         "a sequential /s/x-, a sequential /s/y-, a sync /s");
    show("numbers used up");

    play("a create /b1, a ephemeral /b, b sync /b, b get /b one, "
         "b exists /b2 two, b children /b1 three");
    forget_connections();
    stage_restart();
    await_reconnect();
    play("b exists /b, a ephemeral /b2, 1 events, a delete /b, 2 events, "
         "a ephemeral /b1/x, 3 events");
    show("connections broken, sessions alive");
}

static void ends(void)
{
    play("b ephemeral /c, a sync /c, a get /c one");
    say(&b, "close: %s\n",
        zkr__zk_close(b.zk, ZKR__NEVER) ? "told" : "not told");
    play("1 events, a exists /c");
    show("a session closed");

    open_client(&b);
    play("b ephemeral /e, a sync /e, a get /e one");
    stage_kill_session(b.id);
    stage_wait(&events, 1);
    stage_wait(&b.expired, 1);
    play("a exists /e, b exists /e");
    (void)zkr__zk_close(b.zk, ZKR__NEVER);
    show("a session ended by the server");
}

static void script(void)
{
    if (zkr__acl_parse(&acl, "world:anyone:cdrwa") != ZKR_OK)
        abort();
    open_client(&a);
    open_client(&b);
    requests();
    watches();
    faults();
    ends();
    (void)zkr__zk_close(a.zk, ZKR__NEVER);
    zkr__acl_done(&acl);
}

int main(void)
{
    return stage_play(script);
}
