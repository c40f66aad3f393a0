/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy: requests and replies pass and are counted, or what their rule says
 * is done to them.
 *
 * A request is taken at once, and held in `out`; a reply is held in `in`,
 * because it counts as an answer only when it leaves. */
#include "proxy_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wait.h"

/* Rules */

static void rules_finish(struct proxy *p, struct request *r)
{
    if (r->awaited)
        p->undone--;
    r->awaited = false;
    pthread_cond_broadcast(&p->changed);
}

/* Is this type one that PROXY_ANY means? */
static bool rules_any_covers(int32_t type)
{
    return type != PROXY_CONNECT && type != PROXY_CLOSE && type != PING_OP &&
           type != AUTH_OP && type != SASL_OP;
}

/* Every rule for this type gets one nearer; the first that has arrived is
 * taken out and put into the request. */
static void rules_apply(struct proxy *p, int32_t type, struct request *r)
{
    int taken = -1;

    for (int i = 0; i < p->rule_count; i++) {
        struct rule *rule = &p->rules[i];

        bool fits = rule->type == PROXY_ANY ? rules_any_covers(type)
                                            : rule->type == type;
        if (fits && --rule->nth <= 0 && taken < 0)
            taken = i;
    }
    if (taken < 0)
        return;
    r->action = p->rules[taken].action;
    r->err = p->rules[taken].err;
    r->awaited = true;
    p->rule_count--;
    memmove(&p->rules[taken], &p->rules[taken + 1],
            (size_t)(p->rule_count - taken) * sizeof(p->rules[0]));
    if (r->action == PROXY_PASS)
        rules_finish(p, r);
}

static void rules_count(struct proxy *p, struct conn *c, int32_t type)
{
    if (type >= TYPE_MIN && type < TYPE_MIN + TYPES)
        p->counts[type - TYPE_MIN]++;
    if (!rules_any_covers(type))
        return;
    p->total++;
    if (c->in_flight++ == 0)
        p->flights++;
    if (c->in_flight > p->max_in_flight)
        p->max_in_flight = c->in_flight;
}

/* Requests */

static struct request *add_request(struct proxy *p, struct conn *c, int32_t xid,
                                   int32_t type)
{
    struct request *r = proxy_must(calloc(1, sizeof(*r)));
    struct request **end = &c->first;

    while (*end != NULL)
        end = &(*end)->next;
    *end = r;
    r->xid = xid;
    r->counted = rules_any_covers(type);
    r->seen_ms = now_ms();
    r->percent = 100 - p->jitter + (int)(random() % (2 * p->jitter + 1));
    rules_count(p, c, type);
    rules_apply(p, type, r);
    return r;
}

static void remove_request(struct conn *c, struct request *r)
{
    struct request **link = &c->first;

    while (*link != r)
        link = &(*link)->next;
    *link = r->next;
    if (r->counted)
        c->in_flight--;
    free(r);
}

static void pass_request(struct proxy *p, struct conn *c, struct request *r,
                         const struct frame *f)
{
    switch (r->action) {
    case PROXY_DROP_REQUEST:
        conn_drop_client(c);
        rules_finish(p, r);
        return;
    case PROXY_ERROR_REPLY:
        return;
    case PROXY_HOLD_REQUEST:
        if (!c->up.held)
            c->up.held_at = c->up.out.size;
        c->up.held = true;
        rules_finish(p, r);
        break;
    case PROXY_PASS:
    case PROXY_READ_ONLY:
    case PROXY_DROP_REPLY:
    case PROXY_HOLD_REPLY:
        break;
    }
    if (c->server >= 0)
        bytes_add(&c->up.out, f->data, f->size);
}

void conn_take_requests(struct proxy *p, struct conn *c)
{
    struct flow *up = &c->up;
    struct frame f;
    int rc;

    while ((rc = frame_first(&up->in,
                             up->greeted ? REQUEST_HEADER : CONNECT_SIZE, &f)) >
           0) {
        int32_t xid = CONNECT_XID;
        int32_t type = PROXY_CONNECT;

        bytes_skip(&up->in, f.size);
        if (up->greeted) {
            xid = (int32_t)get_number(f.data + LENGTH_SIZE, 4);
            type = (int32_t)get_number(f.data + LENGTH_SIZE + 4, 4);
        } else {
            c->zxid = get_number(f.data + CONNECT_ZXID, 8);
            up->greeted = true;
        }
        pass_request(p, c, add_request(p, c, xid, type), &f);
    }
    if (rc < 0)
        conn_drop_client(c);
}

/* Replies */

static void send_to_client(struct conn *c, const unsigned char *data,
                           size_t size)
{
    if (c->client >= 0)
        bytes_add(&c->down.out, data, size);
}

static bool is_early(const struct proxy *p, struct conn *c,
                     const struct request *r)
{
    int64_t due_ms = r->seen_ms + (int64_t)p->latency_ms * r->percent / 100;

    if (p->latency_ms == 0 || now_ms() >= due_ms)
        return false;
    c->wake_ms = due_ms;
    return true;
}

/* Answer the requests that have come to the front and are ours to answer. */
static void send_errors(struct proxy *p, struct conn *c)
{
    struct request *r;

    while ((r = c->first) != NULL && r->action == PROXY_ERROR_REPLY &&
           !is_early(p, c, r)) {
        struct packet reply = { .size = 0 };

        put_number(&reply, REPLY_HEADER - LENGTH_SIZE, 4);
        put_number(&reply, r->xid, 4);
        put_number(&reply, c->zxid, 8);
        put_number(&reply, r->err, 4);
        send_to_client(c, reply.bytes, reply.size);
        rules_finish(p, r);
        remove_request(c, r);
    }
}

/* Tells whether this reply may go now; `r` is its request, or NULL. */
static bool may_leave(struct proxy *p, struct conn *c, struct request *r)
{
    if (r == NULL)
        return true;
    if (is_early(p, c, r))
        return false;
    if (r->action == PROXY_HOLD_REPLY) {
        r->action = PROXY_PASS;
        c->down.held = c->client >= 0;
        rules_finish(p, r);
    }
    return !c->down.held;
}

/* False if it has to stay for now. */
static bool take_reply(struct proxy *p, struct conn *c, const struct frame *f)
{
    int32_t xid = c->down.greeted
                      ? (int32_t)get_number(f->data + LENGTH_SIZE, 4)
                      : CONNECT_XID;
    struct request *r = c->first;

    /* The oldest one, as pings and others have always the same xid. */
    while (r != NULL && r->xid != xid)
        r = r->next;
    if (!may_leave(p, c, r))
        return false;
    if (c->down.greeted) {
        int64_t zxid = get_number(f->data + REPLY_ZXID, 8);

        c->zxid = zxid > c->zxid ? zxid : c->zxid; /* watch events have -1 */
    }
    c->down.greeted = true;
    if (r != NULL && r->action == PROXY_DROP_REPLY) {
        conn_drop_client(c);
        rules_finish(p, r);
    }
    if (r != NULL && r->action == PROXY_READ_ONLY) {
        const unsigned char yes = 1; /* the last byte of a connect reply */

        send_to_client(c, f->data, f->size - 1);
        send_to_client(c, &yes, 1);
        rules_finish(p, r);
    } else {
        send_to_client(c, f->data, f->size);
    }
    if (r != NULL)
        remove_request(c, r);
    return true;
}

void conn_take_replies(struct proxy *p, struct conn *c)
{
    struct flow *down = &c->down;
    struct frame f;
    int rc = 0;

    c->wake_ms = 0;
    send_errors(p, c);
    while (!down->held && (rc = frame_first(&down->in, REPLY_HEADER, &f)) > 0) {
        if (!take_reply(p, c, &f))
            return;
        bytes_skip(&down->in, f.size);
        send_errors(p, c);
    }
    if (rc < 0)
        conn_drop_client(c);
}

/* Counts for the test */

long proxy_requests(struct proxy *p, int32_t type)
{
    long count = 0;

    pthread_mutex_lock(&p->lock);
    if (type == PROXY_ANY)
        count = p->total;
    else if (type >= TYPE_MIN && type < TYPE_MIN + TYPES)
        count = p->counts[type - TYPE_MIN];
    pthread_mutex_unlock(&p->lock);
    return count;
}

int proxy_max_in_flight(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    int count = p->max_in_flight;
    pthread_mutex_unlock(&p->lock);
    return count;
}

long proxy_flights(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    long count = p->flights;
    pthread_mutex_unlock(&p->lock);
    return count;
}

void proxy_reset_counts(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    p->total = 0;
    memset(p->counts, 0, sizeof(p->counts));
    p->flights = 0;
    p->max_in_flight = 0;
    pthread_mutex_unlock(&p->lock);
}

/* Rules of the test */

static void add_rule(struct proxy *p, struct rule rule)
{
    pthread_mutex_lock(&p->lock);
    if (p->rule_count == RULES_MAX) {
        fprintf(stderr, "proxy: more than %d rules\n", RULES_MAX);
        abort();
    }
    p->rules[p->rule_count++] = rule;
    p->undone++;
    pthread_mutex_unlock(&p->lock);
}

void proxy_rule(struct proxy *p, int32_t type, int nth,
                enum proxy_action action)
{
    add_rule(p, (struct rule){ type, nth, action, 0 });
}

void proxy_rule_error(struct proxy *p, int32_t type, int nth, int32_t err)
{
    add_rule(p, (struct rule){ type, nth, PROXY_ERROR_REPLY, err });
}

bool proxy_rule_done(struct proxy *p)
{
    return proxy_wait_rule(p, 0);
}

bool proxy_wait_rule(struct proxy *p, int timeout_ms)
{
    struct timespec deadline = wait_deadline(timeout_ms);
    int rc = 0;

    pthread_mutex_lock(&p->lock);
    while (p->undone > 0 && rc == 0)
        rc = pthread_cond_timedwait(&p->changed, &p->lock, &deadline);
    bool done = p->undone == 0;
    pthread_mutex_unlock(&p->lock);
    return done;
}

void proxy_forget_rules(struct proxy *p)
{
    pthread_mutex_lock(&p->lock);
    p->rule_count = 0;
    p->undone = 0;
    for (int i = 0; i < p->conn_count; i++) {
        for (struct request *r = p->conns[i]->first; r != NULL; r = r->next) {
            r->awaited = false;
            /* Nobody else will answer the other. */
            if (r->action != PROXY_ERROR_REPLY)
                r->action = PROXY_PASS;
        }
    }
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}
