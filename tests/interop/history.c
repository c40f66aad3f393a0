/* Reading the transaction logs of a server. */
#include "history.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Types of zookeeper.jute and ZooDefs.OpCode. */
enum { CREATE = 1, DELETE = 2, CREATE2 = 15, CLOSE_SESSION = -11 };
enum { RECORD_MAX = 1 << 20 };

struct history {
    const char *directory;
    struct life *lives;
    size_t count;
};

/* A record, read from its beginning. */
struct record {
    unsigned char *data;
    size_t size;
    size_t at;
};

static int64_t get_number(struct record *r, size_t width)
{
    uint64_t value = 0;

    if (r->size - r->at < width)
        return 0;
    for (size_t i = 0; i < width; i++)
        value = value << 8 | r->data[r->at++];
    return (int64_t)value;
}

static void get_text(struct record *r, char *text, size_t size)
{
    int32_t length = (int32_t)get_number(r, 4);

    if (length < 0)
        length = 0;
    if ((size_t)length > r->size - r->at)
        length = (int32_t)(r->size - r->at);
    (void)snprintf(text, size, "%.*s", (int)length,
                   (const char *)r->data + r->at);
    r->at += (size_t)length;
}

/* The name of a child of the directory, or NULL. */
static const char *child_of(const struct history *h, const char *path)
{
    size_t length = strlen(h->directory);

    return strncmp(path, h->directory, length) == 0 && path[length] == '/'
               ? path + length + 1
               : NULL;
}

static bool on_create(struct history *h, const char *path, int64_t session,
                      int64_t zxid)
{
    const char *name = child_of(h, path);
    struct life *lives;

    if (name == NULL)
        return true;
    lives = realloc(h->lives, (h->count + 1) * sizeof(*lives));
    if (lives == NULL)
        return false;
    h->lives = lives;
    lives += h->count++;
    *lives = (struct life){ .owner = session, .begin = zxid, .end = INT64_MAX };
    (void)snprintf(lives->name, sizeof(lives->name), "%s", name);
    return true;
}

static void on_delete(struct history *h, const char *path, int64_t zxid)
{
    const char *name = child_of(h, path);

    for (size_t i = h->count; name != NULL && i-- > 0;) {
        if (h->lives[i].end == INT64_MAX &&
            strcmp(h->lives[i].name, name) == 0) {
            h->lives[i].end = zxid;
            return;
        }
    }
}

static void on_close(struct history *h, int64_t session, int64_t zxid)
{
    for (size_t i = 0; i < h->count; i++) {
        if (h->lives[i].owner == session && h->lives[i].end == INT64_MAX)
            h->lives[i].end = zxid;
    }
}

/* TxnHeader, then what belongs to its type. */
static bool take_record(struct history *h, struct record *r)
{
    int64_t session = get_number(r, 8);
    int64_t zxid;
    int32_t type;
    char path[512];

    (void)get_number(r, 4); /* cxid */
    zxid = get_number(r, 8);
    (void)get_number(r, 8); /* time */
    type = (int32_t)get_number(r, 4);
    if (type == CLOSE_SESSION) {
        on_close(h, session, zxid);
        return true;
    }
    if (type != CREATE && type != CREATE2 && type != DELETE)
        return true;
    get_text(r, path, sizeof(path));
    if (type != DELETE)
        return on_create(h, path, session, zxid);
    on_delete(h, path, zxid);
    return true;
}

/* A file ends with zeros, or in the middle of a record. */
static bool read_file(struct history *h, FILE *f)
{
    unsigned char *data = malloc(RECORD_MAX);
    unsigned char head[16];
    bool good = data != NULL && fread(head, 1, 16, f) == 16 &&
                memcmp(head, "ZKLG", 4) == 0;

    while (good && fread(head, 1, 12, f) == 12) {
        struct record length = { head + 8, 4, 0 };
        struct record r = { data, (size_t)get_number(&length, 4), 0 };

        if (r.size == 0 || r.size > RECORD_MAX ||
            fread(data, 1, r.size, f) != r.size || fgetc(f) != 'B')
            break;
        good = take_record(h, &r);
    }
    free(data);
    return good;
}

/* In the order of the numbers in their names. */
static int by_number(const void *a, const void *b)
{
    const char *x = strrchr(*(char *const *)a, '.') + 1;
    const char *y = strrchr(*(char *const *)b, '.') + 1;
    unsigned long long first = strtoull(x, NULL, 16);
    unsigned long long second = strtoull(y, NULL, 16);

    return (first > second) - (first < second);
}

struct life *history_read(const struct server *s, const char *directory,
                          size_t *ret_count)
{
    struct history h = { .directory = directory };
    char pattern[512];
    glob_t files;
    bool good = true;

    (void)snprintf(pattern, sizeof(pattern), "%s/data/version-2/log.*",
                   server_dir(s));
    if (glob(pattern, 0, NULL, &files) != 0)
        return NULL;
    qsort(files.gl_pathv, files.gl_pathc, sizeof(char *), by_number);
    for (size_t i = 0; good && i < files.gl_pathc; i++) {
        FILE *f = fopen(files.gl_pathv[i], "re");

        good = f != NULL && read_file(&h, f);
        if (f != NULL)
            (void)fclose(f);
    }
    globfree(&files);
    if (good) {
        *ret_count = h.count;
        return h.lives;
    }
    free(h.lives);
    return NULL;
}
