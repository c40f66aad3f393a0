/* SPDX-License-Identifier: Apache-2.0 */
/* Renames the release of a mutex, and the calls of the library and of the
 * mirror, for test_threads.c. Files of the tool include it first. */
#ifndef LET_GO_NAMES_H
#define LET_GO_NAMES_H

#include <pthread.h>

#include <zkrecipes/zkrecipes.h>

#define pthread_mutex_unlock   let_go_unlock
#define pthread_cond_wait      let_go_wait
#define pthread_cond_timedwait let_go_timedwait
#define locks_list             fake_locks_list
#define scan_whole             fake_scan_whole
#define zkr_session_state(s)   fake_session_state(s)
#define zkr_session_close      fake_session_close
#define mirror_start           fake_mirror_start
#define mirror_end             fake_mirror_end
#define mirror_is_settled      fake_mirror_is_settled
#define mirror_heard_ms        fake_mirror_heard_ms
#define mirror_error           fake_mirror_error
#define mirror_is_missing      fake_mirror_is_missing
#define mirror_tick            fake_mirror_tick
#define mirror_scan            fake_mirror_scan

int let_go_unlock(pthread_mutex_t *mutex);
int let_go_wait(pthread_cond_t *changed, pthread_mutex_t *mutex);
int let_go_timedwait(pthread_cond_t *changed, pthread_mutex_t *mutex,
                     const struct timespec *end);
enum zkr_session_state_kind fake_session_state(zkr_session *s);
int fake_session_close(zkr_session *s);

#endif
