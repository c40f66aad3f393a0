/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the label that others are shown: the text of --why, the command, or
 * the name of its program. */
#ifndef RUN_LABEL_H
#define RUN_LABEL_H

#include "run/run.h"

struct script;

/* Says once where the label is less than the text. A failure of something that
 * only informs does not keep a command from running. */
void label_of_command(const struct lockctl *ctl, struct run_opts *opts);
/* The process id of the shell stands behind it, whatever the text is. */
void label_of_script(const struct lockctl *ctl, struct run_opts *opts,
                     const struct script *script);

#endif
