/* SPDX-License-Identifier: Apache-2.0 */
/* The faults, and what comes of them. */
#include "faults/table.h"

const struct fault faults[] = {
    { "answer late", .deed = ANSWER_LATE },
    { "no answer", .deed = NO_ANSWER },
    { "no request", .deed = NO_REQUEST },
    { "no answer ever", .deed = NEVER },
    { "no connection", .deed = CUT_OFF }, /* of the call, not of a request */
    { "closed", .deed = CLOSED },
    { "answer lost", .deed = ANSWER_LOST },
    { "request lost", .deed = REQUEST_LOST },
    /* Curator lost the node here, by its two nested loops of retries. */
    { "lost twice", .deed = REQUEST_LOST, .then = ANSWER_LOST },
    /* CURATOR-498, -604: the node of the session before was taken for ours. */
    { "session over after", .deed = OVER_AFTER },
    { "session over before", .deed = OVER_BEFORE },
    { "forbidden", .deed = REFUSED, .error = ZKR_ZNOAUTH },
    { "throttled", .deed = REFUSED, .error = ZKR_ZTHROTTLEDOP },
    { "throttled twice", .deed = REFUSED, .error = ZKR_ZTHROTTLEDOP,
      .then = REFUSED },
    { "moved", .deed = REFUSED, .error = ZKR_ZSESSIONMOVED },
    { "unknown session", .deed = REFUSED, .error = ZKR_ZUNKNOWNSESSION },
};
const size_t fault_count = COUNT(faults);

/* clang-format off */
#define ACQUIRES "@(*acquire|wait|give up|try*|acquire *)"
#define READS  "@(get|exists|children|sync|counter get|barrier wait)"
#define WRITES "@(create|set|delete|commit|first add|add|counter set|compare and set|guarded *)"
#define STEPS  "@(barrier set|barrier remove|enter|leave)"
#define LOOKS  "@(list|revoke|break)" /* and all else without a deadline */
#define BESIDE "@(downgrade|read beside)"
#define WRITE  "@(create|set|delete|multi) *" /* a request that changes nodes */
#define LOSS   "@(* lost|lost twice|session over *|moved|unknown session)"
#define OVER   "@(session over *|unknown session)"

struct row rows[] = {
    /* What is usual: a request is repeated until a deadline comes. */
    { "*", "*", "no *", .ends_with = ZKR_ETIMEDOUT },
    { "*", "*", "@(* lost|* ever|no connection)", .session_is_told = "SUSPENDED RECONNECTED" },
    { "*", "*", "lost twice", .session_is_told = "SUSPENDED RECONNECTED*" },
    { "*", "*", "session over *", .session_is_told = "SUSPENDED LOST RECONNECTED" },
    { "*", "*", "unknown session", .session_is_told = "LOST RECONNECTED" },
    { "*", "*", "forbidden*", .ends_with = ITS_ERROR },
    { "*", "*", "closed", .ends_with = ZKR_ECLOSED, .session_is_told = "CLOSED", .grant_is_told = "*" },
    /* Its own deadline may come before the close, on a busy machine. */
    { "*give up", "*", "closed", .ends_with = ZKR_ECLOSED, .or_with = ZKR_ETIMEDOUT, .session_is_told = "CLOSED", .grant_is_told = "*" },

    /* What only asks is asked again, or not needed. */
    { "@(*acquire|wait|give up|acquire *|read beside|downgrade|enter)",
      "@(exists|list|get) *", "forbidden*", .ends_with = AS_EVER },
    { "enter", "list *", "forbidden*", .ends_with = ITS_ERROR },
    { "try*", "@(list|get) [2-9]", "forbidden*", .ends_with = AS_EVER },
    { "leadership*: try*", "list *", "forbidden*", .ends_with = AS_EVER },
    /* A list that is sent with its create is; one that is sent alone is not. */
    { "wait", "list [2-9]", "forbidden*", .ends_with = ITS_ERROR },
    { "semaphore*: @(acquire|give up)", "list [2-9]", "forbidden*", .ends_with = ITS_ERROR },
    { "semaphore*: try*", "list 3", "forbidden*", .ends_with = ITS_ERROR },
    { "semaphore*: first acquire", "list 4", "forbidden*", .ends_with = ITS_ERROR },
    { "acquire many", "list [4-9]", "forbidden*", .ends_with = ITS_ERROR },
    { "list", "get *", "forbidden*", .ends_with = AS_EVER }, /* of that node */

    /* A try waits for answers only, and in one session; a campaign goes on. */
    { "try*", "*", "no *", .ends_with = ZKR_ZOPERATIONTIMEOUT },
    { "try*", "*", "no connection", .ends_with = ZKR_ZCONNECTIONLOSS },
    { "leadership*: try*", "*", "no connection", .ends_with = ZKR_ZOPERATIONTIMEOUT },
    { "try*", "*", OVER, .ends_with = ZKR_ELOST },
    { "leadership*: try*", "*", OVER, .ends_with = AS_EVER },
    { "leadership*: try*", "get *", "*", .ends_with = AS_EVER, .session_is_told = "*",
      .is_rare = true }, /* it is sent when the call returns */

    /* What follows an outcome does not change it: the turn of a semaphore is
     * given back, a node is taken away, a watch removed. */
    { ACQUIRES, "@(delete|unwatch) *", "*", .ends_with = AS_EVER,
      .session_is_told = "*", .is_rare = true },
    { ACQUIRES, "@(delete|unwatch) *", OVER, .leaves = LEAVES(0), .is_rare = true },

    /* A release goes on, and a delete that is refused is tried again. */
    { "release*", "*", "no *", .ends_with = ZKR_EPENDING },
    { "release*", "*", "closed", .ends_with = ZKR_EPENDING },
    { "*: release", "*", "no connection", .grant_is_told = "SUSPENDED RELEASED" },
    { "*: release", "*", "forbidden*", .leaves = LEAVES(-1) },
    /* It frees the grant, perhaps before the listener is told. */
    { "reentrant mutex*: release", "*", "*", .grant_is_told = "*", .is_rare = true },
    { "release many", "*", "forbidden*", .leaves = LEAVES(-3) },
    { "release both", "*", "forbidden*", .leaves = LEAVES(-2) },
    /* One whose turn to be sent comes after the end of the session was lost. */
    { "release many", "delete [12]", OVER, .ends_with = AS_EVER,
      .or_with = ZKR_ELOST, .leaves = LEAVES(-3) },
    { "release both", "delete 1", OVER, .ends_with = AS_EVER,
      .or_with = ZKR_ELOST, .leaves = LEAVES(-2) },

    /* The program's own reads go on; its writes are made once at most. */
    { READS, "*", "no *", .ends_with = ZKR_EUNREACHABLE },
    { WRITES, "*", "no *", .ends_with = ZKR_EUNREACHABLE },
    { WRITES, WRITE, "no *", .ends_with = ZKR_EUNKNOWN },
    { WRITES, WRITE, LOSS, .ends_with = ZKR_EUNKNOWN },
    { WRITES, WRITE, "closed", .ends_with = ZKR_EUNKNOWN },
    { "first add", "create 1", "@(no *|answer lost|session over after)",
      .leaves = LEAVES(0) }, /* there was no parent */

    /* Steps of barriers may be made twice. Who does not enter takes its node
     * away, but "ready" stays. Who has left is outside in any case. */
    { STEPS, "*", "no *", .ends_with = ZKR_EUNREACHABLE },
    { STEPS, WRITE, "@(no *|closed)", .ends_with = ZKR_EUNKNOWN },
    { "enter", "multi *", "closed", .ends_with = ZKR_ECLOSED }, /* it is outside */
    { "enter", WRITE, "no *", .leaves = LEAVES(0) },
    { "enter", "multi *", "no *", .leaves = LEAVES(1) },
    { "enter", "multi *", "session over after", .leaves = LEAVES(1) },
    { "barrier wait", "exists [2-9]", "no *", .ends_with = ZKR_ETIMEDOUT },
    { "leave", "*", "@(no *|forbidden*)", .leaves = LEAVES(-1) },
    { "leave", "delete 2", "no *", .leaves = LEAVES(-2) },
    { "leave", "*", OVER, .ends_with = ZKR_ELOST, .leaves = LEAVES(-2) },
    { "leave", WRITE, OVER, .ends_with = AS_EVER },

    /* Those who look on wait as long as the session says. */
    { LOOKS, "*", "no *", .ends_with = ZKR_EUNREACHABLE },
    { LOOKS, WRITE, "no *", .ends_with = ZKR_EUNKNOWN },
    { BESIDE, "*", "no *", .ends_with = ZKR_ZOPERATIONTIMEOUT },
    { BESIDE, "*", "no connection", .ends_with = ZKR_ZCONNECTIONLOSS },
    { "revoke", "set *", "no *", .leaves = LEAVES(1) },
    { "break", "delete *", "no *", .leaves = LEAVES(-1) },

    /* A holder is told of its connection, and of its end. */
    { "@(verify|guarded *|read beside)", "*", "@(* lost|lost twice|* ever|no connection)", .grant_is_told = "SUSPENDED HELD*" },
    { "@(verify|guarded *|read beside)", "*", "session over *", .grant_is_told = "SUSPENDED LOST" },
    { "@(verify|guarded *|read beside)", "*", "unknown session", .grant_is_told = "LOST" },
    { "@(verify|read beside)", "*", OVER, .ends_with = ZKR_ELOST, .leaves = LEAVES(-1) },
    { "verify", "*", "no *", .ends_with = ZKR_EUNSURE },
    { "verify", "*", "closed", .ends_with = ZKR_ELOST },
    { "@(verify|guarded *)", "*", "closed", .grant_is_told = "LOST" },

    /* A downgrade: with an error the write lock is as it was; after its create
     * and its list the result is known. */
    { "downgrade", "*", "@(no *|forbidden*)", .grant_is_told = "" },
    { "downgrade", "*", "@(* lost|lost twice)", .grant_is_told = "SUSPENDED HELD*RELEASED" },
    { "downgrade", "*", "@(* ever|no connection)", .grant_is_told = "SUSPENDED HELD" },
    { "downgrade", "*", OVER, .ends_with = ZKR_ELOST, .leaves = LEAVES(-1) },
    { "downgrade", "*", "session over *", .grant_is_told = "SUSPENDED LOST" },
    { "downgrade", "*", "unknown session", .grant_is_told = "LOST" },
    { "downgrade", "list *", "forbidden*", .grant_is_told = "RELEASED" },
    { "downgrade", "delete *", "*", .ends_with = AS_EVER, .grant_is_told = "RELEASED" },

    /* The end of the session. The client does not say when the connection
     * breaks under that request, and takes every answer for an end, unless its
     * io thread takes the answer from it: then it waits in vain for a server to
     * hang up, as those do that have ended a session. */
    { "close", "*", "*", .ends_with = AS_EVER, .session_is_told = "CLOSED" },
    { "close", "*", "@(forbidden*|throttled*|moved|unknown session)",
      .ends_with = AS_EVER, .or_with = ZKR_EPENDING },
    { "close", "*", "no request", .ends_with = ZKR_EPENDING },
    { "close", "*", "no connection", .ends_with = ZKR_EPENDING,
      .session_is_told = "SUSPENDED CLOSED", .grant_is_told = "SUSPENDED LOST" },
};
/* clang-format on */

const size_t row_count = COUNT(rows);
