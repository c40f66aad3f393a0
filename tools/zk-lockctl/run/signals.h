/* Receives signals as events: those that we pass on, and the end of a child. */
#ifndef RUN_SIGNALS_H
#define RUN_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct signals {
    int fd; /* a signalfd */
    sigset_t mask_before;
    struct sigaction pipe_before;
    struct sigaction child_before;
};

/* From now on signals come through the descriptor: INT, TERM, HUP, QUIT, USR1,
 * USR2, WINCH, TSTP, CONT, TTIN, TTOU, unless we were started with them
 * ignored, and CHLD. -1 with errno on failure. */
int signals_take(struct signals *s);

/* As they were before. Async-signal-safe, for a child. */
void signals_restore(const struct signals *s);

/* The next one that has come; 0: none. */
int signals_next(const struct signals *s);

/* All that have come. */
void signals_collect(const struct signals *s, sigset_t *ret_arrived);

/* Would it end a program that does nothing about it? */
bool signals_is_fatal(int sig);

#endif
