/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the argument of a call that does something to one contender. */
#ifndef ZKR__CHECK_H
#define ZKR__CHECK_H

struct zkr_session;

/* ZKR_OK, or the error of a call that does `noun` to this node: the full path
 * of a contender. */
int zkr__check_contender(const struct zkr_session *s, const char *noun,
                         const char *node);

#endif
