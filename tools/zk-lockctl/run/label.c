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

void why_fit(const char *text, const char *end, char label[ZKR_LABEL_MAX + 1])
{
    size_t room = ZKR_LABEL_MAX - strlen(end);
    size_t room_before_mark = room - strlen(WHY_MARK);
    size_t left = strlen(text);
    bool cut = false;
    size_t used = 0;
    size_t before_mark = 0; /* what stays when it is cut */

    while (left > 0) {
        uint32_t c = 0;
        size_t len = escape_decode((const unsigned char *)text, left, &c);
        const char *instead = len == 0 || is_refused(c) ? "?"
                              : is_control(c)           ? " "
                                                        : NULL;
        size_t size = instead != NULL ? 1 : len;

        cut = used + size > room;
        if (cut)
            break;
        (void)memcpy(label + used, instead != NULL ? instead : text, size);
        used += size;
        if (used <= room_before_mark)
            before_mark = used;
        text += len == 0 ? 1 : len;
        left -= len == 0 ? 1 : len;
    }
    (void)sprintf(label + (cut ? before_mark : used), "%s%s",
                  cut ? WHY_MARK : "", end);
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

void label_choose(struct run_opts *opts, pid_t shell)
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
    why_fit(text, end, opts->label);
    opts->wanted.label = opts->label[0] == '\0' ? NULL : opts->label;
}
