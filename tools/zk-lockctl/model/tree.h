/* SPDX-License-Identifier: Apache-2.0 */
/* The znodes of the picture that a mirror keeps, and what it asks the servers
 * to keep them up to date.
 *
 * A znode is a node of the servers: a directory, whose children are listed, or
 * a contender, whose data is read. A contender that no server has numbered may
 * turn out to be a directory. Each znode has at most one request under way,
 * beside its watch. When it is to be asked for again, its due time says, for
 * whatever reason: it has no watch (POLL_MS), its watch may be silent
 * (CHECK_MS) or should have told of a change by now (LATE_MS), or a list of it
 * was passed over (DUE_NOW).
 *
 * All functions need the mutex of the tree, unless they say otherwise. */
#pragma once

#include <pthread.h>

#include "model/mirror.h"
#include "model/sessions.h"
#include "protocol/parts.h"

enum znode_request {
    REQUEST_NONE,
    REQUEST_QUEUED, /* it waits for its turn */
    REQUEST_LIST,   /* its children are listed */
    REQUEST_READ,   /* its data is read */
};

/* Who waits for the first answer about a znode. */
enum znode_wait {
    WAIT_NONE,
    WAIT_NEWS,  /* the news of its directory */
    WAIT_START, /* they, and whoever waits until all is known */
};

enum { NO_ANSWER = 1 }; /* beside the errors of the library */

struct znode {
    struct mirror *tree;
    struct znode *in; /* the directory that has it; NULL: it is a path given, or
                        was dropped */
    char *path;
    const char *name; /* the end of the path */
    bool is_dir;
    bool dropped; /* the tree has it no more; it is freed after its last request
                     and its last news */

    /* what is asked */
    struct tree_session *session; /* that asks for it */
    struct tree_watch *watch;     /* on its children, or its data; or NULL */
    enum znode_request request;
    enum znode_wait wait;
    bool checking;  /* the request tells whether the watch is silent */
    int64_t due_ms; /* the next request */
    struct znode *next_queued;

    /* what is known */
    int error; /* of the last answer; NO_ANSWER: there was none */
    struct zkr_participant node; /* a child; the znode owns its data. What kind
                                    it is, and whether it holds, the names
                                    beside it tell */
    bool shown;                  /* news of its directory have had it */

    /* a directory */
    struct znode **kids; /* by name */
    size_t count;
    size_t waits;   /* kids that the news wait for */
    bool listed;    /* the kids and the stat are those of a list */
    bool settled;   /* the directory was listed at least once */
    bool counted;   /* it is one of the `locks` of the tree */
    bool semaphore; /* the news before were those of a semaphore */
    struct zkr_stat stat;

    /* the time of what is known of a directory */
    bool fresh;      /* the directory was made later than the mirror */
    uint64_t breaks; /* those of the connection before the last list */
    int64_t seen_ms; /* the last answer, since 1970 */

    /* news of a directory */
    int64_t changed_ms;   /* when its news came; 0: it has none */
    struct znode *next;   /* of the news */
    struct unseen unseen; /* since its news were taken */
    bool taken;           /* somebody has taken its news before */
    bool held_back;       /* no list is taken until its news are */
};

enum { DIRS_MAX = 100000 };

struct znode_queue {
    struct znode *first, **end;
};

struct mirror {
    struct mirror_opts opts;
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* after each answer */
    struct znode **roots;   /* room for as many as paths */
    size_t root_count;
    size_t dirs;
    size_t made;          /* directories ever */
    size_t visited;       /* directories that have answered */
    struct znode *denied; /* the first, at the last count, that could not be
                             listed or read */
    size_t locks;         /* directories with contenders */
    struct tree_session sessions[SESSIONS_MAX];
    size_t session_count;
    struct tree_session *running; /* its callback has the mutex; or NULL */
    uint64_t answers;             /* of all sessions */
    bool over;                    /* nothing is asked any more */
    size_t chroot_len;
    size_t unsettled;         /* znodes with WAIT_START */
    size_t asking;            /* requests under way */
    struct znode_queue reads; /* of data, before the lists */
    struct znode_queue lists;
    struct znode_queue news;
    size_t polled;   /* znodes without a watch, at the last tick */
    int64_t tick_ms; /* the last */
    bool cut;        /* some directories are not seen, or not soon */
    int64_t end_ms;  /* one time */
    bool late;       /* the time was over */
    int error;       /* of a request, one time */
    char detail[SCAN_DETAIL_MAX]; /* the sentence of that error */
    int64_t heard_ms;
    uint64_t breaks;
    bool started;     /* the first look has been taken */
    size_t lost;      /* sessions without a connection */
    int64_t lost_ms;  /* since when */
    int64_t since_ms; /* of a break that was not taken; 0: none */
};

/* Begins to watch the path, or will list it. */
void tree_add_root(struct mirror *tree, const char *path);
/* Without a request under way; the sessions were closed. */
void tree_done(struct mirror *tree);

/* Asks for what is queued. */
void tree_ask(struct mirror *tree);

/* What was there before now was there at the start; its news are put into the
 * order of the paths. */
void tree_start(struct mirror *tree);
/* Takes the first news off the list that are ready; NULL. */
struct znode *tree_next_news(struct mirror *tree);
/* Adds what was not seen of one directory to that of another, or of news. */
void tree_move_unseen(struct unseen *from, struct unseen *to);
/* Its children are taken; those that were deleted unread are missed later. */
void tree_take_kids(struct znode *dir);
/* Its news are taken; it is freed after its last. */
void tree_take_news(struct znode *dir);
void tree_take_all_news(struct mirror *tree);

/* Calls it for those directories of a semaphore that are there; when they are a
 * lock of their own now, or not any more, there are news of them. */
void dir_each_part(const struct znode *dir, void (*fn)(struct znode *part));
void tree_put_news(struct znode *dir);

/* The part of a semaphore that it may be, by its name; the root is no lock. */
enum zkr__part dir_part(const struct znode *dir);
/* The directory with the leases, or with the queue, of a semaphore; NULL. */
struct znode *dir_of_part(const struct znode *dir, enum zkr__part part);
bool znode_contends(const struct znode *znode);
/* It is none that contends, whatever its name: no server has numbered it, and
 * it ends with no session. */
bool znode_is_directory(const struct znode *znode);
/* Why it cannot be looked at; ZKR_OK: it can, or does not exist, or nobody has
 * answered yet. */
int znode_refusal(const struct znode *znode);

/* Asks for what is due. Returns false when it is not time yet: it did TICK_MS
 * ago or less. */
enum { TICK_MS = 400 };
bool tree_tick(struct mirror *tree);
