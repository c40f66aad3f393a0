/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the label that others are shown: the text of --why, the command, or
 * the name of its program. */
#include "run/label.h"

#include <stdio.h>
#include <string.h>

#include "common/escape.h"
#include "run/script.h"
#include "run/why.h"

/* More than fits into a label need not be there to see that it is cut. */
enum { COMMAND_MAX = 2 * ZKR_LABEL_MAX };

static void take_why(const struct lockctl *ctl, struct run_opts *opts,
                     const char *end)
{
    char shown[4 * ZKR_LABEL_MAX + 1];

    if (why_fit_before(opts->why, end, opts->label) == FIT_WHOLE)
        return;
    (void)escape_string(opts->label, shown, sizeof(shown));
    lockctl_say(ctl,
                "--why: others are shown one line of at most %d bytes: \"%s\"",
                ZKR_LABEL_MAX, shown);
}

/* That the lines of a script become one is nothing that its user must know. */
static void take_command(const struct lockctl *ctl, struct run_opts *opts,
                         const char *command, const char *end)
{
    char shown[4 * ZKR_LABEL_MAX + 1];

    if (why_fit_before(command, end, opts->label) != FIT_CUT)
        return;
    (void)escape_string(opts->label, shown, sizeof(shown));
    lockctl_say(ctl,
                "others are shown the command, cut to %d bytes: \"%s\"; --why "
                "shows them another text",
                ZKR_LABEL_MAX, shown);
}

static const char *join(char **words, char text[COMMAND_MAX])
{
    size_t used = 0;

    text[0] = '\0';
    for (; *words != NULL && used < COMMAND_MAX; words++)
        used += (size_t)snprintf(text + used, COMMAND_MAX - used, "%s%s",
                                 used == 0 ? "" : " ", *words);
    return text;
}

void label_of_command(const struct lockctl *ctl, struct run_opts *opts)
{
    const char *slash = strrchr(opts->argv[0], '/');
    char command[COMMAND_MAX];

    if (opts->why != NULL)
        take_why(ctl, opts, "");
    else if (opts->why_name)
        (void)why_fit(slash != NULL ? slash + 1 : opts->argv[0], opts->label);
    else
        take_command(
            ctl, opts,
            opts->text != NULL ? opts->text : join(opts->argv, command), "");
    opts->wanted.label = opts->label[0] == '\0' ? NULL : opts->label;
}

void label_of_script(const struct lockctl *ctl, struct run_opts *opts,
                     const struct script *script)
{
    char command[COMMAND_MAX];
    char end[SCRIPT_END_MAX];

    script_end(script, end);
    if (opts->why != NULL && opts->why[0] != '\0') {
        take_why(ctl, opts, end);
    } else if (opts->why_name) {
        script_name(script, opts->label);
    } else {
        script_command(script, command, sizeof(command));
        take_command(ctl, opts, command, end);
    }
    opts->wanted.label = opts->label;
}
