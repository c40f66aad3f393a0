/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the label that others are shown: the text of --why, the command, or
 * the name of its program. */
#include "run/label.h"

#include <stdio.h>
#include <string.h>

#include "common/escape.h"
#include "run/script.h"

/* -- what fits ------------------------------------------------------------ */

static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f);
}

/* ZooKeeper refuses private use and the specials in names, and the library in
 * labels, too. */
static bool is_refused(uint32_t c)
{
    return (c >= 0xe000 && c <= 0xf8ff) || (c >= 0xfff0 && c <= 0xffff);
}

enum fit why_fit(const char *text, const char *end,
                 char label[ZKR_LABEL_MAX + 1])
{
    size_t room = ZKR_LABEL_MAX - strlen(end);
    size_t room_before_mark = room - strlen(WHY_MARK);
    size_t left = strlen(text);
    enum fit fit = FIT_WHOLE;
    size_t used = 0;
    size_t before_mark = 0; /* what stays when it is cut */

    while (left > 0) {
        uint32_t c = 0;
        size_t len = escape_decode((const unsigned char *)text, left, &c);
        const char *instead = len == 0 || is_refused(c) ? "?"
                              : is_control(c)           ? " "
                                                        : NULL;
        size_t size = instead != NULL ? 1 : len;

        if (used + size > room) {
            fit = FIT_CUT;
            break;
        }
        (void)memcpy(label + used, instead != NULL ? instead : text, size);
        used += size;
        if (used <= room_before_mark)
            before_mark = used;
        if (instead != NULL)
            fit = FIT_CHANGED;
        text += len == 0 ? 1 : len;
        left -= len == 0 ? 1 : len;
    }
    (void)sprintf(label + (fit == FIT_CUT ? before_mark : used), "%s%s",
                  fit == FIT_CUT ? WHY_MARK : "", end);
    return fit;
}

/* -- the choice ----------------------------------------------------------- */

/* More than fits into a label need not be there to see that it is cut. */
enum { COMMAND_MAX = 2 * ZKR_LABEL_MAX };

/* That the lines of a command become one is nothing that its user must know. */
static void take(const struct lockctl *ctl, struct run_opts *opts,
                 const char *text, const char *end)
{
    bool why = text == opts->why;
    enum fit fit = why_fit(text, end, opts->label);
    char shown[4 * ZKR_LABEL_MAX + 1];

    if (fit == FIT_WHOLE || (fit == FIT_CHANGED && !why))
        return;
    (void)escape_string(opts->label, shown, sizeof(shown));
    lockctl_say(ctl, "%s %d bytes: \"%s\"%s",
                why ? "--why: others are shown one line of at most"
                    : "others are shown the command, cut to",
                ZKR_LABEL_MAX, shown,
                why ? "" : "; --why shows them another text");
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
        take(ctl, opts, opts->why, "");
    else if (opts->why_name)
        (void)why_fit(slash != NULL ? slash + 1 : opts->argv[0], "",
                      opts->label);
    else
        take(ctl, opts,
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
        take(ctl, opts, opts->why, end);
    } else if (opts->why_name) {
        script_name(script, opts->label);
    } else {
        script_command(script, command, sizeof(command));
        take(ctl, opts, command, end);
    }
    opts->wanted.label = opts->label;
}
