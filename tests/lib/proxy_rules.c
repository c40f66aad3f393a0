/* SPDX-License-Identifier: Apache-2.0 */
/* The proxy: rules wait for requests, and requests are counted. */
#include "proxy_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wait.h"

void rules_finish(struct proxy *p, struct request *r)
{
    if (r->awaited)
        p->undone--;
    r->awaited = false;
    pthread_cond_broadcast(&p->changed);
}

bool rules_any_covers(int32_t type)
{
    return type != PROXY_CONNECT && type != PROXY_CLOSE && type != PING_OP &&
           type != AUTH_OP && type != SASL_OP;
}

void rules_apply(struct proxy *p, int32_t type, struct request *r)
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

void rules_count(struct proxy *p, struct conn *c, int32_t type)
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
