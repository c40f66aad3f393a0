/* SPDX-License-Identifier: Apache-2.0 */
/* Does what the user of top has confirmed, one thing at a time, on a thread. */
#include "top/deed.h"

#include <stdlib.h>

#include "common/escape.h"
#include "common/worker.h"
#include "model/breaking.h"
#include "model/revoking.h"

/* Where one of several cannot be asked, that is what came of it. */
static void ask_all(struct deed *d)
{
    struct outcome one;
    bool failed = false;

    for (size_t i = 0; i < d->count; i++) {
        bool asked = revoking_ask(d->ctl, &d->targets[i], &one) == 0;

        if (!failed)
            d->told = one;
        failed = failed || !asked;
    }
    if (!failed && d->count > 1)
        (void)outcome_set(&d->told, 0, "asked %zu holders", d->count);
}

static void run(void *arg)
{
    struct deed *d = arg;

    if (d->breaks)
        (void)breaking_do(d->ctl, &d->targets[0], &d->told);
    else
        ask_all(d);
}

bool deed_start(struct deed *d, struct dialog *dialog, struct outcome *ret)
{
    bool started = d->errand == NULL;

    if (!started) {
        (void)outcome_set(ret, EX_TEMPFAIL,
                          "the servers have not answered to the last one yet: "
                          "nothing was done");
    } else {
        free(d->targets);
        d->targets = dialog->targets;
        d->count = dialog->count;
        d->breaks = dialog->kind == DIALOG_BREAK;
        d->awaits = false;
        dialog->targets = NULL;
        started = errand_start(run, d, &d->errand);
        (void)outcome_set(ret, started ? 0 : EX_SOFTWARE, "%s",
                          !started    ? "out of memory: nothing was done"
                          : d->breaks ? "breaking..."
                                      : "asking...");
    }
    dialog_done(dialog);
    return started;
}

int deed_fd(const struct deed *d)
{
    return errand_fd(d->errand);
}

/* Keeps it for the end of the program. */
static void keep(struct deed *d, const char *what)
{
    char path[512];

    notes_add(&d->done, "%s: %s",
              escape_string(d->targets[0].path, path, sizeof(path)), what);
}

bool deed_take(struct deed *d, struct outcome *ret)
{
    if (d->errand == NULL || !errand_end(d->errand, 0))
        return false;
    d->errand = NULL;
    d->awaits = !d->breaks && d->told.code == 0;
    keep(d, d->told.text);
    *ret = d->told;
    return true;
}

bool deed_look(struct deed *d, const struct top_model *model,
               struct outcome *ret)
{
    const struct top_row *row =
        d->awaits ? top_model_row(model, d->targets[0].path) : NULL;

    if (!d->awaits ||
        (row == NULL ? model->partial : row->view.lock.state == LOCK_UNKNOWN))
        return false;
    for (size_t i = 0; i < d->count && row != NULL; i++) {
        if (target_find(&d->targets[i], &row->view.lock) != NULL)
            return false;
    }
    d->awaits = false;
    if (d->count == 1)
        (void)outcome_set(ret, 0, "%s has let go", d->targets[0].who);
    else
        (void)outcome_set(ret, 0, "all %zu have let go", d->count);
    keep(d, ret->text);
    return true;
}

bool deed_end(struct deed *d, int64_t patience_ms)
{
    if (d->errand == NULL)
        return true;
    if (!errand_end(d->errand, patience_ms)) {
        keep(d, d->breaks ? "the servers have not answered: nobody knows "
                            "whether it is broken"
                          : "the servers have not answered: nobody knows "
                            "whether the holder was asked");
        return false;
    }
    d->errand = NULL;
    keep(d, d->told.text);
    return true;
}

void deed_done(struct deed *d)
{
    free(d->targets);
    notes_done(&d->done);
}
