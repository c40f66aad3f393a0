/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files of transaction logs, and plays them in the order of their
 * transactions, each once, whichever servers wrote them. */
#include "model/txnlogs.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/escape.h"
#include "common/grow.h"
#include "common/lockctl.h"

static int fail(const char *path, const char *why, int exit_code)
{
    char text[1024];

    return lockctl_fail(exit_code, "%s: %s",
                        escape_string(path, text, sizeof(text)), why);
}

static int fail_errno(const char *path, int error)
{
    return fail(path, strerror(error),
                error == EACCES || error == EPERM ? EX_NOPERM : EX_NOINPUT);
}

static int fail_strange(const char *path)
{
    return fail(path,
                "it is neither a transaction log nor a snapshot of a server",
                EX_NOINPUT);
}

/* --- finding the files --- */

/* "log.1a", "snapshot.1a": the number behind the dot. Returns what is behind
 * the number; NULL: it is no such name. */
static const char *read_number(const char *name, const char *kind,
                               int64_t *ret_zxid)
{
    size_t len = strlen(kind);
    const char *digits = name + len;
    size_t count;

    if (strncmp(name, kind, len) != 0)
        return NULL;
    count = strspn(digits, "0123456789abcdefABCDEF");
    if (count == 0 || count > 16)
        return NULL;
    *ret_zxid = (int64_t)strtoull(digits, NULL, 16);
    return digits + count;
}

static bool is_log_name(const char *name, int64_t *ret_zxid)
{
    const char *rest = read_number(name, "log.", ret_zxid);

    return rest != NULL && rest[0] == '\0';
}

/* Since 3.6 a server may compress it. */
static bool is_snapshot_name(const char *name, int64_t *ret_zxid)
{
    const char *rest = read_number(name, "snapshot.", ret_zxid);

    return rest != NULL && (rest[0] == '\0' || strcmp(rest, ".gz") == 0 ||
                            strcmp(rest, ".snappy") == 0);
}

static int append(struct txnlogs_list *list, const char *path, int64_t zxid)
{
    char *copy = strdup(path);
    struct txnlogs_file *file = copy == NULL ? NULL : GROW(list);

    if (file == NULL) {
        free(copy);
        return lockctl_fail_error(ZKR_ENOMEM, "");
    }
    *file = (struct txnlogs_file){ .path = copy,
                                   .zxid = zxid,
                                   .log = { .fd = -1 } };
    return 0;
}

static int add_snapshot(struct txnlogs *logs, const char *path,
                        const char *name)
{
    int64_t zxid;

    if (!is_snapshot_name(name, &zxid))
        return fail(path, "a snapshot must have its own name, snapshot.NUMBER",
                    EX_NOINPUT);
    return append(&logs->snapshots, path, zxid);
}

static int add_packed(struct txnlogs *logs, const char *path, const char *name,
                      enum packing packing)
{
    int64_t zxid;

    if (packing == PACKING_SNAPPY)
        return fail(path, packed_reason(PACKED_SNAPPY), EX_NOINPUT);
    if (!is_snapshot_name(name, &zxid))
        return fail(path,
                    "it is compressed: of a server that may be a snapshot "
                    "with its own name, snapshot.NUMBER.gz",
                    EX_NOINPUT);
    return append(&logs->snapshots, path, zxid);
}

/* What it is, its first bytes say. */
static int add_file(struct txnlogs *logs, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    char magic[PACKING_BYTES] = "";
    enum packing packing;
    int64_t zxid = INT64_MIN;
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return fail_errno(path, errno);
    packing = packing_of(magic, fread(magic, 1, sizeof(magic), file));
    (void)fclose(file);
    if (packing != PACKING_NONE)
        return add_packed(logs, path, name, packing);
    if (memcmp(magic, "ZKSN", 4) == 0)
        return add_snapshot(logs, path, name);
    if (memcmp(magic, "ZKLG", 4) != 0)
        return fail_strange(path);
    (void)is_log_name(name, &zxid);
    return append(&logs->logs, path, zxid);
}

/* A log of no bytes is one that a server has just begun. */
static int add_entry(struct txnlogs *logs, const char *dir, const char *name)
{
    char path[4096];
    int64_t zxid;
    struct stat st;
    bool is_log = is_log_name(name, &zxid);

    if (!is_log && !is_snapshot_name(name, &zxid))
        return 0;
    if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >=
        sizeof(path))
        return fail(dir, strerror(ENAMETOOLONG), EX_NOINPUT);
    if (stat(path, &st) != 0)
        return errno == ENOENT ? 0 : fail_errno(path, errno); /* purged */
    if (st.st_size == 0)
        return 0;
    return append(is_log ? &logs->logs : &logs->snapshots, path, zxid);
}

static int add_entries(struct txnlogs *logs, const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    int code = 0;

    if (dir == NULL)
        return fail_errno(path, errno);
    while (code == 0 && (entry = readdir(dir)) != NULL)
        code = add_entry(logs, path, entry->d_name);
    (void)closedir(dir);
    return code;
}

static int add_directory(struct txnlogs *logs, const char *path)
{
    size_t before = logs->logs.count + logs->snapshots.count;
    char below[4096];
    struct stat st;
    int code;

    (void)snprintf(below, sizeof(below), "%s/version-2", path);
    if (stat(below, &st) != 0 || !S_ISDIR(st.st_mode))
        (void)snprintf(below, sizeof(below), "%s", path);
    code = add_entries(logs, below);
    if (code == 0 && logs->logs.count + logs->snapshots.count == before)
        return fail(path,
                    "has no log.NUMBER, nor has its version-2 (--from takes "
                    "the dataLogDir or dataDir of zoo.cfg)",
                    EX_NOINPUT);
    return code;
}

int txnlogs_add(struct txnlogs *logs, const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return fail_errno(path, errno);
    if (S_ISDIR(st.st_mode))
        return add_directory(logs, path);
    return S_ISREG(st.st_mode) ? add_file(logs, path) : fail_strange(path);
}

static void list_done(struct txnlogs_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        txnlog_close(&list->items[i].log);
        free(list->items[i].path);
    }
    free(list->items);
}

void txnlogs_done(struct txnlogs *logs)
{
    list_done(&logs->logs);
    list_done(&logs->snapshots);
    notes_done(&logs->notes);
}

/* --- one file --- */

static void note(struct txnlogs *logs, const char *path, const char *what)
{
    char text[384];

    notes_add(&logs->notes, "%s: %s", escape_string(path, text, sizeof(text)),
              what);
}

static const char *reason(int error)
{
    return error == EBADMSG ? "not a transaction log that this tool can read"
                            : strerror(error);
}

static void end_file(struct txnlogs *logs, struct txnlogs_file *f)
{
    char what[128];

    if (f->log.torn_at != 0) {
        (void)snprintf(what, sizeof(what),
                       "there is a damaged record at byte %" PRIu64,
                       f->log.torn_at);
        note(logs, f->path, what);
    }
    txnlog_close(&f->log);
    f->has_next = false;
    f->ended = true;
}

static void advance(struct txnlogs *logs, struct txnlogs_file *f)
{
    int rc = txnlog_next(&f->log, &f->next);

    f->has_next = rc == 1;
    if (rc < 0)
        note(logs, f->path, reason(-rc));
    if (rc != 1)
        end_file(logs, f);
}

static void start(struct txnlogs *logs, struct txnlogs_file *f)
{
    int rc = txnlog_open(&f->log, f->path);

    f->opened = true;
    if (rc == 0) {
        advance(logs, f);
        return;
    }
    note(logs, f->path, reason(rc));
    f->ended = true;
}

/* --- all files --- */

static int by_zxid(const void *a, const void *b)
{
    const struct txnlogs_file *x = a;
    const struct txnlogs_file *y = b;

    return (x->zxid > y->zxid) - (x->zxid < y->zxid);
}

static void rewind_all(struct txnlogs *logs)
{
    if (logs->logs.count > 0)
        qsort(logs->logs.items, logs->logs.count, sizeof(struct txnlogs_file),
              by_zxid);
    if (logs->snapshots.count > 0)
        qsort(logs->snapshots.items, logs->snapshots.count,
              sizeof(struct txnlogs_file), by_zxid);
    for (size_t i = 0; i < logs->logs.count; i++) {
        struct txnlogs_file *f = &logs->logs.items[i];

        txnlog_close(&f->log);
        f->opened = f->ended = f->has_next = false;
    }
}

/* The file with the next transaction. A file is not opened before its turn. */
static struct txnlogs_file *first(struct txnlogs *logs)
{
    struct txnlogs_file *min = NULL;

    for (size_t i = 0; i < logs->logs.count; i++) {
        struct txnlogs_file *f = &logs->logs.items[i];

        if (f->ended)
            continue;
        if (!f->opened && min != NULL && min->next.zxid < f->zxid)
            break;
        if (!f->opened)
            start(logs, f);
        if (f->has_next && (min == NULL || f->next.zxid < min->next.zxid))
            min = f;
    }
    return min;
}

/* A zxid is the number of a leader's term, and of a transaction in it: the next
 * one, or the first of a later term. Where a term has ended nobody can tell. */
static bool follows(int64_t before, int64_t after)
{
    return (before != INT64_MAX && after == before + 1) ||
           (after >> 32 > before >> 32 && (uint32_t)after == 1);
}

struct playing {
    struct txnlogs *logs;
    const struct player *player;
    size_t next_snapshot;
    int64_t zxid; /* of the last transaction; 0: none yet */
    int64_t time_ms;
};

static void offer(struct playing *p, const struct txnlogs_file *f)
{
    int rc = p->player->snapshot == NULL
                 ? 0
                 : p->player->snapshot(f->path, f->zxid, p->player->user);
    char what[256];

    if (rc == 0)
        return;
    (void)snprintf(what, sizeof(what), "the snapshot cannot be read: %s",
                   packed_reason(rc));
    note(p->logs, f->path, what);
}

/* Snapshots that were made after the last transaction, and right before the
 * next one. One of a time for which the transactions are missing says nothing
 * about those that are there. */
static void offer_before(struct playing *p, int64_t next)
{
    const struct txnlogs_list *list = &p->logs->snapshots;

    for (; p->next_snapshot < list->count &&
           list->items[p->next_snapshot].zxid < next;
         p->next_snapshot++) {
        if (follows(list->items[p->next_snapshot].zxid, next))
            offer(p, &list->items[p->next_snapshot]);
    }
}

/* Those of the state that the last transaction has made. */
static void offer_after(struct playing *p)
{
    const struct txnlogs_list *list = &p->logs->snapshots;

    for (; p->next_snapshot < list->count &&
           list->items[p->next_snapshot].zxid == p->zxid;
         p->next_snapshot++)
        offer(p, &list->items[p->next_snapshot]);
}

static void play_one(struct playing *p, const struct txn *txn)
{
    struct gap gap = { p->zxid, txn->zxid, p->time_ms, txn->time_ms };

    if (p->zxid != 0 && txn->zxid <= p->zxid)
        return;
    if (p->zxid != 0 && !follows(p->zxid, txn->zxid))
        p->player->gap(&gap, p->player->user);
    offer_before(p, txn->zxid);
    p->player->txn(txn, p->player->user);
    p->zxid = txn->zxid;
    p->time_ms = txn->time_ms;
    offer_after(p);
}

int txnlogs_play(struct txnlogs *logs, const struct player *player)
{
    struct playing p = { .logs = logs, .player = player };
    struct txnlogs_file *f;

    rewind_all(logs);
    while ((f = first(logs)) != NULL) {
        play_one(&p, &f->next);
        advance(logs, f);
    }
    if (p.zxid != 0 || logs->logs.count == 0)
        return 0;
    return lockctl_fail(EX_NOINPUT, "there is no transaction in the logs");
}
