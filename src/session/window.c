/* SPDX-License-Identifier: Apache-2.0 */
/* The window: how many requests may be under way at once. Pure. */
#include "session/window.h"

#include "base/clock.h"

/* Few enough for the largest answers, 1 MB each, to come soon. */
#define FIRST    128
#define LEAST    8
#define WAIT_MAX (125 * ZKR__MS)

void zkr__window_begin(struct zkr__window *w, int64_t timeout)
{
    *w = (struct zkr__window){ .size = FIRST, .wait = timeout / 32 };
    if (w->wait > WAIT_MAX)
        w->wait = WAIT_MAX;
}

/* A read waits for the writes before it, so what writes take is allowed to
 * reads as well. */
static int64_t quickest(const struct zkr__window *w)
{
    return w->read > w->write ? w->read : w->write;
}

/* Answers to what was sent into a larger window do not count. When answers are
 * slow also with the least window, it is the way there that takes so long. */
static void shrink(struct zkr__window *w, int64_t *same, int64_t took,
                   int64_t now)
{
    if (w->size <= LEAST)
        *same = took;
    else
        w->size = w->size / 2 < LEAST ? LEAST : w->size / 2;
    w->shrunk = true;
    w->changed = now;
}

/* Answers tell of a larger window a flight later. So once there was one that
 * was too large, it grows by an eighth in a flight, instead of twice. */
static void grow(struct zkr__window *w)
{
    if (w->size < ZKR__WINDOW_MAX && (!w->shrunk || ++w->quick % 8 == 0))
        w->size++;
}

void zkr__window_answered(struct zkr__window *w, bool write, int64_t sent,
                          int64_t now, bool full)
{
    int64_t *same = write ? &w->write : &w->read;
    int64_t took = now - sent;

    if (*same == 0 || took < *same)
        *same = took;
    if (sent < w->changed)
        return;
    if (took > quickest(w) + w->wait)
        shrink(w, same, took, now);
    else if (full && took < quickest(w) + w->wait / 2)
        grow(w);
}
