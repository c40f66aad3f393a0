/* SPDX-License-Identifier: Apache-2.0 */
/* Asks about a lock that is kept for the shell that has started us. Its
 * environment names all holds, and also those that have ended. */
#include "run/ask_holds.h"

#include <stdlib.h>

#include "common/escape.h"
#include "run/holds.h"

static int not_held(const struct holds *holds, const struct question *q,
                    bool all_answer)
{
    char path[ZKR_PATH_MAX + 1];

    (void)escape_string(q->path, path, sizeof(path));
    if (holds->count == 0)
        return lockctl_fail(EX_NO, "no lock is held for this shell: "
                                   "$" HOLDS_VARIABLE " names none");
    if (all_answer)
        return lockctl_fail(EX_NO, "%s is not held for this shell", path);
    return lockctl_fail(EX_LOST,
                        "%s is not held any more: it was given back before, or "
                        "the process that kept it was killed",
                        q->path[0] == '\0' ? "the lock" : path);
}

int ask_holds(const struct lockctl *ctl, const struct question *q)
{
    struct answer a = { .code = ANSWER_NOT_MINE };
    struct holds holds;
    bool all_answer = true;

    holds_read(&holds, getenv(HOLDS_VARIABLE));
    for (size_t i = holds.count; a.code == ANSWER_NOT_MINE && i > 0; i--) {
        if (!asking_ask(holds.ids[i - 1], q, &a))
            all_answer = false;
    }
    if (a.code == ANSWER_NOT_MINE)
        return not_held(&holds, q, all_answer);
    if (a.code == 0 && ctl->verbose > 0)
        lockctl_say(ctl, q->what == ASKED_CHECK ? "the lock is held"
                                                : "the lock is given back");
    return a.code == 0 ? 0 : lockctl_fail(a.code, "%s", a.text);
}
