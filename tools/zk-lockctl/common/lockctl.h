/* SPDX-License-Identifier: Apache-2.0 */
/* What all verbs of zk-lockctl share: options, session, errors, remarks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sysexits.h>

#include <zkrecipes/zkrecipes.h>

#include "common/contexts.h"
#include "common/opt.h"

/* Exit codes: those of sysexits.h where one fits (EX_USAGE 64, EX_DATAERR 65
 * not a lock, EX_NOINPUT 66 a file, or what it does not tell, EX_UNAVAILABLE 69
 * no ensemble, EX_SOFTWARE 70, EX_CANTCREAT 73, EX_TEMPFAIL 75 not acquired,
 * EX_NOPERM 77, EX_CONFIG 78), and: */
enum {
    EX_NO = 1,       /* the answer of a verb that tests */
    EX_LOST = 79,    /* the lock, while the command ran */
    EX_REVOKED = 80, /* somebody asked for it */
    EX_UNSEEN = 82,  /* nothing was found where one could look */
};

enum format {
    FORMAT_TABLE,
    FORMAT_WIDE,
    FORMAT_JSON,
    FORMAT_JSONL,
};

/* The options that every verb has, and the session. */
struct lockctl {
    const char *settings[SETTING_COUNT]; /* NULL: not given */
    const char *from[SETTING_COUNT];     /* "option", "environment", "context",
                                            "default" */
    const char *context;                 /* --context */
    struct contexts contexts;
    const struct context *used; /* of them; NULL: none */
    bool is_settled;            /* by lockctl_settle() */
    int format;                 /* enum format */
    const char *columns;        /* --columns A,B or +A,B; NULL: the default */
    int64_t timeout_ms; /* --timeout: for connecting and for each answer */
    bool timeout_given; /* by an option, or by a context */
    bool quiet;
    int verbose;
    uint32_t session_timeout_ms; /* 0: as short as is good for looking on */
    int64_t connect_timeout_ms;  /* 0: timeout_ms */
    int64_t patience_ms;         /* then it is said why there is no connection
                                    yet; 0: not before the end */
    bool connect_once;           /* not again when all servers refuse */
    bool proves_leases;          /* it may hold a lock: pings are not enough */
    int64_t within;              /* the session around ours; 0: none */

    char **paths;         /* the arguments of the verb, of lockctl_run() */
    zkr_session *session; /* after lockctl_connect() */
};

/* The arguments that a verb takes behind its options. */
enum takes {
    TAKES_WORDS, /* what it reads itself */
    TAKES_LOCK,  /* one lock */
    TAKES_PATH,  /* a path; "/" without one */
    TAKES_PATHS, /* any number of paths; "/" without one */
};

struct verb {
    const char *name;
    const char *usage;         /* "[-n] LOCK [--] COMMAND..." */
    const char *summary;       /* one line */
    const struct opt *options; /* NULL: only those of all verbs */
    void *into;                /* what these store into, with the defaults;
                                  NULL: run() reads them, if there are any */
    enum takes takes;
    const struct kind *const *kinds; /* of items that it prints, up to NULL, and
                                        that no verb before it names */
    const char *help;                /* text behind the options; NULL: none */
    const char *const *words; /* what its argument may be, up to NULL; NULL:
                                 anything */
    bool ends_at_argument;    /* what is behind the first is not the verb's */
    bool lends_stdout;        /* to its command, or to a shell */
    /* With the arguments: paths are whole, and the first is there also when
     * `argc` is 0. The exit code. */
    int (*run)(struct lockctl *ctl, int argc, char **argv);
    void (*overview)(void); /* of the verb help, what --help prints instead;
                               of others NULL */
};

/* say.c: "zk-lockctl: ..." on stderr; returns the code, so that an error is
 * explained where it is returned. What must not reach a terminal is escaped
 * here. */
int lockctl_fail(int exit_code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same unless --quiet, for what is not an error. */
void lockctl_say(const struct lockctl *ctl, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Notes: facts that the user should know beside the answer. They are said on
 * stderr, and are part of JSON. The same text is kept once. */
struct notes {
    char **texts;
    size_t count;
};
void notes_add(struct notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void notes_say(const struct notes *notes, const struct lockctl *ctl);
void notes_done(struct notes *notes);

/* Options of that verb are read: what is said begins with "zk-lockctl VERB:".
 * NULL: none are. */
void lockctl_speak_for(const char *verb);

/* The last failure that was printed. */
struct failure {
    int exit_code;
    int cause; /* of the library, or ZKR_OK */
    char message[4096];
};
const struct failure *lockctl_failure(void);

/* The option that may help against the error; "" when there is none. */
const char *lockctl_advice(int rc);
/* An error of the library: its sentence, and the exit code that it
 * means. */
int lockctl_fail_zkr(int rc);
/* The same with a sentence that was kept. */
int lockctl_fail_error(int rc, const char *detail);

/* All of them with a sentence, one on each line of stdout. */
void exit_codes_print(void);

/* options.c: runs a verb: its options, its arguments, run(). The first word of
 * argv is its name. The exit code. */
int lockctl_run(struct lockctl *ctl, const struct verb *verb, int argc,
                char **argv);

/* opt.c: "500ms", "10s", "2m", "1h", "1.5s"; a number alone is seconds. */
bool lockctl_parse_duration(const char *text, int64_t *ret_ms);

/* A whole number from 1 to 2^31 - 1. */
bool lockctl_parse_count(const char *text, int64_t *ret_count);

/* A lock path: "orders" is "/locks/orders". False after an error was said. */
bool lockctl_parse_path(const char *text, char *path, size_t size);

/* ensemble.c: find out which ensemble is meant, and all settings for it. 0, or
 * an exit code after an error was said. */
int lockctl_settle(struct lockctl *ctl);
/* The context that is meant, unless servers are: that of --context, of
 * ZK_LOCKCTL_CONTEXT, or the current one of the file; or NULL. And where it is
 * named: "option", "environment", "file". */
const char *lockctl_name_context(const struct lockctl *ctl,
                                 const struct contexts *contexts,
                                 const char **ret_from);
/* The bytes of the chroot, by which paths are longer at the servers; 0: there
 * is none. After lockctl_settle(). */
size_t lockctl_chroot_len(const struct lockctl *ctl);
/* The ensemble for people: "zk1:2181/app", or with the name of its context
 * "prod (zk1:2181/app)"; escaped. */
enum { ENSEMBLE_MAX = 1024 };
const char *lockctl_ensemble(const struct lockctl *ctl,
                             char text[ENSEMBLE_MAX]);
/* The value of a variable of the environment; NULL: none, or "". */
const char *lockctl_env(const char *name);

/* connect.c: settle, and open the session. 0, or an exit code after an error
 * was said. */
int lockctl_connect(struct lockctl *ctl);
/* A further session, as one cannot watch everything: returns at once, with
 * ZKR_OK or an error of the library. If it cannot be opened, all are over. */
enum { SESSIONS_MAX = 16 };
int lockctl_connect_further(const struct lockctl *ctl,
                            zkr_session **ret_session);
/* Closes all. */
void lockctl_disconnect(struct lockctl *ctl);
/* All are. */
bool lockctl_is_connected(const struct lockctl *ctl);
/* "connected", "connection lost": the state of the session for people. */
const char *lockctl_connection(const struct lockctl *ctl);
/* ": server zk1:2181 does not answer": what stood last in the way of a
 * connection; "": nothing is known. */
enum { LOCKCTL_WHY_MAX = 1024 };
const char *lockctl_why(const struct lockctl *ctl, char why[LOCKCTL_WHY_MAX]);
/* A session will not come back. */
bool lockctl_is_over(const struct lockctl *ctl);
/* Says why, and returns the exit code. */
int lockctl_fail_over(const struct lockctl *ctl);
