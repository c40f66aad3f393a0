/* SPDX-License-Identifier: Apache-2.0 */
/* The line: the claims of one session in the queue of one lock, and what all of
 * them know of the others in it.
 *
 * A list that one claim needs serves every claim whose create it follows. The
 * line does not keep the list. It keeps, for each claim, the number of the
 * nearest contender ahead that is not ours, and, for the directory, its
 * identity, its last number, and whether others contend.
 *
 * Lines belong to the session: all its locks on one path share one, if they
 * heed the same markers. All is under the session lock. */
#pragma once

#include "protocol/queue.h"
#include "session/locked.h"
#include "session/op.h"

struct zkr__claim;
struct zkr__line;
struct zkr__watch;

/* The place of a claim in the line. */
struct zkr__place {
    struct zkr__list link; /* in line->counted, line->gone or line->stuck, or in
                            * none */
    struct zkr__list ask;  /* in line->served, line->next or line->idle, or in
                            * none */
    bool counts;           /* it is in line->counted */
    bool stuck;            /* the servers have refused to delete its node */
    bool behind;           /* WAITING for one of ours, without a watch */
    bool only;             /* the node that it watches is the only one ahead */
    enum zkr__kind kind;
    int64_t seq;
    /* The generation of the line in which `other` was seen, or ZKR__NEVER_SEEN.
     */
    uint64_t generation;
    int64_t other; /* the number of the nearest that is not ours, ahead of it */
};

#define ZKR__NEVER_SEEN UINT64_C(0)
#define ZKR__NO_OTHER   INT64_MIN

struct zkr__line {
    struct zkr__list link; /* in locks->each_line */
    struct zkr_session *session;
    const char *dir;
    uint32_t markers;
    struct zkr__ref ref;      /* of locks, claims, and requests under way */
    struct zkr__list claims;  /* all that are in locks->claims, too */
    struct zkr__list counted; /* claims that count, in the order of the queue */
    struct zkr__list gone;    /* claims that were given back; lists may show
                               * their nodes */
    struct zkr__list stuck;   /* claims whose nodes may not be deleted */
    bool advancing;           /* no other advance inside of one */

    /* line_list.c */
    struct zkr__op list;
    bool serving;             /* it is being handed out */
    struct zkr__list served;  /* the claims that the list serves */
    struct zkr__list next;    /* the claims that the next list will serve */
    struct zkr__list idle;    /* those that the watch will wake up */
    struct zkr__watch *watch; /* on the directory; NULL: none of them waits */
    bool watched;             /* a list has set it */

    /* line_known.c: what is known counts in one generation: one connection, and
     * one directory. */
    uint64_t generation;
    int64_t directory;       /* its czxid */
    int64_t cleared;         /* up to this number nobody is left but ours */
    bool contention;         /* others have been seen of late */
    bool entered;            /* a claim has, in this epoch */
    struct {                 /* the last number that was given out */
        uint64_t generation; /* as place.generation */
        int64_t seq;         /* that number */
        int64_t other;       /* the nearest number up to it that is not ours */
    } tail;
    struct {
        struct zkr__op op;
        struct zkr__watch *watch;
    } look; /* at the directory */

    char text[]; /* dir */
};

/* lines.c: returns the line of the session for that directory and those
 * markers, with one reference more; NULL when out of memory. */
struct zkr__line *zkr__line_use_locked(struct zkr_session *s, const char *dir,
                                       uint32_t markers) ZKR__LOCKED;
/* The connection is lost: nothing is known any more. */
void zkr__lines_forget_locked(struct zkr_session *s) ZKR__LOCKED;
/* The handle is closed, and its watches are freed. */
void zkr__lines_flushed_locked(struct zkr_session *s) ZKR__LOCKED;

/* line.c */
/* Its node is known, or (beside a grant) its number: from now on it counts. */
void zkr__line_join_locked(struct zkr__claim *c) ZKR__LOCKED;
/* It has been given back, or has given up: it counts no more, but its node may
 * be seen for a while. */
void zkr__line_leave_locked(struct zkr__claim *c) ZKR__LOCKED;
/* The claim has left, and the servers refuse to delete its node: all wait for
 * that as for a node of another client. */
void zkr__line_stick_locked(struct zkr__claim *c) ZKR__LOCKED;
/* Lets the stuck claims try to delete their nodes again. */
void zkr__line_unstick_locked(struct zkr__line *line) ZKR__LOCKED;
/* It has ended, or will have another node. */
void zkr__line_drop_locked(struct zkr__claim *c) ZKR__LOCKED;
/* Returns the nearest of ours that it has to wait for, or NULL. */
struct zkr__claim *
zkr__line_ahead_locked(const struct zkr__claim *c) ZKR__LOCKED;
/* Returns one of ours that it has to wait for, and that a list of an earlier
 * time does not show, or NULL. */
const struct zkr__claim *
zkr__line_beside_ahead_locked(const struct zkr__claim *c) ZKR__LOCKED;
/* Grants the lock to those whose turn has come. */
void zkr__line_advance_locked(struct zkr__line *line) ZKR__LOCKED;

/* line_list.c: the claim asks for a list, which comes after all requests sent
 * before; LISTED follows. If `c->more`, nothing is sent yet: the next claim of
 * the flight asks at once, and one list is for both. */
void zkr__line_ask_locked(struct zkr__claim *c) ZKR__LOCKED;
/* LISTED follows when the watch shows that a contender has come or gone. With
 * `listed` the claim has just had a list; without, one is asked for at once.
 * Returns false when out of memory. */
bool zkr__line_wait_locked(struct zkr__claim *c, bool listed) ZKR__LOCKED;
/* Asks for a list for all who wait so. */
void zkr__line_wake_locked(struct zkr__line *line) ZKR__LOCKED;
/* The claim does not want a list any more. */
void zkr__line_unask_locked(struct zkr__claim *c) ZKR__LOCKED;
bool zkr__line_is_asked_locked(const struct zkr__claim *c) ZKR__LOCKED;

/* line_known.c */
void zkr__line_forget_locked(struct zkr__line *line) ZKR__LOCKED;
/* Watches the directory, if that may be worth a request. */
void zkr__line_watch_dir_locked(struct zkr__line *line) ZKR__LOCKED;
/* Tells whether a create alone will probably do. */
bool zkr__line_is_quiet_locked(const struct zkr__line *line) ZKR__LOCKED;
/* Its node has just been created. Returns true when its number tells that
 * nobody came in between; then its place is known without a list. */
bool zkr__line_follows_locked(struct zkr__claim *c) ZKR__LOCKED;
/* Learn from a list: the line, and one claim that is in it at `self`. */
void zkr__line_see_locked(struct zkr__line *line, const struct zkr_stat *dir,
                          struct zkr__queue *queue) ZKR__LOCKED;
void zkr__place_see_locked(struct zkr__claim *c, const struct zkr__queue *queue,
                           size_t self) ZKR__LOCKED;
/* Nobody is ahead of it but ours. */
bool zkr__place_is_clear_locked(const struct zkr__claim *c) ZKR__LOCKED;
/* It has been granted the lock. */
void zkr__line_granted_locked(struct zkr__claim *c) ZKR__LOCKED;
