/* The children of a lock path in the order of the queue, and whom each of them
 * waits for, by the rules of lock/queue.h. Pure, but for one array. */
#ifndef ZKR__ROSTER_H
#define ZKR__ROSTER_H

#include <zkrecipes/participants.h>

/* What its name says: marker, kind, sequence. */
void zkr__roster_read(struct zkr_participant *p);

/* The children of a lock path in the order of the queue, foreign ones last, no
 * more than `limit`. They point to the names. What cannot be the name of a
 * child is left out. ZKR_OK or ZKR_ENOMEM. */
int zkr__roster_new(const char *const *names, size_t count, size_t limit,
                    struct zkr_participant **ret_items, size_t *ret_count);

/* Set holds and waits_for, in a list that is in order. */
void zkr__roster_settle(struct zkr_participant *items, size_t count);

#endif
