/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the escaping of foreign text for terminals, JSON and Prometheus. */
#include "common/escape.h"
#include "safe.h"
#include "text/envelope.h"

static int hex(char c)
{
    CHECK((c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'));
    return c <= '9' ? c - '0' : c - 'A' + 10;
}

/* Nothing is lost: the escaping can be undone. */
static void check_undone(const char *out, const uint8_t *data, size_t size)
{
    size_t i = 0;

    for (; *out != '\0'; i++) {
        int byte = (unsigned char)*out++;

        if (byte == '\\' && *out == 'x') {
            byte = hex(out[1]) << 4 | hex(out[2]);
            out += 3;
        } else if (byte == '\\') {
            CHECK(*out++ == '\\');
        }
        CHECK(i < size && byte == data[i]);
    }
    CHECK(i == size);
}

static void check_cut(const char *bytes, size_t size, const char *whole,
                      size_t room)
{
    char *out = malloc(room);

    CHECK(out != NULL);
    size_t len = escape_text(bytes, size, out, room);
    CHECK(len < room && out[len] == '\0' && is_safe(out));
    if (strlen(whole) < room) {
        CHECK(strcmp(out, whole) == 0);
    } else {
        CHECK(len >= (room - 1 < 3 ? room - 1 : 3));
        size_t kept = len < 3 ? 0 : len - 3;
        CHECK(strncmp(out + kept, "...", len - kept) == 0);
        CHECK(strncmp(out, whole, kept) == 0);
    }
    free(out);
}

/* Dumps it as envelope.c does. */
static void check_json(const char *bytes, size_t size)
{
    const size_t flags = JSON_ENSURE_ASCII | JSON_ENCODE_ANY | JSON_COMPACT;
    json_t *value = json_text(bytes, size);
    char *dump = value == NULL ? NULL : json_dumps(value, flags);

    CHECK(dump != NULL);
    for (const char *p = dump; *p != '\0'; p++)
        CHECK(*p >= 0x20 && *p < 0x7f);
    json_t *back = json_loads(dump, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    CHECK(back != NULL && json_equal(back, value));
    json_decref(back);
    json_decref(value);
    free(dump);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = { data, size };
    size_t room = fuzz_number(&in, 1) + 1;
    char *bytes = fuzz_bytes(in.data, in.size);
    char *whole = malloc(in.size * 4 + 1);

    CHECK(whole != NULL);
    CHECK(escape_text(bytes, in.size, whole, in.size * 4 + 1) == strlen(whole));
    CHECK(is_safe(whole));
    check_undone(whole, in.data, in.size);
    check_cut(bytes, in.size, whole, room);
    check_json(bytes, in.size);
    free(bytes);
    free(whole);
    return 0;
}
