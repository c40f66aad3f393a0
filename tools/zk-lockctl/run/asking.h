/* SPDX-License-Identifier: Apache-2.0 */
/* How the process that keeps a lock for a shell is asked about it: through a
 * socket without a file, which answers to the same user only. */
#ifndef RUN_ASKING_H
#define RUN_ASKING_H

#include <stdbool.h>

#include <zkrecipes/zkrecipes.h>

enum asked {
    ASKED_CHECK,   /* whether it is held */
    ASKED_RELEASE, /* to give it back: the answer is true when that is done */
    ASKED_NOTE,    /* nothing, but to note that another hold was released */
    ASKED_NOTED,   /* whether that was noted: 0 */
};

struct question {
    enum asked what;
    char about[ZKR_PATH_MAX + 1]; /* the lock that is meant, "" any; or the id
                                     of the other hold */
};

enum { ANSWER_NOT_MINE = -1 }; /* another lock is meant */

struct answer {
    int code;        /* the exit code, or ANSWER_NOT_MINE */
    char text[4096]; /* the sentence with a code that is not 0 */
};

/* Answer to this id. A descriptor; -1 with errno. */
int asking_listen(const char *id);
/* The next question; the descriptor for its answer, or -1: there is none. */
int asking_next(int fd, struct question *ret_question);
/* Closes the descriptor. */
void asking_answer(int fd, const struct answer *answer);

/* Tells whether somebody answers to this id. */
bool asking_is_there(const char *id);
/* Ask, and wait for the answer. False: nobody is there. Of one who is silent
 * (stopped, say) the answer is that the lock is not known to be held. */
bool asking_ask(const char *id, const struct question *question,
                struct answer *ret_answer);

#endif
