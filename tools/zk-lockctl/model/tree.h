/* SPDX-License-Identifier: Apache-2.0 */
/* The directories and the children that a mirror knows, and what it asks the
 * servers to keep them up to date.
 *
 * All functions need the mutex of the tree, unless they say otherwise. Watches
 * are only freed on the thread that runs their callbacks: freeing one waits for
 * its callback, which waits for the mutex. */
#ifndef MODEL_TREE_H
#define MODEL_TREE_H

#include <pthread.h>

#include "model/mirror.h"
#include "protocol/parts.h"

struct dir;

/* A child of a directory. */
struct kid {
    struct tree *tree;
    struct dir *in; /* until it is dropped */
    char *name;
    struct zkr_participant node; /* as far as it was read; its data is ours */
    struct dir *dir;             /* it is a directory; or NULL */
    zkr_watch *watch;            /* on its data; or NULL */
    bool contends;               /* by its name */
    bool holds;                  /* by the names beside it */
    bool read;                   /* or refused: node.error */
    bool pending;                /* it is still to be read for the first time */
    bool first;       /* it came with the first list of the directory */
    bool asking;      /* a read of it is under way */
    bool queued;      /* a read of it waits for its turn */
    bool deleted;     /* the server has told so */
    bool taken;       /* as part of news */
    bool dropped;     /* freed when the read has ended */
    struct kid *next; /* that is queued */
};

/* A directory. */
struct dir {
    struct tree *tree;
    struct kid *as; /* a child of the directory above; NULL: a path given, or
                       not in the tree any more */
    char *path;
    zkr_watch *watch;
    struct zkr_stat stat; /* of the last list */
    struct kid **kids;    /* by name */
    size_t count;
    size_t depth;       /* 1: a path given */
    int error;          /* of the last answer */
    bool answered;      /* at least once */
    bool listed;        /* `stat` and `kids` are of a list */
    bool settled;       /* there was a list at least once */
    bool fresh;         /* it was made later than the mirror */
    bool asking;        /* a list beside the watch is under way */
    bool polled;        /* it is not watched */
    bool semaphore;     /* so it was taken last */
    bool dropped;       /* not in the tree any more */
    bool changed;       /* it is among the news */
    int64_t changed_ms; /* when it came among the news */
    bool held_back;     /* no list is taken until its news are taken */
    bool again;         /* a list is to be asked for when its news are taken */
    size_t pending;     /* kids */
    bool watched;       /* by `watch`, without a gap since the last list,
                           if there was no break of the connection either */
    bool taken;         /* as news, at least once */
    uint64_t breaks;    /* of the connection, before the last list */
    int64_t check_ms;   /* when to see whether its watch still works */
    bool checking;      /* `asking` sees whether its watch still works */
    int64_t seen_ms;    /* the last answer, since 1970 */
    int64_t list_ms;    /* the last answer that told of its children */
    int64_t before_ms;  /* until when it was as it was taken last; 0: it
                           was not listed since */
    uint64_t missed;
    bool lost;
    struct dir *next; /* of the news */
    struct dir *next_queued;
    bool counted; /* as a lock */
};

/* Reasons why some directories are not seen, or not soon. */
enum tree_cut {
    TREE_CUT_NONE = 0,
    TREE_CUT_DEPTH = 1,
    TREE_CUT_LIMIT = 2,
    TREE_CUT_VISITS = 4,
    TREE_CUT_WATCHES = 8,
};

struct tree {
    struct mirror_opts opts;
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* after each answer */
    struct dir **roots;     /* room for as many as paths */
    size_t root_count;
    size_t dirs;
    size_t made;    /* directories ever */
    size_t visited; /* directories that have answered */
    size_t locks;   /* directories with contenders */
    size_t watches;
    size_t watched_bytes; /* of paths */
    size_t unsettled;     /* dirs without an answer, kids of first lists to be
                             read */
    size_t reading;
    size_t listing;
    size_t unwatched; /* dirs and holders, at most */
    size_t polled;    /* unwatched ones asked in this round */
    int64_t began_ms; /* when this round began */
    int64_t round_ms; /* when the next round begins */
    int64_t tick_ms;  /* the last */
    struct kid *queue, **queue_end;
    struct dir *dirs_queue, **dirs_queue_end;
    struct dir *news, **news_end;
    unsigned cut; /* enum tree_cut */
    bool late;    /* one time: the time was over */
    int error;    /* ZKR_ENOMEM; one time also that of a request */
    char detail[SCAN_DETAIL_MAX]; /* the sentence of that error */
    int64_t heard_ms;
    uint64_t breaks;
    bool started; /* the first look has been taken */
};

/* Begins to watch the path, or will list it. False: out of memory. */
bool tree_add_root(struct tree *tree, const char *path);
void tree_free_dir(struct dir *dir);

/* Asks for what was not asked yet. */
void tree_read_some(struct tree *tree);

/* Its children are taken; those that were deleted unread are missed later. */
void tree_take_kids(struct dir *dir);
/* Its news are taken; it is freed after its last. */
void tree_take_news(struct dir *dir);
/* Its news cannot be taken yet; are they to come to an end? */
void tree_hold_back_if_late(struct dir *dir);

/* Both parts of it are a lock of their own now, or not any more. */
void tree_change_parts(struct dir *dir);

/* Until when it was as its last list has it, if a change is seen now. */
int64_t tree_before_ms(const struct dir *dir, int64_t now_ms);

/* The reads that were dropped, at the end. */
void tree_free_queue(struct tree *tree);

/* The part of a semaphore that it may be, by its name; the root is no lock. */
enum zkr__part dir_part(const struct dir *dir);
struct kid *dir_kid(const struct dir *dir, const char *name);
/* It is none that contends, whatever its name: no server has numbered it, and
 * it ends with no session. */
bool kid_is_directory(const struct kid *kid);

/* Ask the servers for what has no watch, or one that may be silent. Returns
 * false when it is not time yet: it did TICK_MS ago or less. */
enum { TICK_MS = 400 };
bool tree_tick(struct tree *tree);
/* After a change. Once it is unlocked, a picture that was taken one time may be
 * freed. */
void tree_unlock_and_wake(struct tree *tree);

#endif
