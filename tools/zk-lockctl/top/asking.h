/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the servers with four letter words about the lock that is on the screen,
 * while it is there, now and then, and never waits for them. */
#pragma once

#include "common/lockctl.h"
#include "common/notes.h"
#include "model/server_words.h"

struct errand;

struct asking {
    const struct lockctl *ctl;
    bool off; /* they are not to be asked */
    struct told told;
    struct notes notes;           /* about servers that do not tell */
    char path[ZKR_PATH_MAX + 1];  /* the lock of both; "": none */
    struct errand *errand;        /* under way; NULL: none */
    char asked[ZKR_PATH_MAX + 1]; /* the lock of the last errand */
    struct servers *servers;      /* what that errand brings */
    struct notes brought;
    int64_t began_ms;
    int64_t next_ms; /* when the next may begin */
};

/* Takes the answers, and asks again when it is time. `lock` is on the screen,
 * as it was last listed; NULL: none is. */
void asking_tick(struct asking *asking, const struct lock *lock);
/* After the end of the errand. */
void asking_done(struct asking *asking);
