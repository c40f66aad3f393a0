/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the label that others are shown: the text of --why, the command, or
 * the name of its program. */
#pragma once

#include "run/run.h"

struct script;

enum fit {
    FIT_WHOLE,   /* the label is the text */
    FIT_CHANGED, /* but for characters that no line has */
    FIT_CUT,     /* it ends with WHY_MARK */
};

#define WHY_MARK "..."

/* As much of a text as a label may have: at most ZKR_LABEL_MAX bytes, whole
 * characters; a blank for control characters, '?' for what is no text. A short
 * end is always there, whole. */
enum fit why_fit(const char *text, const char *end,
                 char label[ZKR_LABEL_MAX + 1]);

/* Says once where the label is less than the text. A failure of something that
 * only informs does not keep a command from running. */
void label_of_command(const struct lockctl *ctl, struct run_opts *opts);
/* The process id of the shell stands behind it, whatever the text is. */
void label_of_script(const struct lockctl *ctl, struct run_opts *opts,
                     const struct script *script);

/* "deploy.sh (4711)", of the shell. */
void script_name(const struct script *s, char name[ZKR_LABEL_MAX + 1]);
