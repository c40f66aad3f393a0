/* SPDX-License-Identifier: Apache-2.0 */
/* Fits a text into the label that others are shown when they want the lock.
 * Pure. */
#ifndef RUN_WHY_H
#define RUN_WHY_H

#include <stdbool.h>

#include <zkrecipes/session.h>

enum fit {
    FIT_WHOLE,   /* the label is the text */
    FIT_CHANGED, /* but for characters that no line has */
    FIT_CUT,     /* it ends with WHY_MARK */
};

#define WHY_MARK "..."

/* As much of a text as a label may have: at most ZKR_LABEL_MAX bytes, whole
 * characters; a blank for control characters, '?' for what is no text. */
enum fit why_fit(const char *text, char label[ZKR_LABEL_MAX + 1]);
/* The same with a short end, which is always there, whole. */
enum fit why_fit_before(const char *text, const char *end,
                        char label[ZKR_LABEL_MAX + 1]);

#endif
