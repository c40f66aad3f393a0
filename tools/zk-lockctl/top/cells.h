/* A lock, and one of its queue, as the texts of a row of top. Pure. */
#ifndef TOP_CELLS_H
#define TOP_CELLS_H

#include "common/words.h"
#include "top/model.h"

enum {
    TOP_DIALECT = TOP_KEYS,
    TOP_LABEL,
    TOP_SESSION,
    TOP_LOCK_CELLS,
};

enum {
    TOP_QUEUE_POS,
    TOP_QUEUE_STATE,
    TOP_QUEUE_OWNER,
    TOP_QUEUE_SINCE,
    TOP_QUEUE_BLOCKER,
    TOP_QUEUE_LABEL,
    TOP_QUEUE_MODE,
    TOP_QUEUE_TOKEN,
    TOP_QUEUE_SESSION,
    TOP_QUEUE_NODE,
    TOP_QUEUE_CELLS,
};

struct top_cells {
    char text[TOP_LOCK_CELLS][WORD_MAX];
    char owner[WHO_MAX * 4];
    char label[ZKR_LABEL_MAX * 16 + 1];
    char node[2048];
};

/* The texts are those of the row and of `room`, escaped; NULL: nothing. */
void top_cells_of_lock(const struct top_row *row, struct top_cells *room,
                       const char *cells[TOP_LOCK_CELLS]);
void top_cells_of_contender(const struct lock *lock, size_t i,
                            struct top_cells *room,
                            const char *cells[TOP_QUEUE_CELLS]);

#endif
