/* SPDX-License-Identifier: Apache-2.0 */
/* A strict parser of the text format of Prometheus. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { LABELS_MAX = 4, SAMPLES_MAX = 64 };

struct label {
    char name[32];
    char value[4200]; /* without its escapes */
};

struct sample {
    char name[64];
    struct label labels[LABELS_MAX];
    size_t label_count;
    double value;
};

struct samples {
    struct sample items[SAMPLES_MAX];
    size_t count;
    char error[128]; /* what is wrong; "" when all is right */
};

/* Read a whole page: each line ends with \n; each metric has HELP and TYPE
 * before its first sample, once, and its samples stand together; no sample
 * occurs twice. */
bool prometheus_read(const char *text, struct samples *ret_samples);

/* The sample of that name and lock (NULL: without labels), or NULL. */
const struct sample *prometheus_find(const struct samples *s, const char *name,
                                     const char *lock);
