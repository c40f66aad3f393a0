/* Disables pthread_cancel() for a thread of the user while it runs code of
 * ours. */
#ifndef ZKR__CANCEL_H
#define ZKR__CANCEL_H

/* From here on the calling thread cannot be cancelled; returns what
 * zkr__cancel_restore() needs. */
int zkr__cancel_disable(void);
void zkr__cancel_restore(int state);

#endif
