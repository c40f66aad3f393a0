/* SPDX-License-Identifier: Apache-2.0 */
/* The times of which records tell all: who held then is known, or that nobody
 * did. */
#ifndef MODEL_SPANS_H
#define MODEL_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
    int64_t from_ms, until_ms; /* both belong to it */
};

struct spans {
    struct span *items;
    size_t count;
    bool open; /* the last one goes on */
};

/* False: out of memory. */
bool spans_begin(struct spans *spans, int64_t at_ms);
/* The last one, if it goes on, goes on up to that moment. */
void spans_lengthen(struct spans *spans, int64_t at_ms);
bool spans_know(const struct spans *spans, int64_t ms);
void spans_done(struct spans *spans);

#endif
