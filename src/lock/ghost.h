/* Ghosts: nodes that the server shows, and the ensemble does not have. */
#ifndef ZKR__GHOST_H
#define ZKR__GHOST_H

#include <stdbool.h>

#include "session/locked.h"
#include "session/op.h"

struct zkr__claim;
struct zkr__queue;
struct zkr__ghost;

/* The ghosts of one claim; under the session lock. */
struct zkr__ghosts {
    char *waited;  /* the node that is waited for; NULL when out of memory */
    int64_t delay; /* from one question about `waited` to the next */
    int64_t due;   /* when the next question is asked */
    struct zkr__timer timer;
    struct zkr__op ask;
    char *asked;              /* the path of the question under way */
    int64_t asker;            /* the czxid of our node when it was sent */
    struct zkr__ghost *first; /* ghosts found since we have this node */
};

void zkr__ghosts_init(struct zkr__ghosts *g, struct zkr_session *s);
void zkr__ghosts_done(struct zkr__ghosts *g);

/* Our node is another from now on, so earlier answers count no more. */
void zkr__ghosts_forget(struct zkr__ghosts *g);

/* Called when the claim waits for the node `name`, again or as before. Returns
 * false when there is no memory for it: then the claim would never ask. */
bool zkr__ghosts_suspect_locked(struct zkr__claim *c,
                                const char *name) ZKR__LOCKED;

/* Called when the claim does not wait now. */
void zkr__ghosts_rest_locked(struct zkr__claim *c) ZKR__LOCKED;

/* Called when the claim leaves the queue: it does not ask any more. */
void zkr__ghosts_leave_locked(struct zkr__claim *c) ZKR__LOCKED;

/* Leaves known ghosts out of a list that shows them. Returns true when some are
 * known, in this list or not. */
bool zkr__ghosts_leave_out_locked(struct zkr__claim *c,
                                  struct zkr__queue *queue) ZKR__LOCKED;

#endif
