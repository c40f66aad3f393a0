/* SPDX-License-Identifier: Apache-2.0 */
/* Disables pthread_cancel() for a thread of the user while it runs code of
 * ours. */
#include "base/thread_cancel.h"

#include <pthread.h>

int zkr__thread_cancel_disable(void)
{
    int state = PTHREAD_CANCEL_ENABLE;

    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    return state;
}

void zkr__thread_cancel_restore(int state)
{
    (void)pthread_setcancelstate(state, NULL);
}
