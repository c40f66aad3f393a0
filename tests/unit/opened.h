/* SPDX-License-Identifier: Apache-2.0 */
/* A session and a mutex on the fake client of the unit tests. */
#ifndef UNIT_OPENED_H
#define UNIT_OPENED_H

#include <stdint.h>

#include <zkrecipes/zkrecipes.h>

zkr_session *open_session(uint32_t flags);
zkr_mutex *new_mutex(zkr_session *s);

#endif
