/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the nodes of lists, many at once, for one request. */
#ifndef ZKR__READER_H
#define ZKR__READER_H

#include "inspect/listed.h"
#include "request/request.h"

/* The number of nodes that are read at once. */
#define ZKR__READERS 128

struct zkr__readers;

struct zkr__reader {
    struct zkr__ask ask;
    struct zkr__readers *all;
    struct zkr__listed *list;
    struct zkr_participant *item;
    char *path;
};

struct zkr__readers {
    struct zkr__request *request;
    struct zkr__list lists; /* that are not read yet */
    struct zkr__reader each[ZKR__READERS];
};

void zkr__readers_init(struct zkr__readers *readers, struct zkr__request *r);
void zkr__readers_done(struct zkr__readers *readers);

/* The list is arranged, and lives until it is read, or the request has ended.
 * Not while they read. */
void zkr__readers_add(struct zkr__readers *readers, struct zkr__listed *list);

/* Reads the lists. Ends the request, with ZKR_OK when all are read. */
void zkr__readers_start_locked(struct zkr__readers *readers) ZKR__LOCKED;

#endif
