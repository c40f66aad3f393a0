/* SPDX-License-Identifier: Apache-2.0 */
/* Reads transaction logs while they are written: a file ends with zeros, or in
 * the middle of a record. A server whose disk was full leaves a torn record,
 * and writes on after it. */
#include "txn_log.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glob.h>

#include "wire.h"

enum {
    FILE_HEADER = 16,
    RECORD_HEADER = 12, /* checksum, length */
    LENGTH_AT = 8,
    PAGE = 4096,
    RECORD_MAX = 1 << 20,
};

/* Reads the record that begins here, or returns false. */
static bool read_here(FILE *file, unsigned char *data, struct reading *ret)
{
    unsigned char head[RECORD_HEADER];
    struct reading r = { head, sizeof(head), 0 };

    if (fread(head, 1, sizeof(head), file) != sizeof(head))
        return false;
    uint32_t sum = (uint32_t)take_number(&r, LENGTH_AT);
    *ret = (struct reading){ data, (size_t)take_number(&r, 4), 0 };
    return ret->size != 0 && ret->size <= RECORD_MAX &&
           fread(data, 1, ret->size, file) == ret->size && fgetc(file) == 'B' &&
           log_checksum(data, ret->size) == sum;
}

/* Finds the first record within a page after a torn one, or returns false. */
static bool read_behind(FILE *file, long at, unsigned char *data,
                        struct reading *ret)
{
    static const unsigned char zeros[PAGE];
    unsigned char page[PAGE];

    if (fseek(file, at, SEEK_SET) != 0 ||
        fread(page, 1, sizeof(page), file) != sizeof(page) ||
        memcmp(page, zeros, sizeof(page)) == 0)
        return false;
    for (long i = 1; i <= PAGE; i++) {
        if (fseek(file, at + i, SEEK_SET) == 0 && read_here(file, data, ret))
            return true;
    }
    return false;
}

static bool read_file(FILE *file, txn_fn fn, void *user)
{
    unsigned char *data = malloc(RECORD_MAX);
    struct reading r;
    bool good = data != NULL;

    if (good && fread(data, 1, FILE_HEADER, file) == FILE_HEADER)
        good = memcmp(data, "ZKLG", 4) == 0;
    while (good) {
        struct txn t = { .path = "" };
        long at = ftell(file);

        if (!read_here(file, data, &r) && !read_behind(file, at, data, &r))
            break;
        /* A TxnHeader, then the fields of its type. */
        t.session = take_number(&r, 8);
        (void)take_number(&r, 4); /* cxid */
        t.zxid = take_number(&r, 8);
        t.time_ms = take_number(&r, 8);
        t.type = (int32_t)take_number(&r, 4);
        if (t.type == TXN_CREATE || t.type == TXN_CREATE2 ||
            t.type == TXN_DELETE)
            take_text(&r, t.path, sizeof(t.path));
        good = fn(user, &t);
    }
    free(data);
    return good;
}

/* Sorts files by the numbers in their names. */
static int by_number(const void *a, const void *b)
{
    const char *x = strrchr(*(char *const *)a, '.') + 1;
    const char *y = strrchr(*(char *const *)b, '.') + 1;

    return judge_compare(strtoll(x, NULL, 16), strtoll(y, NULL, 16));
}

bool txn_log_read_dir(const char *dir, txn_fn fn, void *user)
{
    char pattern[PATH_MAX];
    glob_t files;
    bool good = true;

    (void)snprintf(pattern, sizeof(pattern), "%s/version-2/log.*", dir);
    if (glob(pattern, 0, NULL, &files) != 0)
        return false;
    qsort(files.gl_pathv, files.gl_pathc, sizeof(char *), by_number);
    for (size_t i = 0; good && i < files.gl_pathc; i++) {
        FILE *file = fopen(files.gl_pathv[i], "re");

        good = file != NULL && read_file(file, fn, user);
        if (file != NULL)
            (void)fclose(file);
    }
    globfree(&files);
    return good;
}

bool txn_log_read(const struct server *s, txn_fn fn, void *user)
{
    return txn_log_read_dir(server_log_dir(s), fn, user);
}

struct search {
    int64_t session;
    int64_t time_ms;
};

static bool find_close(void *user, const struct txn *t)
{
    struct search *s = user;

    if (t->type == TXN_CLOSE_SESSION && t->session == s->session)
        s->time_ms = t->time_ms;
    return s->time_ms == 0;
}

int64_t txn_log_session_closed(const struct server *s, int64_t session_id)
{
    struct search search = { .session = session_id };

    (void)txn_log_read(s, find_close, &search);
    return search.time_ms;
}

/* -- the lives of nodes ---------------------------------------------------- */

/* The name of a child of the directory, or NULL. */
static const char *child_of(const struct history *h, const char *path)
{
    size_t length = strlen(h->directory);

    return strncmp(path, h->directory, length) == 0 && path[length] == '/'
               ? path + length + 1
               : NULL;
}

bool history_add(void *history, const struct txn *t)
{
    struct history *h = history;
    const char *name = child_of(h, t->path); /* NULL at the end of a session */
    bool closes = t->type == TXN_CLOSE_SESSION;

    if (name != NULL && t->type != TXN_DELETE) {
        struct life *lives = realloc(h->lives, (h->count + 1) * sizeof(*lives));

        if (lives == NULL)
            return false;
        h->lives = lives;
        lives[h->count] = (struct life){ .owner = t->session,
                                         .begin = t->zxid,
                                         .end = INT64_MAX,
                                         .begin_ms = t->time_ms,
                                         .end_ms = INT64_MAX };
        (void)snprintf(lives[h->count].name, sizeof(lives->name), "%s", name);
        h->count++;
        return true;
    }
    for (size_t i = h->count; i-- > 0 && (closes || name != NULL);) {
        struct life *l = &h->lives[i];

        if (l->end != INT64_MAX ||
            (closes ? l->owner != t->session : strcmp(l->name, name) != 0))
            continue;
        l->end = t->zxid;
        l->end_ms = t->time_ms;
        l->by_session = closes;
        if (!closes)
            break;
    }
    return true;
}

struct life *history_read(const struct server *s, const char *directory,
                          size_t *ret_count)
{
    struct history h = { .directory = directory };

    if (!txn_log_read(s, history_add, &h)) {
        free(h.lives);
        return NULL;
    }
    *ret_count = h.count;
    return h.lives;
}

struct judge_node *history_nodes(const struct life *lives, size_t count)
{
    struct judge_node *nodes = judge_array(count, sizeof(*nodes));

    for (size_t i = 0; i < count; i++) {
        const struct life *l = &lives[i];

        nodes[i] =
            (struct judge_node){ .name = l->name,
                                 .shared = strstr(l->name, "__READ__") != NULL,
                                 .session = l->owner,
                                 .token = l->begin,
                                 .gone = l->end,
                                 .gone_at = l->end_ms };
    }
    return nodes;
}
