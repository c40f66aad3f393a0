/* SPDX-License-Identifier: Apache-2.0 */
/* A TCP proxy between ZooKeeper clients and a server, which reads the frames
 * that pass and can lose, hold or answer a chosen one.
 *
 * It runs in this process on a thread of its own, with all signals blocked,
 * and keeps no descriptor that a child could inherit.  Any thread may call it.
 * A change asked for with a function below is in force when that returns.
 *
 * A request type is the number of the protocol: ZOO_CREATE_OP, ... of
 * <zookeeper/proto.h>, PROXY_CONNECT for the first frame of a connection,
 * PROXY_CLOSE for the end of a session; or PROXY_ANY. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <zookeeper/proto.h>

/* In zookeeper.jute, and not in proto.h of the client. */
#ifndef ZOO_CREATE2_OP
#define ZOO_CREATE2_OP 15
#endif

enum {
    PROXY_CLOSE = -11,
    PROXY_CONNECT = -10,
    PROXY_ANY = 0, /* all but connect, close, ping, auth and SASL */
};

enum proxy_action {
    /* Only count the request: the rule is done when it passes. */
    PROXY_PASS,

    /* Forward the request, wait for the reply, swallow it, and reset the
     * connection of the client. */
    PROXY_DROP_REPLY,

    /* Do not forward the request; reset the connection of the client. */
    PROXY_DROP_REQUEST,

    /* Keep the reply, and all that the server sends on that connection after
     * it, until proxy_release().  Done when the reply has come. */
    PROXY_HOLD_REPLY,

    /* Keep the request, and all that the client sends on that connection
     * after it, until proxy_release(), even if the client hangs up before.
     * They count as seen. */
    PROXY_HOLD_REQUEST,

    /* For PROXY_CONNECT only: forward it, and let the reply say that the server
     * only reads, as no server does that was not asked for such a session. */
    PROXY_READ_ONLY,

    /* For proxy_rule_error() only. */
    PROXY_ERROR_REPLY,
};

struct proxy;

/* `server_hosts` is "127.0.0.1:2181" or several of these with commas, which
 * new connections then use in turn; numbers only.  0 or a negative errno
 * value.  Up to 256 connections; more are reset. */
int proxy_start(const char *server_hosts, struct proxy **ret_proxy);

/* Reset all connections.  NULL is allowed. */
void proxy_stop(struct proxy *p);

const char *proxy_hosts(const struct proxy *p); /* "127.0.0.1:port" */

/* Requests of that type, since the start or the last reset of the counts. */
long proxy_requests(struct proxy *p, int32_t type);

/* The next two count what PROXY_ANY means, per connection, and take a request
 * as answered when its reply leaves for the client.  A client that sends two
 * requests in two steps may have the first answered in between, so set a
 * latency before relying on them. */

/* The highest number of requests ever unanswered on one connection. */
int proxy_max_in_flight(struct proxy *p);

/* How often a request came while none was unanswered on its connection: the
 * number of round trips. */
long proxy_flights(struct proxy *p);

/* All counts to zero.  Requests unanswered now stay unanswered, so the next on
 * the same connection is not a new flight. */
void proxy_reset_counts(struct proxy *p);

/* Answer no request sooner than this after it was seen; 0, the default, is at
 * once. */
void proxy_set_latency(struct proxy *p, int latency_ms);

/* The latency of each request seen from now on is up to that many percent
 * less or more, at random; 0 is the default. An answer does not overtake
 * another. */
void proxy_set_jitter(struct proxy *p, int percent);

/* Do this once, to the nth request of that type from now; 1 is the next.
 * Up to 16 rules can wait for their requests, or the test is aborted.  When
 * two meet in one request, the younger takes the next one instead. */
void proxy_rule(struct proxy *p, int32_t type, int nth,
                enum proxy_action action);

/* The same with PROXY_ERROR_REPLY: do not forward the request, and answer it
 * with `err` when all earlier ones on its connection are answered.  Not for
 * PROXY_CONNECT. */
void proxy_rule_error(struct proxy *p, int32_t type, int nth, int32_t err);

/* Have all rules done their work?  One whose connection ends between request
 * and reply never does. */
bool proxy_rule_done(struct proxy *p);

/* Wait until proxy_rule_done(); false when time is up. */
bool proxy_wait_rule(struct proxy *p, int timeout_ms);

/* Drop all rules that are not done; they count as done.  Only a request
 * already kept from the server by proxy_rule_error() still gets its answer. */
void proxy_forget_rules(struct proxy *p);

/* Let go all that is held, on all connections. */
void proxy_release(struct proxy *p);

/* Reset all connections, also to the server, and from now on every new one,
 * right after it was accepted. */
void proxy_cut(struct proxy *p);

/* Accept connections, but move no byte in either direction. */
void proxy_freeze(struct proxy *p);

/* Undo proxy_cut() or proxy_freeze().  Frozen bytes are then delivered. */
void proxy_heal(struct proxy *p);

/* Undo all: no rules, nothing held, no cut. */
void proxy_let_all_pass(struct proxy *p);
