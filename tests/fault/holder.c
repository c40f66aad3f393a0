/* SPDX-License-Identifier: Apache-2.0 */
/* Holders of locks, and what they believe. */
#include "holder.h"

#include "judge.h"

#define ACQUIRE_MS 10000

struct sample *samples;
int sample_count;

static void (*what_is_asked)(void);
static pthread_t asking;
static atomic_bool asked_enough;

void holder_open(struct holder *h, const char *hosts, uint32_t timeout_ms,
                 const char *path)
{
    h->session =
        open_to(hosts, OPTS(session, .session_timeout_ms = timeout_ms,
                            .lease_hops = h->hops, .lease_beacon = h->beacon));
    h->mutex = new_mutex(h->session, path);
    AUTO(grant) first = GRANT(mutex_acquire, h->mutex, ACQUIRE_MS);
    ok(zkr_grant_release(first));
    h->session_id = zkr_session_id(h->session);
    h->epoch = zkr_session_epoch(h->session);
}

bool is_connected(zkr_session *s)
{
    enum zkr_session_state_kind state = zkr_session_state(s);

    return state == ZKR_SESSION_CONNECTED || state == ZKR_SESSION_RECONNECTED;
}

static void on_acquired(int error, zkr_grant *g, void *holder)
{
    if (error == ZKR_OK)
        atomic_store(&((struct holder *)holder)->grant, g);
}

void holder_acquire(struct holder *h)
{
    ok(zkr_mutex_acquire_async(h->mutex, -1, on_acquired, h, NULL));
}

/* The session is closed first: the close delivers the last callbacks. */
void holder_close(struct holder *h)
{
    (void)zkr_session_close(h->session);
    zkr_mutex_free(h->mutex);
    zkr_grant_free(atomic_load(&h->grant));
    atomic_store(&h->grant, NULL);
    h->belief = (struct belief){ 0 };
}

/* The clock is read before each question: what it is about may change between
 * the answer and any later reading. */
void holder_ask(const struct holder *h, struct belief *b)
{
    zkr_grant *g = atomic_load(&h->grant);
    int64_t now = boot_ns();

    /* A grant in a later session tells nothing about the one that ended. */
    if (g == NULL ||
        (b->granted == 0 && zkr_session_epoch(h->session) != h->epoch))
        return;
    if (b->granted == 0)
        b->granted = now;
    now = boot_ns();
    if (zkr_grant_check(g) == ZKR_OK)
        believe(b, LAST_YES, now);
    else
        b->unsure++;
    int64_t until = zkr_grant_valid_until(g);
    if (until != 0)
        believe(b, CLAIMED_END, (until + 1) * MS);
}

void believe(struct belief *b, enum instant instant, int64_t at)
{
    if (at > b->at[instant])
        b->at[instant] = at;
}

static void *ask_on(void *unused)
{
    while (!atomic_load(&asked_enough)) {
        what_is_asked();
        sleep_ms(1);
    }
    return NULL;
}

void asking_start(void (*ask)(void))
{
    what_is_asked = ask;
    atomic_store(&asked_enough, false);
    asking = thread_start(ask_on, NULL);
}

void asking_stop(void)
{
    atomic_store(&asked_enough, true);
    thread_join(asking);
}

struct sample *sample_add(int kind, const struct belief *b, int64_t end)
{
    samples = realloc(samples, ((size_t)sample_count + 1) * sizeof(*samples));
    assert_non_null(samples);
    struct sample *s = &samples[sample_count++];
    *s = (struct sample){ .kind = kind,
                          .believed =
                              b->at[LAST_YES] != 0 || b->at[CLAIMED_END] != 0 };
    for (int i = 0; i < INSTANTS; i++)
        s->before[i] = end - b->at[i];
    return s;
}

static bool is_of(int kind, const struct sample *s)
{
    return kind < 0 ? !s->wrong : s->kind == kind;
}

int sample_count_of(int kind)
{
    int count = 0;

    for (int i = 0; i < sample_count; i++)
        count += is_of(kind, &samples[i]);
    return count;
}

static int compare(const void *a, const void *b)
{
    return judge_compare(*(const int64_t *)a, *(const int64_t *)b);
}

int print_margin(int kind, enum instant instant)
{
    int64_t *values = judge_array((size_t)sample_count, sizeof(*values));
    int count = 0;
    int late = 0;

    for (int i = 0; i < sample_count; i++) {
        if (!is_of(kind, &samples[i]) ||
            (instant <= CLAIMED_END && !samples[i].believed))
            continue;
        values[count] = samples[i].before[instant];
        late += values[count++] < 0;
    }
    qsort(values, (size_t)count, sizeof(*values), compare);
    if (count > 0)
        printf(" | %+6.2f %+6.2f %+6.2f %3d", (double)values[0] / 1e9,
               (double)values[count / 2] / 1e9, (double)values[count - 1] / 1e9,
               late);
    else
        printf(" | %-24s", "never");
    free(values);
    return late;
}
