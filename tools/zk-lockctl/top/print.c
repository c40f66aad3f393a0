/* SPDX-License-Identifier: Apache-2.0 */
/* Runs top without a screen: prints table after table, or lines for
 * programs. */
#include <stdio.h>

#include <unistd.h>

#include "common/stop.h"
#include "model/looker.h"
#include "text/envelope.h"
#include "top/top.h"

enum {
    TICK_MS = 100,      /* to see whether there is a look */
    PATIENCE_MS = 1000, /* with servers, at the end */
};

struct printer {
    const struct top_opts *opts;
    struct lockctl *ctl;
    struct top_model model;
    size_t tables; /* that were printed */
    bool failing;  /* that was said */
};

/* --- one look --- */

static const void *row_at(const void *of, size_t i)
{
    return ((const struct printer *)of)->model.shown[i];
}

static enum style style_of(const void *item)
{
    const struct top_row *row = item;

    return row->view.lock.state == LOCK_FREE ? STYLE_DIM : STYLE_PLAIN;
}

static void print_totals(const void *of)
{
    const struct printer *p = of;
    char totals[TOP_TOTALS_MAX];
    char time[WORD_MAX];

    (void)printf("%s%s  %s\n", p->tables > 0 ? "\n" : "",
                 word_time(p->model.at_ms, time),
                 top_model_say_totals(&p->model, totals));
}

static int print(struct printer *p)
{
    const struct top_view *view = &p->opts->view;
    const struct top_order order = { view->sort, view->reversed, view->filter };
    struct rows rows = { .kind = "LockTop",
                         .fields = top_fields,
                         .of = p,
                         .item = row_at,
                         .style = style_of,
                         .head = print_totals,
                         .at_ms = p->model.at_ms,
                         .notes = &p->model.notes,
                         .silent = p->tables > 0 };
    int code;

    if (!top_model_arrange(&p->model, &order))
        return lockctl_fail_error(ZKR_ENOMEM, "");
    rows.count = p->model.shown_count;
    code = rows_print(p->ctl, &rows);
    p->tables++;
    return code;
}

/* --- look after look --- */

/* A look that fails ends it only if it was the first. */
static int take(struct printer *p, struct look_result *result)
{
    int code, flushed;

    if (result->error != ZKR_OK) {
        if (p->failing)
            return 0;
        p->failing = true;
        code = lockctl_fail_error(result->error, result->detail);
        return p->model.at_ms == 0 ? code : 0;
    }
    p->failing = false;
    stop_printing(true);
    code = top_model_take(&p->model, &result->scan)
               ? print(p)
               : lockctl_fail_error(ZKR_ENOMEM, "");
    scan_done(&result->scan);
    flushed = stop_flush();
    return flushed == 0 ? code : flushed;
}

static int take_next(struct printer *p, struct looker *looker, uint32_t *count)
{
    struct look_result result;

    if (lockctl_is_over(p->ctl))
        return lockctl_fail_error(ZKR_ECLOSED, "");
    if (!looker_take(looker, &result))
        return 0;
    (*count)++;
    return take(p, &result);
}

/* The servers are asked for what changes, and for nothing else. */
static int go_on(struct printer *p)
{
    struct looker *looker;
    uint32_t count = 1;
    int code = 0;

    if (!stop_wait(p->opts->view.interval_ms))
        return 0;
    if (!looker_start(p->ctl, p->opts->root, p->opts->view.interval_ms,
                      &looker))
        return lockctl_fail_error(ZKR_ENOMEM, "");
    while (code == 0 && count != p->opts->count && stop_wait(TICK_MS) &&
           stop_wait_for_connection(p->ctl, &p->failing))
        code = take_next(p, looker, &count);
    if (!looker_end(looker, PATIENCE_MS))
        _exit(code); /* it uses the session still */
    return code;
}

/* One table needs no watches. */
static int print_all(struct printer *p)
{
    struct look_result result;
    int code;

    look_once(p->ctl, p->opts->root, &result);
    code = take(p, &result);
    if (code == 0 && p->opts->count != 1)
        code = go_on(p);
    lockctl_disconnect(p->ctl);
    return code;
}

int top_print(const struct top_opts *opts)
{
    struct printer p = { .opts = opts, .ctl = opts->ctl };
    int code;

    if (!stop_start())
        return lockctl_fail_error(ZKR_ENOMEM, "");
    code = print_all(&p);
    stop_end();
    top_model_done(&p.model);
    return code;
}
