/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of asking for a lock across languages, with Curator's Revoker and
 * ours. */
#include "pair.h"

/* The holder listens, the other asks: it is told, and still holds. */
static void hears(const char *recipe, const char *mode, enum kind holder_kind,
                  enum kind asker_kind)
{
    struct side holds = { holder_kind, "curator", mode };
    struct side asks = { asker_kind, "curator", mode };
    struct duo d = duo_on_new_path(recipe, &holds, &asks);

    worker_do(d.holder, "listening", "listen");
    worker_acquire(d.holder, mode);
    worker_do(d.other, "revoked", "revoke %s/%s", d.path, d.holder->node);
    worker_expect(d.holder, "asked");
    assert_int_equal(count_children(d.path), 1);
    worker_do(d.holder, "released", "release %s", mode);
}

TEST(c_holder_hears_the_revoker_of_curator)
{
    hears("mutex", "write", KIND_C, KIND_CURATOR);
}

TEST(c_writer_and_reader_hear_the_revoker_of_curator)
{
    hears("rw", "write", KIND_C, KIND_CURATOR);
    hears("rw", "read", KIND_C, KIND_CURATOR);
}

TEST(curator_holder_hears_our_request)
{
    hears("mutex", "write", KIND_CURATOR, KIND_C);
}

TEST(curator_writer_and_reader_hear_our_request)
{
    hears("rw", "write", KIND_CURATOR, KIND_C);
    hears("rw", "read", KIND_CURATOR, KIND_C);
}
