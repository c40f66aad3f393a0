/* SPDX-License-Identifier: Apache-2.0 */
/* The test and its clients write records into the files of a directory that
 * they share: a board, journals, and the resources that the locks protect. A
 * call that fails ends the program. */
#pragma once

#include <stdatomic.h>

#include <zkrecipes/fence.h>

#include "judge.h"
#include "soak.h"

/* Returns the content of the file, which all see; it makes a missing one. */
void *map_file(const char *path, size_t size);

/* -- the board: a page of memory that all see while they run -------------- */

struct seat {
    _Atomic int64_t session;
    atomic_int grants; /* that the client has */
};

struct board {
    atomic_bool stop;
    atomic_long grants[LOCKS];
    struct seat seats[WORKERS];
};

struct board *board_open(const char *dir);

/* -- journals: a thread of a client writes one, line by line -------------- */

/* A line has the kind, the instant in ns of CLOCK_BOOTTIME, and up to three
 * numbers. Each is one write, so that it survives a SIGKILL. */
enum {
    NOTE_BEGIN = 'B',    /* descriptors, threads; NEMESIS: CLOCK_REALTIME, ms */
    NOTE_SESSION = 'S',  /* session, epoch */
    NOTE_INVOKE = 'I',   /* lock, writes */
    NOTE_FAILED = 'F',   /* error */
    NOTE_GRANTED = 'G',  /* token, hand-off, valid until (ms) */
    NOTE_VALID = 'V',    /* valid until */
    NOTE_LOST = 'L',     /* token */
    NOTE_UPDATE = 'U',   /* the counter as it was written, token */
    NOTE_ACCESS = 'A',   /* token, accepted, the lock was known to be lost */
    NOTE_RELEASE = 'R',  /* valid until; how often asked, how often held */
    NOTE_RELEASED = 'D', /* error */
    NOTE_WRONG = 'W',    /* a promise broken in the client: see below */
    NOTE_END = 'X',      /* descriptors, threads */

    /* Notes of the test itself, in the journal NEMESIS. It writes each before
     * the act, except NOTE_CLEAR. */
    NOTE_FAULT = 'f',     /* kind */
    NOTE_HEALED = 'h',    /* kind */
    NOTE_RECOVERED = 'r', /* lock, ms after the fault had healed */
    NOTE_STUCK = 's',     /* lock */
    NOTE_EXPIRE = 'x',    /* session */
    NOTE_DELETE = 'n',    /* token */
    NOTE_CLEAR = 'p',     /* lock: all its nodes are gone; when that began */
    NOTE_STOP = 'z',      /* worker */
    NOTE_KILL = 'k',      /* worker */
};

enum { NEMESIS = -1 };

/* The first number of a NOTE_WRONG. */
enum {
    WRONG_DEPTH = 1, /* a reentrant lock does not count */
    WRONG_TOKEN = 2, /* the token changed, or is not valid */
    WRONG_LATE = 3,  /* a call came back late; b: by how many ms */
};

struct note {
    char kind;
    int64_t at;
    int64_t a, b, c;
};

/* Returns a descriptor. The threads of a client are numbered from 0, as is that
 * of NEMESIS. */
int journal_create(const char *dir, int worker, int generation, int thread);
void journal_write(int journal, char kind, int64_t a, int64_t b, int64_t c);

/* Returns all notes of a journal, to be freed; NULL: there is no journal. */
struct note *journal_read(const char *dir, int worker, int generation,
                          int thread, size_t *ret_count);

/* -- the resources, one for each lock -------------------------------------- */

/* A counter that nothing but the lock protects, and a store that refuses old
 * tokens.
 *
 * counter-N  a number of 8 bytes, read when a section begins and written, one
 *            higher, when it ends.
 * store-N    every access that was accepted, in that order; each access is
 *            under fcntl(F_SETLKW).
 * fence-N    the fence of the store. */
struct resource {
    int counter;
    int store;
    zkr_fence *fence; /* NULL: the store takes everything */
};

/* It makes what is missing. */
struct resource resource_open(const char *dir, int lock, bool fenced);
void resource_close(struct resource *r);

/* Access the store with this token. Returns whether it was accepted. */
bool resource_access(const struct resource *r, bool writes, int64_t token,
                     uint64_t handoff);

/* Returns all accesses that were accepted so far, to be freed. */
struct judge_access *resource_accepted(const struct resource *r,
                                       size_t *ret_count);
