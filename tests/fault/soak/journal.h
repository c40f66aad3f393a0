/* SPDX-License-Identifier: Apache-2.0 */
/* The journal that a thread of a client writes, line by line: kind, instant in
 * ns of CLOCK_BOOTTIME, up to three numbers. Each line is one write, so that it
 * survives a SIGKILL. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Returns a descriptor, or -1 with errno. The threads of a client are numbered
 * from 0, as is that of NEMESIS. */
int journal_create(const char *dir, int worker, int generation, int thread);
void journal_write(int journal, char kind, int64_t a, int64_t b, int64_t c);

/* Returns all notes of a journal, to be freed; NULL when there is no such
 * journal. */
struct note *journal_read(const char *dir, int worker, int generation,
                          int thread, size_t *ret_count);
