/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a soak: its outcome, line by line. */
#include "report.h"

#include "faults.h"

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int percentile(const int *values, size_t count, int percent)
{
    size_t rank = (count * (size_t)percent + 99) / 100;

    return count == 0 ? 0 : values[rank > 0 ? rank - 1 : 0];
}

static void print_faults(const struct nemesis *n)
{
    int all = 0;
    int kinds = 0;

    for (int i = 0; i < fault_count; i++) {
        printf("%-26s %5d\n", faults[i].name, n->counts[i]);
        all += n->counts[i];
        kinds += n->counts[i] > 0;
    }
    printf("%-26s %5d of %d kinds\n", "faults", all, kinds);
    printf("replies swallowed: %ld of creates, %ld of deletes; requests "
           "throttled: %ld\n",
           n->creates_swallowed, n->deletes_swallowed, n->throttled);
}

static void print_recovery(const struct nemesis *n)
{
    int *r = n->recoveries;
    size_t count = n->recovery_count;

    qsort(r, count, sizeof(*r), by_value);
    printf("next grant after a fault has healed, in ms: median %d, p99 %d (at "
           "most %d), longest %d (at most %d); stuck: %d\n",
           percentile(r, count, 50), percentile(r, count, 99), USUAL_MS,
           percentile(r, count, 100), LONGEST_MS, n->stuck);
}

static void print_verdict(const struct verdict *v)
{
    static const char *const rules[JUDGE_RULES] = {
        [JUDGE_OVERLAP] = "overlaps of claims",
        [JUDGE_CROWDED] = "claims beyond the limit of a semaphore",
        [JUDGE_LATE] = "claims beyond the end of their node",
        [JUDGE_DISORDER] = "tokens not above those before",
        [JUDGE_TWICE] = "tokens, with hand-offs, of two grants",
        [JUDGE_UNKNOWN] = "tokens that no server knows",
        [JUDGE_EARLY] = "grants out of turn",
        [JUDGE_PASSED] = "nodes that went before one ahead",
        [JUDGE_STALE] = "stale accesses accepted",
        [JUDGE_LEFT] = "nodes left at the end",
    };

    for (int i = 0; i < JUDGE_RULES; i++)
        printf("%-44s %8ld\n", rules[i], v->broken.counts[i]);
    printf("%-44s %8ld\n", "nodes there 2T after they were given up",
           v->orphans);
    printf("%-44s %8ld\n", "updates lost (nothing promised)", v->lost_updates);
}

void report(const struct outcome *o, const struct nemesis *n)
{
    const struct verdict *v = &o->verdict;

    printf("\n");
    print_faults(n);
    print_recovery(n);
    printf("\n%ld grants in %.0f s, %ld of them for writing, %ld over before "
           "they were told, %ld handed on; %ld nodes; %ld runs of threads\n",
           v->grants, o->seconds, v->writes, v->empty, v->handed_on, v->nodes,
           o->runs);
    printf("%ld transactions, %ld of them in one log only; stale accesses "
           "refused: %ld\n",
           o->transactions, o->disputed, o->refused);
    if (v->margin_ms != INT32_MAX)
        printf("least time between a lease and the end of its session: %ld "
               "ms\n",
               v->margin_ms);
    if (v->asked > 0)
        printf("share of the time that holders were told yes: %.2f %%\n",
               100.0 * (double)v->sure / (double)v->asked);
    print_verdict(v);
    printf("%-44s %8ld (latest %ld ms)\n", "calls 1 s beyond their deadline",
           o->late_calls, o->latest_ms);
    printf("%-44s %8ld\n", "wrong depths and tokens in clients",
           o->broken_promises);
    printf("%-44s %8ld\n", "clients that did not come to their end",
           o->stuck_clients);
    printf("%-44s %8ld\n", "descriptors and threads left in clients", o->leaks);
    (void)fflush(stdout);
}
