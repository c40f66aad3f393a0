/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the label that others are shown: the text of --why, the command, or
 * the name of its program. */
#include "run/label.h"

#include <stdio.h>
#include <string.h>

#include "common/escape.h"
#include "run/proc.h"
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

/* -- the name of a script ------------------------------------------------- */

enum { SCRIPT_END_MAX = 16 };

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static bool is_shell(const char *name)
{
    size_t len = strlen(name);

    return len >= 2 && strcmp(name + len - 2, "sh") == 0;
}

struct words {
    char program[64]; /* the name of the process */
    char text[512];   /* its arguments, each with its end */
    size_t size;
    size_t script; /* where a script begins; 0: not known */
};

/* In "bash deploy.sh" it is the first argument. Of "bash -c TEXT" only the name
 * of the shell is shown. */
static size_t script_of_shell(const struct words *w)
{
    size_t first = strlen(w->text) + 1;

    return first < w->size && w->text[first] != '-' && w->text[first] != '\0'
               ? first
               : 0;
}

/* A script with "#!" gives the process its name, which the kernel cuts. */
static size_t script_of_name(const struct words *w)
{
    size_t len = strlen(w->program);
    size_t at = 0;

    while (at < w->size &&
           strncmp(base_name(w->text + at), w->program, len) != 0)
        at += strlen(w->text + at) + 1;
    return at < w->size ? at : 0;
}

static bool runs_shell(const struct words *w)
{
    return is_shell(w->program) && strcmp(base_name(w->text), w->program) == 0;
}

static void read_words(const struct script *s, struct words *w)
{
    w->size = proc_read(s->pid, "cmdline", w->text, sizeof(w->text));
    (void)proc_read(s->pid, "comm", w->program, sizeof(w->program));
    w->program[strcspn(w->program, "\n")] = '\0';
    w->script = runs_shell(w) ? script_of_shell(w) : script_of_name(w);
}

/* The end of its name, which leads to the shell also where its user has another
 * text for it. */
static void write_end(const struct script *s, char end[SCRIPT_END_MAX])
{
    (void)snprintf(end, SCRIPT_END_MAX, " (%d)", (int)s->pid);
}

void script_name(const struct script *s, char name[ZKR_LABEL_MAX + 1])
{
    char end[SCRIPT_END_MAX];
    struct words w;

    read_words(s, &w);
    write_end(s, end);
    (void)why_fit(w.script != 0 ? base_name(w.text + w.script) : w.program, end,
                  name);
}

/* The script with its arguments, "./deploy.sh prod"; or the name of a shell
 * that runs none. */
static void write_command(const struct script *s, char *text, size_t size)
{
    size_t used = 0;
    struct words w;

    read_words(s, &w);
    if (w.size == 0 || (w.script == 0 && runs_shell(&w))) {
        (void)snprintf(text, size, "%s", w.program);
        return;
    }
    for (size_t at = w.script; at < w.size && used < size;
         at += strlen(w.text + at) + 1)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 used == 0 ? "" : " ", w.text + at);
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
    char command[COMMAND_MAX];

    if (opts->why != NULL)
        take(ctl, opts, opts->why, "");
    else if (opts->why_name)
        (void)why_fit(base_name(opts->argv[0]), "", opts->label);
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

    write_end(script, end);
    if (opts->why != NULL && opts->why[0] != '\0') {
        take(ctl, opts, opts->why, end);
    } else if (opts->why_name) {
        script_name(script, opts->label);
    } else {
        write_command(script, command, sizeof(command));
        take(ctl, opts, command, end);
    }
    opts->wanted.label = opts->label;
}
