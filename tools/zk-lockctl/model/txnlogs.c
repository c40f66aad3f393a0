/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files of transaction logs, and plays them in the order of their
 * transactions, each once, whichever servers wrote them. A file may be damaged,
 * and may be written to while it is read. */
#include "model/txnlogs.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "common/escape.h"
#include "common/grow.h"
#include "common/lockctl.h"

/* --- one file --- */

enum {
    FILE_HEADER = 16,   /* "ZKLG", version, id of the database */
    RECORD_HEADER = 12, /* checksum, length */
    TXN_HEADER = 32,
    BUFFER = 1 << 16,
    /* Behind a torn record the next one is searched so far, and the records
     * that may be it have so many bytes together. */
    SEARCH_MAX = 1 << 20,
    SEARCH_BYTES = 64 << 20,
};

/* What begins at a place of the file: */
enum found { FOUND_RECORD, FOUND_END, FOUND_DAMAGE };

/* No more is read than the file has, whatever a damaged length says. */
static bool fits(const struct txnlog *log, int64_t end)
{
    struct stat st;

    return fstat(fileno(log->file), &st) == 0 && end <= st.st_size;
}

/* The bytes have a 'B' behind them. */
static bool is_record(const struct txnlog *log, uint64_t sum, size_t size,
                      struct txn *ret_txn)
{
    return log->body[size] == 'B' &&
           adler32_z(adler32(0, NULL, 0), (const Bytef *)log->body, size) ==
               sum &&
           txn_read(ret_txn, (struct bytes){ log->body, size }) &&
           (log->zxid == 0 || ret_txn->zxid > log->zxid);
}

/* What begins there; a record takes its length off the budget. 0, or an
 * errno. */
static int look(struct txnlog *log, int64_t at, int64_t *budget,
                struct txn *ret_txn, enum found *ret_found)
{
    static const char zeros[RECORD_HEADER];
    char head[RECORD_HEADER] = "";
    struct wire w = wire_of((struct bytes){ head, sizeof(head) });
    size_t length;
    uint64_t sum;

    *ret_found = FOUND_END;
    if (at != log->here && fseeko(log->file, at, SEEK_SET) != 0)
        return errno;
    log->here = -1;
    if (fread(head, 1, sizeof(head), log->file) < sizeof(head) &&
        ferror(log->file))
        return EIO;
    if (memcmp(head, zeros, sizeof(head)) == 0)
        return 0;
    *ret_found = FOUND_DAMAGE;
    sum = (uint64_t)wire_long(&w);
    length = (size_t)wire_int(&w);
    at += RECORD_HEADER + (int64_t)length + 1;
    if (sum > UINT32_MAX || length < TXN_HEADER || length > INT32_MAX ||
        (int64_t)length > *budget || (length >= log->room && !fits(log, at)))
        return 0;
    *budget -= (int64_t)length;
    if (!grow_block(&log->body, &log->room, length + 1))
        return ENOMEM;
    if (fread(log->body, 1, length + 1, log->file) != length + 1)
        return ferror(log->file) ? EIO : 0;
    if (!is_record(log, sum, length, ret_txn))
        return 0;
    log->at = log->here = at;
    log->zxid = ret_txn->zxid;
    *ret_found = FOUND_RECORD;
    return 0;
}

/* The first whole record behind a torn one. */
static int search(struct txnlog *log, struct txn *ret_txn,
                  enum found *ret_found)
{
    int64_t torn = log->at;
    int64_t budget = SEARCH_BYTES;
    int rc = 0;

    for (int64_t i = 1; rc == 0 && *ret_found != FOUND_RECORD; i++) {
        if (i > SEARCH_MAX || !fits(log, torn + i + RECORD_HEADER))
            break;
        rc = look(log, torn + i, &budget, ret_txn, ret_found);
    }
    return rc;
}

int txnlog_next(struct txnlog *log, struct txn *ret_txn)
{
    int64_t budget = INT64_MAX;
    enum found found;
    int rc = look(log, log->at, &budget, ret_txn, &found);

    if (rc == 0 && found == FOUND_DAMAGE) {
        if (log->torn_at == 0)
            log->torn_at = log->at;
        rc = search(log, ret_txn, &found);
    }
    return rc != 0 ? -rc : found == FOUND_RECORD;
}

void txnlog_close(struct txnlog *log)
{
    if (log->file != NULL)
        (void)fclose(log->file);
    free(log->body);
    *log = (struct txnlog){ .file = NULL };
}

int txnlog_open(struct txnlog *log, const char *file)
{
    char head[FILE_HEADER];
    int rc;

    *log = (struct txnlog){ .file = fopen(file, "re"),
                            .here = FILE_HEADER,
                            .at = FILE_HEADER };
    if (log->file == NULL)
        return errno;
    (void)setvbuf(log->file, NULL, _IOFBF, BUFFER);
    if (fread(head, 1, sizeof(head), log->file) == sizeof(head) &&
        memcmp(head, "ZKLG\0\0\0\2", 8) == 0)
        return 0;
    rc = ferror(log->file) ? EIO : EBADMSG;
    txnlog_close(log);
    return rc;
}

/* --- what cannot be read --- */

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
                "it is neither a transaction log nor a snapshot of a server "
                "that has its own name, snapshot.NUMBER",
                EX_NOINPUT);
}

/* --- finding the files --- */

enum file_kind { KIND_OTHER, KIND_LOG, KIND_SNAPSHOT };

/* "log.1a", "snapshot.1a", and, since a server may compress it, that with
 * ".gz" or ".snappy" behind it. */
static enum file_kind kind_of(const char *name, int64_t *ret_zxid)
{
    bool is_log = strncmp(name, "log.", strlen("log.")) == 0;
    const char *digits = strchr(name, '.');
    size_t count;

    if (!is_log && strncmp(name, "snapshot.", strlen("snapshot.")) != 0)
        return KIND_OTHER;
    digits++;
    count = strspn(digits, "0123456789abcdefABCDEF");
    if (count == 0 || count > 16)
        return KIND_OTHER;
    *ret_zxid = (int64_t)strtoull(digits, NULL, 16);
    digits += count;
    if (digits[0] == '\0')
        return is_log ? KIND_LOG : KIND_SNAPSHOT;
    return !is_log && (strcmp(digits, ".gz") == 0 ||
                       strcmp(digits, ".snappy") == 0)
               ? KIND_SNAPSHOT
               : KIND_OTHER;
}

static int append(struct txnlogs *logs, enum file_kind kind, const char *path,
                  int64_t zxid)
{
    char *copy = strdup(path);
    struct txnlogs_file *file = copy == NULL       ? NULL
                                : kind == KIND_LOG ? GROW(&logs->logs)
                                                   : GROW(&logs->snapshots);

    if (file == NULL) {
        free(copy);
        return lockctl_fail_error(ZKR_ENOMEM, "");
    }
    file->path = copy;
    file->zxid = zxid;
    return 0;
}

/* A log may have any name; a snapshot is told by its own. */
static int add_file(struct txnlogs *logs, const char *path)
{
    const char *slash = strrchr(path, '/');
    int64_t zxid = INT64_MIN;
    enum file_kind kind = kind_of(slash == NULL ? path : slash + 1, &zxid);
    char magic[4] = "";
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return fail_errno(path, errno);
    if (fread(magic, 1, sizeof(magic), file) == sizeof(magic) &&
        memcmp(magic, "ZKLG", sizeof(magic)) == 0) {
        zxid = kind == KIND_LOG ? zxid : INT64_MIN;
        kind = KIND_LOG;
    } else if (kind == KIND_LOG) {
        kind = KIND_OTHER;
    }
    (void)fclose(file);
    return kind == KIND_OTHER ? fail_strange(path)
                              : append(logs, kind, path, zxid);
}

/* A file of no bytes is one that a server has just begun. */
static int add_entry(struct txnlogs *logs, const char *dir, const char *name)
{
    char path[4096];
    int64_t zxid;
    struct stat st;
    enum file_kind kind = kind_of(name, &zxid);

    if (kind == KIND_OTHER)
        return 0;
    if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, name) >=
        sizeof(path))
        return fail(dir, strerror(ENAMETOOLONG), EX_NOINPUT);
    if (stat(path, &st) != 0)
        return errno == ENOENT ? 0 : fail_errno(path, errno); /* purged */
    return st.st_size == 0 ? 0 : append(logs, kind, path, zxid);
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

/* --- the next of a file --- */

static void note(struct txnlogs *logs, const char *path, const char *what)
{
    char text[384];

    notes_add(&logs->notes, "%s: %s", escape_string(path, text, sizeof(text)),
              what);
}

static void note_error(struct txnlogs *logs, const char *path, int error)
{
    note(logs, path,
         error == EBADMSG ? "not a transaction log that this tool can read"
                          : strerror(error));
}

static void advance(struct txnlogs *logs, struct txnlogs_file *f)
{
    int rc = txnlog_next(&f->log, &f->next);
    char what[128];

    f->has_next = rc == 1;
    if (f->has_next)
        return;
    if (rc < 0)
        note_error(logs, f->path, -rc);
    if (f->log.torn_at != 0) {
        (void)snprintf(what, sizeof(what),
                       "there is a damaged record at byte %" PRId64,
                       f->log.torn_at);
        note(logs, f->path, what);
    }
    txnlog_close(&f->log);
}

static void start(struct txnlogs *logs, struct txnlogs_file *f)
{
    int rc = txnlog_open(&f->log, f->path);

    f->opened = true;
    if (rc == 0)
        advance(logs, f);
    else
        note_error(logs, f->path, rc);
}

/* --- all files --- */

static int by_zxid(const void *a, const void *b)
{
    const struct txnlogs_file *x = a;
    const struct txnlogs_file *y = b;

    return (x->zxid > y->zxid) - (x->zxid < y->zxid);
}

static void rewind_all(struct txnlogs_list *list)
{
    sort_array(list->items, list->count, sizeof(*list->items), by_zxid);
    for (size_t i = 0; i < list->count; i++) {
        txnlog_close(&list->items[i].log);
        list->items[i].opened = list->items[i].has_next = false;
    }
}

/* The file with the next transaction. A file is not opened before its turn. */
static struct txnlogs_file *first(struct txnlogs *logs)
{
    struct txnlogs_file *min = NULL;

    for (size_t i = 0; i < logs->logs.count; i++) {
        struct txnlogs_file *f = &logs->logs.items[i];

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
    const char *failure =
        p->player->snapshot == NULL
            ? NULL
            : p->player->snapshot(f->path, f->zxid, p->player->user);
    char what[256];

    if (failure == NULL)
        return;
    (void)snprintf(what, sizeof(what), "the snapshot cannot be read: %s",
                   failure);
    note(p->logs, f->path, what);
}

/* The snapshots of the state before a transaction, or `after` it. Those of a
 * time for which the transactions are missing say nothing. */
static void offer_all(struct playing *p, int64_t zxid, bool after)
{
    const struct txnlogs_list *list = &p->logs->snapshots;

    for (; p->next_snapshot < list->count; p->next_snapshot++) {
        const struct txnlogs_file *f = &list->items[p->next_snapshot];

        if (f->zxid > zxid || (f->zxid == zxid && !after))
            break;
        if (after || follows(f->zxid, zxid))
            offer(p, f);
    }
}

static void play_one(struct playing *p, const struct txn *txn)
{
    struct gap gap = { p->zxid, txn->zxid, p->time_ms, txn->time_ms };

    if (p->zxid != 0 && txn->zxid <= p->zxid)
        return;
    if (p->zxid != 0 && !follows(p->zxid, txn->zxid))
        p->player->gap(&gap, p->player->user);
    offer_all(p, txn->zxid, false);
    p->player->txn(txn, p->player->user);
    p->zxid = txn->zxid;
    p->time_ms = txn->time_ms;
    offer_all(p, txn->zxid, true);
}

int txnlogs_play(struct txnlogs *logs, const struct player *player)
{
    struct playing p = { .logs = logs, .player = player };
    struct txnlogs_file *f;

    rewind_all(&logs->logs);
    rewind_all(&logs->snapshots);
    while ((f = first(logs)) != NULL) {
        play_one(&p, &f->next);
        advance(logs, f);
    }
    if (p.zxid != 0 || logs->logs.count == 0)
        return 0;
    return lockctl_fail(EX_NOINPUT, "there is no transaction in the logs");
}
