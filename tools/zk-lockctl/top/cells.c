/* A lock, and one of its queue, as the texts of a row of top. */
#include "top/cells.h"

#include <stdio.h>
#include <string.h>

#include "common/plain.h"

static const char *at_most(int64_t ms, char word[WORD_MAX])
{
    char age[WORD_MAX];

    (void)snprintf(word, WORD_MAX, "<=%.30s", word_age(ms, age));
    return word;
}

static const char *number(size_t n, bool more, char word[WORD_MAX])
{
    (void)snprintf(word, WORD_MAX, "%zu%s", n, more ? "+" : "");
    return word;
}

static const char *token_of(const struct contender *c, char word[WORD_MAX])
{
    return c->node->token == 0 ? NULL : word_token(c->node->token, word);
}

static const char *session_of(const struct contender *c, char word[WORD_MAX])
{
    return c->node->session_id == 0 ? NULL : word_id(c->node->session_id, word);
}

static void set_holder(const struct top_row *row, struct top_cells *room,
                       const char *cells[TOP_LOCK_CELLS])
{
    const struct lock *lock = &row->view.lock;

    if (lock->holder == NULL)
        return;
    cells[TOP_HOLDER] = row->holder;
    cells[TOP_HELD] = at_most(row->held_ms, room->text[TOP_HELD]);
    if (lock->holders > 1)
        return;
    cells[TOP_TOKEN] = token_of(lock->holder, room->text[TOP_TOKEN]);
    cells[TOP_SESSION] = session_of(lock->holder, room->text[TOP_SESSION]);
    cells[TOP_LABEL] = plain_escape(lock->holder->owner.label, room->label,
                                    sizeof(room->label));
}

void top_cells_of_lock(const struct top_row *row, struct top_cells *room,
                       const char *cells[TOP_LOCK_CELLS])
{
    const struct lock *lock = &row->view.lock;
    bool unknown = lock->state == LOCK_UNKNOWN;

    memset(cells, 0, TOP_LOCK_CELLS * sizeof(*cells));
    cells[TOP_LOCK] = row->path;
    cells[TOP_KIND] = kind_name(lock->kind);
    cells[TOP_STATE] = lock_state_name(lock->state);
    cells[TOP_WAIT] =
        unknown ? "?" : number(lock->waiters, lock->cut, room->text[TOP_WAIT]);
    if (lock->waiters > 0)
        cells[TOP_LONGEST] =
            word_age(lock->longest_wait_ms, room->text[TOP_LONGEST]);
    cells[TOP_GRANTS] = number(row->grants, false, room->text[TOP_GRANTS]);
    cells[TOP_DIALECT] = dialect_name(lock->dialect);
    set_holder(row, room, cells);
}

static const char *state_of(const struct contender *c)
{
    if (c->node->kind == ZKR_PARTICIPANT_FOREIGN)
        return "foreign";
    return c->node->holds ? "HELD" : "wait";
}

void top_cells_of_contender(const struct lock *lock, size_t i,
                            struct top_cells *room,
                            const char *cells[TOP_QUEUE_CELLS])
{
    const struct contender *c = &lock->items[i];
    const struct zkr_participant *p = c->node;
    bool is_foreign = p->kind == ZKR_PARTICIPANT_FOREIGN;
    char who[WHO_MAX];

    memset(cells, 0, TOP_QUEUE_CELLS * sizeof(*cells));
    if (!is_foreign)
        cells[TOP_QUEUE_POS] = number(i, false, room->text[TOP_QUEUE_POS]);
    cells[TOP_QUEUE_STATE] = state_of(c);
    cells[TOP_QUEUE_OWNER] =
        plain_copy(contender_who(c, who), room->owner, sizeof(room->owner));
    cells[TOP_QUEUE_SINCE] =
        c->age_ms < 0 ? "?"
        : p->holds    ? at_most(c->age_ms, room->text[TOP_QUEUE_SINCE])
                      : word_age(c->age_ms, room->text[TOP_QUEUE_SINCE]);
    if (contender_waits(c) && p->waits_for < lock->listed) {
        (void)snprintf(room->text[TOP_QUEUE_BLOCKER], WORD_MAX, "pos %zu",
                       p->waits_for);
        cells[TOP_QUEUE_BLOCKER] = room->text[TOP_QUEUE_BLOCKER];
    }
    cells[TOP_QUEUE_LABEL] =
        plain_escape(c->owner.label, room->label, sizeof(room->label));
    cells[TOP_QUEUE_MODE] = p->kind == ZKR_PARTICIPANT_SHARED ? "shared"
                            : is_foreign                      ? NULL
                                                              : "exclusive";
    cells[TOP_QUEUE_TOKEN] = token_of(c, room->text[TOP_QUEUE_TOKEN]);
    cells[TOP_QUEUE_SESSION] = session_of(c, room->text[TOP_QUEUE_SESSION]);
    cells[TOP_QUEUE_NODE] =
        plain_escape(p->name, room->node, sizeof(room->node));
}
