/* SPDX-License-Identifier: Apache-2.0 */
/* Disables pthread_cancel() for a thread of the user while it runs code of
 * ours. */
#ifndef ZKR__THREAD_CANCEL_H
#define ZKR__THREAD_CANCEL_H

/* From here on the calling thread cannot be cancelled; returns what
 * zkr__thread_cancel_restore() needs. */
int zkr__thread_cancel_disable(void);
void zkr__thread_cancel_restore(int state);

#endif
