/* SPDX-License-Identifier: Apache-2.0 */
/* Error codes: whether a request that ended with one may have been carried out,
 * and the sentence that explains the last error of a thread. */
#pragma once

#include <zkrecipes/error.h>

/* The effect that a failed request may have had. */
enum zkr__outcome {
    ZKR__DONE,     /* there is an answer: asking again is useless */
    ZKR__NOT_DONE, /* certainly not carried out: may be sent again */
    ZKR__UNKNOWN,  /* carried out or not */
    ZKR__OVER, /* the session is over: what was ephemeral is gone, or will be */
};

/* Returns what a request that ended with `code` has done. Unknown codes are
 * DONE: they are reported as they came, and never retried. */
enum zkr__outcome zkr__error_outcome(int code);

/* Sets the sentence of zkr_error_detail() and returns `code`, so that an error
 * is explained where it is returned. When `code` is one of ZooKeeper's, its
 * name and number are added. */
int zkr__fail(int code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns ZKR_ENOMEM: "noun 'path': out of memory". Without a path it is NULL.
 */
int zkr__no_memory(const char *noun, const char *path);

#define ZKR__DETAIL_MAX 512

/* The same in two steps: one thread formats the sentence, another sets it
 * later. */
void zkr__error_set_detail(const char *detail);

/* Adds to the end of the sentence of this thread. */
void zkr__error_append(const char *text);

void zkr__error_format(char detail[ZKR__DETAIL_MAX], int code,
                       const char *format, ...)
    __attribute__((format(printf, 3, 4)));
