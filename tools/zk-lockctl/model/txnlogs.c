/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files of transaction logs, and plays them one after the other: in
 * each, what is behind those before it. A file may be damaged, and may be
 * written to while it is read. */
#include "model/txnlogs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "common/grow.h"
#include "common/lockctl.h"

/* --- numbers and texts --- */

/* Nothing is read behind the end: what is missing is zero or empty, and
 * `failed` says so. */
static struct wire wire_of(struct bytes bytes)
{
    return (struct wire){ (const unsigned char *)bytes.at, bytes.size, false };
}

/* Big-endian, of so many bytes, with its sign. */
static int64_t wire_number(struct wire *w, size_t width)
{
    uint64_t value = 0;

    if (w->left < width) {
        w->failed = true;
        return 0;
    }
    if ((w->at[0] & 0x80) != 0)
        value = UINT64_MAX;
    for (size_t i = 0; i < width; i++)
        value = value << 8 | w->at[i];
    w->at += width;
    w->left -= width;
    return (int64_t)value;
}

/* A size below zero fails. */
static void wire_skip(struct wire *w, int64_t size)
{
    if ((uint64_t)size > w->left) {
        w->failed = true;
        return;
    }
    w->at += size;
    w->left -= (size_t)size;
}

static int32_t wire_int(struct wire *w)
{
    return (int32_t)wire_number(w, 4);
}

static int64_t wire_long(struct wire *w)
{
    return wire_number(w, 8);
}

/* A length, and as many bytes; a length of -1 is no text. */
static struct bytes wire_bytes(struct wire *w)
{
    int32_t length = wire_int(w);
    struct bytes bytes = { (const char *)w->at, 0 };

    if (w->failed || length == -1)
        return bytes;
    wire_skip(w, length);
    if (!w->failed)
        bytes.size = (size_t)length;
    return bytes;
}

/* A list of ACLs has permissions, a scheme and an id for each entry. */
static void wire_skip_acls(struct wire *w)
{
    for (int32_t n = wire_int(w); n > 0 && !w->failed; n--) {
        (void)wire_int(w);
        (void)wire_bytes(w);
        (void)wire_bytes(w);
    }
}

/* --- the bytes of a file --- */

/* A server may cut a file when it follows a new leader, and a disk may fail. */
static void on_cut(int sig)
{
    static const char words[] = "zk-lockctl: a log or snapshot was cut, or its "
                                "disk has failed, while it was read\n";

    (void)sig;
    (void)!write(STDERR_FILENO, words, sizeof(words) - 1);
    _exit(EX_NOINPUT);
}

/* A snapshot may be as large as the memory of its server: no copy is made of
 * it. The file may grow meanwhile, and may be removed. 0, or an errno. */
static int map_file(const char *file, struct bytes *ret_all)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    struct stat st;
    int error = fd < 0 || fstat(fd, &st) != 0 ? errno : 0;

    *ret_all = (struct bytes){ "", 0 };
    (void)signal(SIGBUS, on_cut);
    if (error == 0 && st.st_size > 0) {
        void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);

        if (at == MAP_FAILED)
            error = errno;
        else
            *ret_all = (struct bytes){ at, (size_t)st.st_size };
    }
    if (fd >= 0)
        (void)close(fd);
    return error;
}

static void unmap(struct bytes all)
{
    if (all.size > 0)
        (void)munmap((void *)(uintptr_t)all.at, all.size);
}

static bool begins(struct bytes all, const char *bytes, size_t size)
{
    return all.size >= size && memcmp(all.at, bytes, size) == 0;
}

static uint64_t sum_of(const void *bytes, size_t size)
{
    return adler32_z(adler32(0, NULL, 0), bytes, size);
}

/* --- a transaction log --- */

enum { FILE_HEADER = 16 }; /* "ZKLG", version, id of the database */

int txnlog_open(struct txnlog *log, const char *file)
{
    *log = (struct txnlog){ .damaged = false };
    int error = map_file(file, &log->all);
    log->left = wire_of(log->all);
    wire_skip(&log->left, FILE_HEADER);
    return error == 0 && !begins(log->all, "ZKLG\0\0\0\2", 8) ? EBADMSG : error;
}

void txnlog_close(struct txnlog *log)
{
    unmap(log->all);
    log->all.size = 0;
}

/* Servers allocate the space of a file in advance: it ends with zeros. */
static bool is_at_end(const struct wire *w)
{
    static const char zeros[8 + 4]; /* checksum, length */

    return memcmp(w->at, zeros,
                  w->left < sizeof(zeros) ? w->left : sizeof(zeros)) == 0;
}

/* A record has a checksum, a length, so many bytes, and a 'B' behind them. */
bool txnlog_next(struct txnlog *log, struct txn *ret_txn)
{
    struct wire *w = &log->left;

    if (is_at_end(w))
        return false;
    uint64_t sum = (uint64_t)wire_long(w);
    struct bytes bytes = wire_bytes(w);
    log->damaged = wire_number(w, 1) != 'B' ||
                   sum_of(bytes.at, bytes.size) != sum ||
                   !txn_read(ret_txn, bytes);
    return !log->damaged;
}

/* --- a snapshot --- */

static void skip_head(struct wire *w)
{
    wire_skip(w, 8 + 8);                          /* magic, the database */
    wire_skip(w, (int64_t)wire_int(w) * (8 + 4)); /* sessions: id, timeout */
    for (int32_t lists = wire_int(w); lists > 0 && !w->failed; lists--) {
        wire_skip(w, 8); /* the number of the list */
        wire_skip_acls(w);
    }
}

/* A session has no bit set in the highest byte but for its server's id; the
 * owner of a container is INT64_MIN, and 0xff is the highest byte of a time to
 * live. */
static int64_t session_of(int64_t owner)
{
    return owner == INT64_MIN || (uint64_t)owner >> 56 == 0xff ? 0 : owner;
}

/* False: it is the path "/", with which all nodes end, or no node. */
static bool read_node(struct wire *w, struct node *node)
{
    node->path = wire_bytes(w);
    if (w->failed || (node->path.size == 1 && node->path.at[0] == '/'))
        return false;
    w->failed = memchr(node->path.at, '\0', node->path.size) != NULL;
    node->data = wire_bytes(w);
    if (node->data.size > SNAPSHOT_DATA_MAX)
        node->data.size = SNAPSHOT_DATA_MAX;
    wire_skip(w, 8); /* the number of its list of ACLs */
    node->czxid = wire_long(w);
    wire_skip(w, 8); /* mzxid */
    node->ctime_ms = wire_long(w);
    wire_skip(w, 8 + 4 + 4 + 4); /* mtime; version, cversion, aversion */
    node->owner = session_of(wire_long(w));
    wire_skip(w, 8); /* pzxid */
    return !w->failed;
}

/* The checksum of all before it is the last. Without a function this only
 * proves it. */
static const char *read_all(struct bytes all, snapshot_fn *fn, void *user)
{
    struct wire w = wire_of(all);
    struct node node;

    if (begins(all, "\x82SNAPPY", 7) || begins(all, "\x1f\x8b", 2))
        return "it is compressed, which is not read; gunzip a copy";
    w.failed = !begins(all, "ZKSN\0\0\0\2", 8);
    skip_head(&w);
    while (read_node(&w, &node)) {
        if (fn != NULL)
            fn(&node, user);
    }
    uint64_t sum = sum_of(all.at, all.size - w.left);
    return w.failed || (uint64_t)wire_long(&w) != sum
               ? "damaged, or no snapshot"
               : NULL;
}

const char *snapshot_read(const char *file, snapshot_fn *fn, void *user)
{
    struct bytes all;
    int error = map_file(file, &all);
    const char *failure =
        error != 0 ? strerror(error) : read_all(all, NULL, NULL);

    if (failure == NULL)
        (void)read_all(all, fn, user);
    unmap(all);
    return failure;
}

/* --- what cannot be read --- */

static int fail_errno(const char *path, int error)
{
    return lockctl_fail(error == EACCES || error == EPERM ? EX_NOPERM
                                                          : EX_NOINPUT,
                        "%s: %s", path, strerror(error));
}

static int fail_strange(const char *path)
{
    return lockctl_fail(EX_NOINPUT,
                        "%s: it is neither a transaction log nor a snapshot of "
                        "a server that has its own name, snapshot.NUMBER",
                        path);
}

/* --- finding the files --- */

enum file_kind { KIND_OTHER, KIND_LOG, KIND_SNAPSHOT };

/* "log.1a", "snapshot.1a", and, since a server may compress it, that with
 * ".gz" or ".snappy" behind it. */
static enum file_kind kind_of(const char *name, int64_t *ret_zxid)
{
    unsigned long long zxid = 0;
    enum file_kind kind = KIND_OTHER;
    int end = 0;

    if (sscanf(name, "log.%16llx%n", &zxid, &end) == 1)
        kind = KIND_LOG;
    else if (sscanf(name, "snapshot.%16llx%n", &zxid, &end) == 1)
        kind = KIND_SNAPSHOT;
    name += end;
    *ret_zxid = (int64_t)zxid;
    return name[0] == '\0' ||
                   (kind == KIND_SNAPSHOT &&
                    (strcmp(name, ".gz") == 0 || strcmp(name, ".snappy") == 0))
               ? kind
               : KIND_OTHER;
}

/* The name of a file tells what it is, and of a log also its first bytes: one
 * that was given may have any name. Its first transaction tells its place. In a
 * directory there are other files, and one may have been purged, or have no
 * bytes yet; what cannot be read there is a note, later. */
static int add_file(struct txnlogs *logs, const char *path, bool given)
{
    const char *slash = strrchr(path, '/');
    struct txnlog log;
    struct txn txn = { .zxid = 0 };
    int64_t zxid;
    enum file_kind kind = kind_of(slash == NULL ? path : slash + 1, &zxid);

    if (kind == KIND_OTHER && !given)
        return 0;
    int error = txnlog_open(&log, path);
    bool wanted =
        given || (error == EBADMSG ? log.all.size > 0 : error != ENOENT);
    if (error == 0 && wanted) {
        kind = KIND_LOG;
        zxid = txnlog_next(&log, &txn) ? txn.zxid : zxid;
    }
    txnlog_close(&log);
    if (!wanted)
        return 0;
    if (given && error != 0 && error != EBADMSG)
        return fail_errno(path, error);
    if (given && error != 0 && kind != KIND_SNAPSHOT)
        return fail_strange(path);
    *(struct txnlogs_file *)GROW(kind == KIND_LOG ? &logs->logs
                                                  : &logs->snapshots) =
        (struct txnlogs_file){ enough(strdup(path)), zxid };
    return 0;
}

static int add_entries(struct txnlogs *logs, const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    char file[4096];
    int code = 0;

    if (dir == NULL)
        return fail_errno(path, errno);
    while (code == 0 && (entry = readdir(dir)) != NULL) {
        int len = snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);

        code = (size_t)len < sizeof(file) ? add_file(logs, file, false)
                                          : fail_errno(path, ENAMETOOLONG);
    }
    (void)closedir(dir);
    return code;
}

static int add_directory(struct txnlogs *logs, const char *path)
{
    size_t before = logs->logs.count + logs->snapshots.count;
    char below[4096];
    struct stat st;

    (void)snprintf(below, sizeof(below), "%s/version-2", path);
    if (stat(below, &st) != 0 || !S_ISDIR(st.st_mode))
        (void)snprintf(below, sizeof(below), "%s", path);
    int code = add_entries(logs, below);
    if (code == 0 && logs->logs.count + logs->snapshots.count == before)
        return lockctl_fail(EX_NOINPUT,
                            "%s: has no log.NUMBER, nor has its version-2 "
                            "(--from takes the dataLogDir or dataDir of "
                            "zoo.cfg)",
                            path);
    return code;
}

int txnlogs_add(struct txnlogs *logs, const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return fail_errno(path, errno);
    if (S_ISDIR(st.st_mode))
        return add_directory(logs, path);
    return S_ISREG(st.st_mode) ? add_file(logs, path, true)
                               : fail_strange(path);
}

static void list_done(struct txnlogs_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].path);
    free(list->items);
}

void txnlogs_done(struct txnlogs *logs)
{
    list_done(&logs->logs);
    list_done(&logs->snapshots);
    notes_done(&logs->notes);
}

/* --- all files --- */

static int by_zxid(const void *a, const void *b)
{
    const struct txnlogs_file *x = a;
    const struct txnlogs_file *y = b;

    return (x->zxid > y->zxid) - (x->zxid < y->zxid);
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

    if (failure != NULL)
        notes_add(&p->logs->notes, "%s: the snapshot cannot be read: %s",
                  f->path, failure);
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

/* Plays the transactions of the file that come after the last one played. */
static void play_file(struct playing *p, const char *path)
{
    struct txnlog log;
    struct txn txn;
    int error = txnlog_open(&log, path);

    while (error == 0 && txnlog_next(&log, &txn))
        play_one(p, &txn);
    if (error != 0)
        notes_add(&p->logs->notes, "%s: %s", path,
                  error == EBADMSG
                      ? "not a transaction log that this tool can read"
                      : strerror(error));
    if (log.damaged)
        notes_add(&p->logs->notes, "%s: it ends with a damaged record", path);
    txnlog_close(&log);
}

int txnlogs_play(struct txnlogs *logs, const struct player *player)
{
    struct playing p = { .logs = logs, .player = player };

    sort_array(logs->logs.items, logs->logs.count, sizeof(*logs->logs.items),
               by_zxid);
    sort_array(logs->snapshots.items, logs->snapshots.count,
               sizeof(*logs->snapshots.items), by_zxid);
    for (size_t i = 0; i < logs->logs.count; i++)
        play_file(&p, logs->logs.items[i].path);
    if (p.zxid != 0 || logs->logs.count == 0)
        return 0;
    return lockctl_fail(EX_NOINPUT, "there is no transaction in the logs");
}

bool txn_read(struct txn *txn, struct bytes bytes)
{
    struct wire w = wire_of(bytes);

    txn->session = wire_long(&w);
    txn->cxid = wire_int(&w);
    txn->zxid = wire_long(&w);
    txn->time_ms = wire_long(&w);
    txn->type = wire_int(&w);
    txn->body = (struct bytes){ (const char *)w.at, w.left };
    return !w.failed;
}

struct reading {
    const struct txn *txn;
    change_fn *fn;
    void *user;
};

/* False: no server has a node of that path. */
static bool tell(const struct reading *r, const struct change *change)
{
    if (change->path.size == 0 || change->path.at[0] != '/' ||
        memchr(change->path.at, '\0', change->path.size) != NULL)
        return false;
    r->fn(r->txn, change, r->user);
    return true;
}

/* The records that change a node: the fields in their front, of path, data,
 * ACLs, and whether it is ephemeral. A container, and a node with a time to
 * live, belong to no session. */
static const struct form {
    int32_t type;
    enum change_kind kind;
    const char *fields;
} forms[] = {
    { TXN_CREATE, CHANGE_CREATE, "pdae" },
    { TXN_CREATE2, CHANGE_CREATE, "pdae" },
    { TXN_CREATE_CONTAINER, CHANGE_CREATE, "pda" },
    { TXN_CREATE_TTL, CHANGE_CREATE, "pda" },
    { TXN_DELETE, CHANGE_DELETE, "p" },
    { TXN_DELETE_CONTAINER, CHANGE_DELETE, "p" },
    { TXN_SET_DATA, CHANGE_WRITE, "pd" },
    { TXN_RECONFIG, CHANGE_WRITE, "pd" },
};

static bool read_form(const struct reading *r, const struct form *form,
                      struct wire *w)
{
    struct change c = { .kind = form->kind };

    for (const char *field = form->fields; *field != '\0'; field++) {
        if (*field == 'p')
            c.path = wire_bytes(w);
        else if (*field == 'd')
            c.data = wire_bytes(w);
        else if (*field == 'a')
            wire_skip_acls(w);
        else
            c.ephemeral = wire_number(w, 1) != 0;
    }
    return !w->failed && tell(r, &c);
}

/* Servers before 3.6 do not list the nodes; then what follows may be
 * anything. */
static bool read_close(const struct reading *r, struct wire *w)
{
    struct change c = { .kind = CHANGE_CLOSE };
    struct wire list = *w;
    int32_t count = wire_int(&list);

    for (int32_t i = 0; i < count && !list.failed; i++) {
        c.path = wire_bytes(&list);
        if (!list.failed)
            (void)tell(r, &c);
    }
    c.path = (struct bytes){ "", 0 };
    r->fn(r->txn, &c, r->user);
    return true;
}

static bool read_one(const struct reading *r, int32_t type, struct wire *w)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (forms[i].type == type)
            return read_form(r, &forms[i], w);
    }
    if (type == TXN_CLOSE_SESSION)
        return read_close(r, w);
    return type == TXN_CREATE_SESSION || type == TXN_SET_ACL ||
           type == TXN_CHECK || type == TXN_ERROR;
}

/* Each part is a type and a record. A multi that has failed has errors for
 * parts. */
static bool read_multi(const struct reading *r, struct wire *w)
{
    int32_t count = wire_int(w);
    bool known = count >= 0;

    for (int32_t i = 0; i < count && !w->failed; i++) {
        int32_t type = wire_int(w);
        struct bytes body = wire_bytes(w);
        struct wire part = wire_of(body);

        if (!w->failed)
            known = read_one(r, type, &part) && known;
    }
    return known && !w->failed;
}

bool txn_changes(const struct txn *txn, change_fn *fn, void *user)
{
    const struct reading r = { txn, fn, user };
    struct wire w = wire_of(txn->body);

    return txn->type == TXN_MULTI ? read_multi(&r, &w)
                                  : read_one(&r, txn->type, &w);
}
