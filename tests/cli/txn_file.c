/* SPDX-License-Identifier: Apache-2.0 */
/* Writes transaction logs and snapshots as servers do, for tests. */
#include "txn_file.h"

#include <zlib.h>

#include "model/txnlogs.h"
#include "unit.h"

void spell_out(char *text, size_t size, const char *from,
               const struct word *words)
{
    while (*from != '\0') {
        const struct word *w = words;

        while (w->word != NULL && strncmp(from, w->word, strlen(w->word)) != 0)
            w++;
        const char *next = w->word == NULL ? (char[]){ *from, 0 } : w->text;
        assert_true(strlen(next) < size);
        (void)strcpy(text, next);
        size -= strlen(next);
        text += strlen(next);
        from += w->word == NULL ? 1 : strlen(w->word);
    }
    *text = '\0';
}

char said[8192];

void say(const char *format, ...)
{
    size_t len = strlen(said);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(said + len, sizeof(said) - len, format, args);
    va_end(args);
}

void assert_said(const char *want, const struct word *words)
{
    char text[sizeof(said)];

    spell_out(text, sizeof(text), want, words);
    assert_string_equal(said, text);
}

void out_bytes(struct wire_out *out, const void *bytes, size_t size)
{
    assert_true(size <= sizeof(out->data) - out->size);
    memcpy(out->data + out->size, bytes, size);
    out->size += size;
}

void out_number(struct wire_out *out, int64_t number, int width)
{
    for (int i = width - 1; i >= 0; i--) {
        unsigned char byte = (unsigned char)((uint64_t)number >> i * 8);

        out_bytes(out, &byte, 1);
    }
}

void out_text(struct wire_out *out, const char *text)
{
    out_number(out, text == NULL ? -1 : (int64_t)strlen(text), 4);
    if (text != NULL)
        out_bytes(out, text, strlen(text));
}

void out_txn(struct wire_out *out, int64_t session, int32_t cxid, int64_t zxid,
             int64_t time_ms, int32_t type)
{
    out->size = 0;
    out_number(out, session, 8);
    out_number(out, cxid, 4);
    out_number(out, zxid, 8);
    out_number(out, time_ms, 8);
    out_number(out, type, 4);
}

int64_t txn_zxid;

int64_t txn_time(int64_t number)
{
    return 1000000000000 + number * 1000;
}

void txn_begin(struct wire_out *out, int64_t session, int32_t cxid,
               int32_t type)
{
    out_txn(out, session, cxid, txn_zxid, txn_time(txn_zxid), type);
    txn_zxid++;
}

void out_create(struct wire_out *out, const char *path, const char *data,
                bool ephemeral)
{
    out_text(out, path);
    out_text(out, data);
    out_number(out, 2, 4); /* entries of its ACL */
    for (int i = 0; i < 2; i++) {
        out_number(out, 31, 4);
        out_text(out, "world");
        out_text(out, "anyone");
    }
    out_number(out, ephemeral, 1);
    out_number(out, 1, 4); /* cversion of the parent */
}

static void write_all(FILE *file, const void *bytes, size_t size)
{
    assert_int_equal(fwrite(bytes, 1, size, file), size);
}

static char dir[128]; /* of the last log */

FILE *log_begin(const char *path)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    PRINT(dir, "%.*s", (int)(strrchr(path, '/') - path), path);
    txn_zxid = 1;
    write_all(file, "ZKLG\0\0\0\2\0\0\0\0\0\0\0\0", 16);
    return file;
}

void log_put(FILE *file, const struct wire_out *record)
{
    struct wire_out head = { .size = 0 };

    out_number(&head, adler32(1, record->data, (uInt)record->size), 8);
    out_number(&head, (int64_t)record->size, 4);
    write_all(file, head.data, head.size);
    write_all(file, record->data, record->size);
    write_all(file, "B", 1);
}

void log_end(FILE *file)
{
    static const char zeros[8192];

    write_all(file, zeros, sizeof(zeros));
    assert_int_equal(fclose(file), 0);
}

void snap_begin(struct wire_out *out)
{
    out->size = 0;
    out_bytes(out, "ZKSN\0\0\0\2", 8);
    out_number(out, -1, 8); /* the database */
    out_number(out, 1, 4);  /* sessions */
    out_number(out, 77, 8);
    out_number(out, 30000, 4);
    out_number(out, 1, 4); /* lists of ACLs */
    out_number(out, 1, 8);
    out_number(out, 1, 4);
    out_number(out, 31, 4);
    out_text(out, "world");
    out_text(out, "anyone");
    snap_node(out, "", "", 0, 0, 0);
}

void snap_node(struct wire_out *out, const char *path, const char *data,
               int64_t czxid, int64_t ctime_ms, int64_t owner)
{
    out_text(out, path);
    out_text(out, data);
    out_number(out, 1, 8);
    out_number(out, czxid, 8);
    out_number(out, czxid, 8);
    out_number(out, ctime_ms, 8);
    out_number(out, ctime_ms, 8);
    out_number(out, 0, 4);
    out_number(out, 0, 4);
    out_number(out, 0, 4);
    out_number(out, owner, 8);
    out_number(out, czxid, 8);
}

void snap_end(struct wire_out *out, const char *path)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    out_text(out, "/");
    out_number(out, adler32(1, out->data, (uInt)out->size), 8);
    out_text(out, "/");
    write_all(file, out->data, out->size);
    assert_int_equal(fclose(file), 0);
}

/* --- scripts --- */

const struct word txn_names[] = {
    { "#r", "_c_a-__READ__000000000" },
    { "#w", "_c_a-__WRIT__000000000" },
    { "#l", "lease-000000000" },
    { "#", "lock-000000000" },
    { .word = NULL },
};

static struct wire_out out;

static void write_snapshot(char *words)
{
    char *rest = NULL;
    char node[64];
    long long number = strtoll(strtok_r(words, " ", &rest), NULL, 10);

    snap_begin(&out);
    for (char *w; (w = strtok_r(NULL, " ", &rest)) != NULL;) {
        long long czxid, session;

        assert_int_equal(sscanf(w, "%63[^:]:%lld:%lld", node, &czxid, &session),
                         3);
        snap_node(&out, node, "him", czxid, txn_time(czxid), session);
    }
    snap_end(&out, textf("%s/snapshot.%llx", dir, (unsigned long long)number));
}

/* The list of servers since 3.6; without a node, of an older one. */
static void close_session(int64_t session, int32_t cxid, char *nodes)
{
    char *second = strchr(nodes, ',');

    txn_begin(&out, session, cxid, TXN_CLOSE_SESSION);
    if (second != NULL)
        *second++ = '\0';
    if (nodes[0] != '\0') {
        out_number(&out, second != NULL ? 2 : 1, 4);
        out_text(&out, nodes);
        if (second != NULL)
            out_text(&out, second);
    }
}

static void play_txn(int64_t session, char what, char *path)
{
    char *data = strchr(path, ':');

    if (data != NULL)
        *data++ = '\0';
    switch (what) {
    case '+':
    case '^':
        txn_begin(&out, session, 1, TXN_CREATE);
        out_create(&out, path,
                   data != NULL  ? data
                   : what == '+' ? "me"
                                 : "",
                   what == '+');
        break;
    case '!':
    case '?':
        close_session(session, what == '!' ? 9 : 0, path);
        break;
    case '-':
    case '_':
    case '~':
        txn_begin(&out, session, 1,
                  what == '-'   ? TXN_DELETE
                  : what == '_' ? TXN_DELETE_CONTAINER
                                : 99);
        out_text(&out, path);
        break;
    default:
        assert_int_equal(what, '=');
        txn_begin(&out, session, 1, TXN_SET_DATA);
        out_text(&out, path);
        out_text(&out, data);
        out_number(&out, 1, 4);
    }
}

void log_play(FILE *file, const char *script)
{
    char words[1024];
    char *rest = NULL;

    spell_out(words, sizeof(words), script, txn_names);
    for (char *w = strtok_r(words, ";", &rest); w != NULL;
         w = strtok_r(NULL, ";", &rest)) {
        char *end = w;
        int64_t session = strtoll(w, &end, 10);

        if (*w == '@') {
            txn_zxid = strtoll(w + 1, NULL, 10);
        } else if (*w == '*') {
            write_snapshot(w + 1);
        } else {
            play_txn(session, *end, end + 1);
            log_put(file, &out);
        }
    }
}

void log_write(const char *path, const char *script)
{
    FILE *file = log_begin(path);

    log_play(file, script);
    log_end(file);
}
