/* What stands above the lists of top: servers, totals, what is wrong. */
#include "top/head.h"

#include <stdio.h>
#include <string.h>

#include "common/plain.h"
#include "common/words.h"

enum { LATE_MS = 2000 };

static const char *clock_of(int64_t ms, char word[WORD_MAX])
{
    char time[WORD_MAX];

    (void)word_time(ms, time);
    (void)snprintf(word, WORD_MAX, "%.8sZ",
                   strlen(time) > 19 ? time + 11 : "--:--:--");
    return word;
}

static const char *duration_of(int64_t ms, char word[WORD_MAX])
{
    if (ms < 1000)
        (void)snprintf(word, WORD_MAX, "%dms", (int)ms);
    else if (ms < 60000)
        (void)snprintf(word, WORD_MAX, "%.3gs", (double)ms / 1000);
    else
        (void)snprintf(word, WORD_MAX, "%.3gm", (double)ms / 60000);
    return word;
}

static void write_title(struct top_line *line, int width,
                        const struct top_view *view,
                        const struct top_model *model,
                        const struct top_status *status)
{
    char left[GRID_CELL_MAX];
    char right[200];
    char words[2][WORD_MAX];

    (void)snprintf(left, sizeof(left), "zk-lockctl top  %.1000s",
                   status->servers);
    (void)snprintf(right, sizeof(right), "%s  every %s  %s", status->state,
                   duration_of(view->interval_ms, words[0]),
                   model->at_ms == 0 ? "" : clock_of(model->at_ms, words[1]));
    top_line_write_both(line, TOP_BOLD, width, left, right);
}

static void write_totals(struct top_line *line, int width,
                         const struct top_model *model,
                         const struct top_status *status)
{
    const struct top_totals *t = &model->totals;
    char left[300];
    char right[100];
    char words[2][WORD_MAX];

    if (model->at_ms == 0) {
        top_line_write(line, TOP_PLAIN, width, "looking...");
        return;
    }
    (void)snprintf(left, sizeof(left), "%zu lock%s, %zu held, %zu%s waiting",
                   model->count, model->count == 1 ? "" : "s", t->held,
                   t->waiters, t->more ? "+" : "");
    if (t->longest_wait_ms >= 0)
        (void)snprintf(left + strlen(left), sizeof(left) - strlen(left),
                       ", longest %s", word_age(t->longest_wait_ms, words[0]));
    (void)snprintf(right, sizeof(right), "%zu grants/min  look %s", t->grants,
                   duration_of(status->took_ms, words[1]));
    if (grid_width(left) + 2 + grid_width(right) > width)
        right[0] = '\0';
    top_line_write_both(line, TOP_PLAIN, width, left, right);
}

static void write_lock(struct top_line *line, int width,
                       const struct top_row *row)
{
    char path[GRID_CELL_MAX];
    char rest[300] = "";
    const struct lock *lock;

    if (row == NULL) {
        top_line_write(line, TOP_PLAIN, width,
                       "nobody has used this lock for a minute");
        return;
    }
    lock = &row->view.lock;
    (void)snprintf(rest, sizeof(rest), "%s (%s)  %s  %zu%s in the queue",
                   kind_name(lock->kind), dialect_name(lock->dialect),
                   lock_state_name(lock->state), lock->count,
                   lock->cut ? "+" : "");
    grid_cut(row->path, width - grid_width(rest) - 2, true, path);
    top_line_write(line, TOP_BOLD, width, "%s  %s", path, rest);
}

/* A look that takes its time is worth a word only when it takes long. */
static bool is_late(const struct top_view *view, const struct top_model *model,
                    const struct top_status *status)
{
    int64_t pause = view->interval_ms > 2 * status->took_ms
                        ? view->interval_ms
                        : 2 * status->took_ms;

    return model->at_ms != 0 &&
           status->now_ms - model->at_ms > pause + status->took_ms + LATE_MS;
}

/* Why what is shown is old; NULL: it is not. */
static const char *trouble(const struct top_view *view,
                           const struct top_model *model,
                           const struct top_status *status)
{
    if (status->error[0] != '\0')
        return status->error;
    if (!status->is_connected)
        return status->state;
    return is_late(view, model, status) ? "no answer yet" : NULL;
}

static void write_trouble(struct top_line *line, int width, const char *why,
                          const struct top_model *model, int64_t now_ms)
{
    char age[WORD_MAX];

    if (model->at_ms == 0)
        top_line_write(line, TOP_BAD, width, "NOTHING SEEN YET: %s", why);
    else
        top_line_write(line, TOP_BAD, width, "STALE, %s old: %s",
                       word_age(now_ms - model->at_ms, age), why);
}

/* What is wrong, or else how the list came about. */
static void write_notice(struct top_line *line, int width,
                         const struct top_view *view,
                         const struct top_model *model,
                         const struct top_status *status)
{
    const char *why = trouble(view, model, status);
    char typed[sizeof(view->filter) * 16];
    char filter[sizeof(typed) + 40] = "";
    char note[GRID_CELL_MAX] = "";

    if (why != NULL) {
        write_trouble(line, width, why, model, status->now_ms);
        return;
    }
    if (view->filter[0] != '\0')
        (void)snprintf(filter, sizeof(filter), ", %zu with \"%s\"",
                       model->shown_count,
                       plain_escape(view->filter, typed, sizeof(typed)));
    if (model->notes.count > 0)
        (void)snprintf(note, sizeof(note), "  note: %.1000s",
                       model->notes.texts[0]);
    if (view->mode == TOP_MODE_LOCKS)
        top_line_write(line, TOP_PLAIN, width, "sorted by %s%s%s%s",
                       top_key_name(view->sort),
                       view->reversed ? " reversed" : "", filter, note);
    else
        top_line_write(line, TOP_PLAIN, width, "%s",
                       note[0] == '\0' ? note : note + 2);
}

void top_head_draw(struct top_line lines[TOP_HEAD_LINES], int width,
                   const struct top_view *view, const struct top_model *model,
                   const struct top_status *status)
{
    write_title(&lines[0], width, view, model, status);
    if (view->mode == TOP_MODE_HELP)
        return;
    if (view->mode == TOP_MODE_QUEUE)
        write_lock(&lines[1], width, top_view_row(view, model));
    else
        write_totals(&lines[1], width, model, status);
    write_notice(&lines[2], width, view, model, status);
}
