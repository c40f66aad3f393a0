/* The lease, against a proof that remembers every request there was. */
#include "fuzz.h"
#include "lease.h"

#define REQUESTS 80 /* more than are remembered */

/* A clock that counts nanoseconds since boot: some 70 years. */
#define CLOCK_MAX (INT64_C(1) << 61)

static struct request {
    int64_t sent;
    int64_t acked;
    bool is_write;
} requests[REQUESTS];

static size_t count;
static bool is_sparse; /* so that nothing is forgotten */
static int64_t timeout;
static int64_t ping_gap;
static int64_t begun;

static int64_t gap(void)
{
    return ping_gap != 0 ? ping_gap : timeout / 4;
}

/* What lease.h wants of j, for the write k: an m in between, or k itself when
 * it was quick. */
static bool proves(const struct request *j, const struct request *k,
                   bool by_itself)
{
    if (by_itself && j->acked + gap() <= k->sent)
        return true;
    for (size_t m = 0; m < count; m++) {
        if (requests[m].is_write && j->acked + gap() <= requests[m].sent &&
            requests[m].acked <= k->sent)
            return true;
    }
    return false;
}

static int64_t best_proof(const struct request *k, bool by_itself)
{
    int64_t best = 0;

    for (size_t j = 0; j < count; j++) {
        if (requests[j].sent > best && proves(&requests[j], k, by_itself))
            best = requests[j].sent;
    }
    return best;
}

static bool was_sent_at(int64_t sent)
{
    bool found = sent == 0 || sent == begun;

    for (size_t i = 0; i < count; i++)
        found = found || requests[i].sent == sent;
    return found;
}

/* What is over before the clock began says as much as no proof. */
static int64_t until(const struct zkr__lease *lease)
{
    int64_t end = zkr__lease_until(lease);

    return end > 0 ? end : 0;
}

static void remember(struct request r)
{
    if (count > 0)
        is_sparse = is_sparse && count < ZKR__LEASE_SIGNS &&
                    r.sent >= requests[count - 1].sent + timeout / 48;
    requests[count++] = r;
}

/* Evidence only grows, is of a request that there was, and never better than
 * what somebody could prove who forgets nothing. */
static void check_write(struct zkr__lease *lease, struct request k)
{
    int64_t before = lease->alive;
    int64_t busy_since = lease->busy_since == 0 ? k.sent : lease->busy_since;
    bool by_itself = k.acked - k.sent <= gap() / 2 && before < busy_since;
    int64_t best = best_proof(&k, by_itself);

    zkr__lease_committed(lease, k.sent, k.acked);
    CHECK(lease->alive >= before);
    CHECK(lease->alive <= (best > before ? best : before));
    CHECK(!is_sparse || lease->alive >= best);
    CHECK(was_sent_at(lease->alive));
    CHECK(lease->last_committed >= k.sent);
}

static void check_request(struct zkr__lease *lease, struct request r)
{
    int64_t end = until(lease);

    if (r.is_write)
        check_write(lease, r);
    else
        zkr__lease_answered(lease, r.sent, r.acked);
    remember(r);
    CHECK(r.is_write || until(lease) == end);
    CHECK(until(lease) >= end);
    CHECK(until(lease) <= (begun > r.sent ? begun : r.sent) + timeout);
    CHECK(lease->last_answered >= r.sent);
    CHECK(lease->requests.count <= ZKR__LEASE_SIGNS);
    CHECK(lease->writes.count <= ZKR__LEASE_SIGNS);
}

static void shorten(struct zkr__lease *lease, int64_t to)
{
    int64_t end = until(lease);

    zkr__lease_set_timeout(lease, to);
    timeout = timeout == 0 || to < timeout ? to : timeout;
    CHECK(lease->timeout == timeout);
    CHECK(end == 0 || until(lease) <= end);
    CHECK(zkr__lease_beat(lease) <= zkr__lease_pulse(lease));
    CHECK(zkr__lease_pulse(lease) <= zkr__lease_late(lease));
    CHECK(zkr__lease_patience(lease) >= gap());
}

static void begin(struct zkr__lease *lease, struct fuzz_input *in)
{
    int64_t margin = (int64_t)fuzz_number(in, 1) * 1000000;

    count = 0;
    is_sparse = true;
    timeout = 0;
    ping_gap = (int64_t)fuzz_number(in, 1) * 100000000;
    zkr__lease_reset(lease, ping_gap, margin);
    CHECK(zkr__lease_until(lease) == 0);
    /* As a server says it: milliseconds in 32 bits. */
    shorten(lease, (int64_t)(fuzz_number(in, 4) & INT32_MAX) * 1000000);
    begun = 1 + (int64_t)(fuzz_number(in, 8) % (CLOCK_MAX / 2));
    zkr__lease_begin(lease, begun);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = { data, size };
    struct zkr__lease lease;
    int64_t unit;
    int64_t now;

    begin(&lease, &in);
    unit = timeout / 64 + 1;
    now = begun;
    while (in.size > 0 && count < REQUESTS && now < CLOCK_MAX) {
        uint8_t step = (uint8_t)fuzz_number(&in, 1);
        int64_t took = unit * (int64_t)fuzz_number(&in, 1);

        now += unit * (step % 32);
        if (step == 0xff)
            zkr__lease_rest(&lease);
        else if (step == 0xfe)
            shorten(&lease, timeout - took > 0 ? timeout - took : timeout);
        else
            check_request(&lease, (struct request){
                                      now,
                                      now + (step & 0x40 ? took : took / 64),
                                      (step & 0x80) == 0,
                                  });
    }
    return 0;
}
