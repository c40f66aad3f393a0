/* SPDX-License-Identifier: Apache-2.0 */
/* Asks about a lock that is kept for the shell that has started us. Its
 * environment names all holds, and also those that have ended. */
#include "run/ask_holds.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/escape.h"
#include "run/shell_holds.h"

static int not_held(const struct holds *holds, const struct question *q,
                    bool all_answer)
{
    char path[ZKR_PATH_MAX + 1];

    (void)escape_string(q->about, path, sizeof(path));
    if (holds->count == 0)
        return lockctl_fail(EX_NO, "no lock is held for this shell: "
                                   "$" HOLDS_VARIABLE " names none");
    if (all_answer)
        return lockctl_fail(EX_NO, "%s is not held for this shell", path);
    return lockctl_fail(EX_LOST,
                        "%s is not held any more: it was given back before, or "
                        "the process that kept it was killed",
                        q->about[0] == '\0' ? "the lock" : path);
}

static void about(struct question *q, enum asked what, const char *id)
{
    q->what = what;
    (void)snprintf(q->about, sizeof(q->about), "%s", id);
}

/* The older ones are told which hold was released: if its process ended
 * otherwise, the lock was lost. */
static void note_release(const struct holds *holds, size_t released)
{
    struct question q;
    struct answer a;

    about(&q, ASKED_NOTE, holds->ids[released]);
    for (size_t i = 0; i < released; i++)
        (void)asking_ask(holds->ids[i], &q, &a);
}

/* Tells whether all that are newer have been released. */
static bool is_newest(const struct holds *holds, size_t i)
{
    struct question q;
    struct answer a;

    for (size_t newer = i + 1; newer < holds->count; newer++) {
        about(&q, ASKED_NOTED, holds->ids[newer]);
        if (!asking_ask(holds->ids[i], &q, &a) || a.code != 0)
            return false;
    }
    return true;
}

static int tell(const struct lockctl *ctl, const struct question *q,
                const struct answer *a)
{
    if (a->code == 0 && ctl->verbose > 0)
        lockctl_say(ctl, q->what == ASKED_CHECK ? "the lock is held"
                                                : "the lock is given back");
    return a->code == 0 ? 0 : lockctl_fail(a->code, "%s", a->text);
}

/* The hold of any lock that is asked first; its index, or -1: it is not known
 * that none was lost which is newer. */
static int find_newest(const struct holds *holds)
{
    for (size_t i = holds->count; i > 0; i--) {
        if (asking_is_there(holds->ids[i - 1]))
            return is_newest(holds, i - 1) ? (int)i - 1 : -1;
    }
    return -1;
}

int ask_holds(const struct lockctl *ctl, const struct question *q)
{
    struct answer a = { .code = ANSWER_NOT_MINE };
    struct holds holds;
    bool all_answer = true;
    size_t i;

    holds_read(&holds, getenv(HOLDS_VARIABLE));
    i = q->about[0] != '\0' ? holds.count : (size_t)(find_newest(&holds) + 1);
    if (i < holds.count)
        all_answer = q->about[0] == '\0' && i > 0;
    for (; a.code == ANSWER_NOT_MINE && i > 0; i--) {
        if (!asking_ask(holds.ids[i - 1], q, &a))
            all_answer = false;
        else if (a.code != ANSWER_NOT_MINE && q->what == ASKED_RELEASE)
            note_release(&holds, i - 1);
    }
    return a.code == ANSWER_NOT_MINE ? not_held(&holds, q, all_answer)
                                     : tell(ctl, q, &a);
}

int ask_parse(const struct lockctl *ctl, int argc, char **argv,
              struct question *q)
{
    if (argc > 1)
        return lockctl_fail(EX_USAGE, "more than one lock; see --help");
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (ctl->settings[i] != NULL || ctl->context != NULL)
            return lockctl_fail(EX_USAGE, "no server is asked: options that "
                                          "name an ensemble mean nothing here");
    }
    return argc == 0 || lockctl_parse_path(argv[0], q->about, sizeof(q->about))
               ? 0
               : EX_USAGE;
}
