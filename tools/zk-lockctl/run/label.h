/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the label that others are shown: the text of --why, or the command,
 * that of a shell with its process id. */
#pragma once

#include "run/run.h"

/* A label that has been cut ends with this mark. */
#define WHY_MARK "..."

/* As much of a text as a label may have: at most ZKR_LABEL_MAX bytes, whole
 * characters; a blank for control characters, '?' for what is no text. A short
 * end is always there, whole. */
void why_fit(const char *text, const char *end, char label[ZKR_LABEL_MAX + 1]);

/* `shell` is the process for which a lock is held; 0: it is for the command of
 * the options. */
void label_choose(struct run_opts *opts, pid_t shell);
