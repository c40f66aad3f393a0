/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy: requests and replies pass, or what their rule says is done to
 * them.
 *
 * A request is taken at once, and held in `out`; a reply is held in `in`,
 * because it counts as an answer only when it leaves. */
#include "proxy_private.h"

#include <stdlib.h>

#include "wait.h"

static struct request *add_request(struct proxy *p, struct conn *c, int32_t xid,
                                   int32_t type)
{
    struct request *r = proxy_must(calloc(1, sizeof(*r)));

    r->xid = xid;
    r->counted = rules_any_covers(type);
    r->seen_ms = now_ms();
    r->percent = 100 - p->jitter + (int)(random() % (2 * p->jitter + 1));
    *c->tail = r;
    c->tail = &r->next;
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
    if (r->next == NULL)
        c->tail = link;
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
