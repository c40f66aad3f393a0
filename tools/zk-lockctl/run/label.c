/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the label that others are shown: the text of --why, or the command.
 */
#include "run/label.h"

#include <stdio.h>
#include <string.h>

#include "common/escape.h"
#include "run/proc.h"

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

/* More than fits into a label need not be there to see that it is cut. */
enum { COMMAND_MAX = 2 * ZKR_LABEL_MAX };

/* The words become one text, with blanks between; each has an end. */
static void join(char *text, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++) {
        if (text[i] == '\0')
            text[i] = ' ';
    }
}

static void read_command(char *const *argv, char text[COMMAND_MAX])
{
    size_t used = 0;

    for (; *argv != NULL && used < COMMAND_MAX; argv++)
        used += (size_t)snprintf(text + used, COMMAND_MAX - used, "%s%s",
                                 used == 0 ? "" : " ", *argv);
}

/* That the lines of a command become one is nothing that its user must know. */
static void say_fit(const struct lockctl *ctl, const struct run_opts *opts,
                    enum fit fit)
{
    char shown[4 * ZKR_LABEL_MAX + 1];
    bool why = opts->why != NULL;

    if (fit == FIT_WHOLE ||
        (!why && (fit == FIT_CHANGED || opts->argv == NULL)))
        return;
    (void)escape_string(opts->label, shown, sizeof(shown));
    lockctl_say(ctl, "%s %d bytes: \"%s\"%s",
                why ? "--why: others are shown one line of at most"
                    : "others are shown the command, cut to",
                ZKR_LABEL_MAX, shown,
                why ? "" : "; --why shows them another text");
}

void label_choose(const struct lockctl *ctl, struct run_opts *opts, pid_t shell)
{
    char command[COMMAND_MAX] = "";
    const char *text = opts->why != NULL ? opts->why : command;
    char end[16] = "";

    if (shell != 0) {
        join(command, proc_read(shell, "cmdline", command, sizeof(command)));
        (void)snprintf(end, sizeof(end), " (%d)", (int)shell);
    } else if (opts->text != NULL) {
        (void)snprintf(command, sizeof(command), "%s", opts->text);
    } else {
        read_command(opts->argv, command);
    }
    say_fit(ctl, opts, why_fit(text, end, opts->label));
    opts->wanted.label = opts->label[0] == '\0' ? NULL : opts->label;
}
