/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of all fuzz targets: they check a promise, and read the input. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts, which a fuzzer reports as a finding. */
#define CHECK(promise)                                                         \
    do {                                                                       \
        if (!(promise)) {                                                      \
            (void)fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,   \
                          #promise);                                           \
            abort();                                                           \
        }                                                                      \
    } while (0)

/* Returns the input up to its first NUL, in a block of exactly that size. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = size == 0 ? strdup("") : strndup((const char *)data, size);

    CHECK(text != NULL);
    return text;
}

/* Returns the whole input, in a block of exactly that size. */
static inline char *fuzz_bytes(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size > 0 ? size : 1);

    CHECK(bytes != NULL);
    return memcpy(bytes, data, size);
}

/* The rest of the input. */
struct fuzz_input {
    const uint8_t *data;
    size_t size;
};

/* Reads a number of `width` bytes; 0 at the end of the input. */
static inline uint64_t fuzz_number(struct fuzz_input *in, size_t width)
{
    uint64_t value = 0;

    for (; width > 0 && in->size > 0; width--, in->size--)
        value = value << 8 | *in->data++;
    return value;
}

/* Of all who stand in a queue: the unfair mutex has none. */
#define FUZZ_QUEUED (ZKR__ALL_MARKERS & ~ZKR__MARKER_BIT(ZKR__UNFAIR_HOLDER))

/* Reads names as a server might list them. */
#define FUZZ_NAMES 64

struct fuzz_names {
    char *text;
    const char *names[FUZZ_NAMES];
    size_t count;
};

/* The names are between slashes, because no name has a slash. */
static inline void fuzz_names_read(struct fuzz_names *list, const uint8_t *data,
                                   size_t size)
{
    char *rest = list->text = fuzz_text(data, size);

    for (list->count = 0; rest != NULL && list->count < FUZZ_NAMES;)
        list->names[list->count++] = strsep(&rest, "/");
}
