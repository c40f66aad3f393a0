/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes node names, against a parser that reads them from the left. */
#include "fuzz.h"
#include "protocol/node_name.h"

static const char *const mutexes[] = { "lock-", "__lock__", NULL };
static const char *const writers[] = { "__WRIT__", "__lock__", "lock-", NULL };
static const char *const readers[] = { "__READ__", "__rlock__", NULL };
static const char *const latches[] = { "latch-", NULL };
static const char *const leases[] = { "lease-", NULL };
static const char *const none[] = { NULL };

/* The markers that each set must find, spelled out here a second time. */
static const struct {
    const char *const *exclusive;
    const char *const *shared;
    uint32_t markers;
} sets[] = {
    { mutexes, none,
      ZKR__MARKER_BIT(ZKR__CURATOR_LOCK) | ZKR__MARKER_BIT(ZKR__KAZOO_LOCK) },
    { writers, readers,
      ZKR__MARKER_BIT(ZKR__CURATOR_LOCK) | ZKR__MARKER_BIT(ZKR__KAZOO_LOCK) |
          ZKR__MARKER_BIT(ZKR__CURATOR_WRITE) |
          ZKR__MARKER_BIT(ZKR__CURATOR_READ) |
          ZKR__MARKER_BIT(ZKR__KAZOO_READ) },
    { latches, leases,
      ZKR__MARKER_BIT(ZKR__CURATOR_LATCH) |
          ZKR__MARKER_BIT(ZKR__CURATOR_LEASE) },
};

/* "-?[0-9]+" and nothing else, whose magnitude fits. */
static bool is_number(const char *text, int64_t *ret_value)
{
    bool minus = *text == '-';
    uint64_t value = 0;

    if (*(text += minus) == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' ||
            __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value) ||
            value > INT64_MAX)
            return false;
    }
    *ret_value = minus ? -(int64_t)value : (int64_t)value;
    return true;
}

static bool is_marked(const char *name, const char *const *markers,
                      const char **ret_marker, int64_t *ret_seq)
{
    for (; *name != '\0'; name++) {
        for (const char *const *m = markers; *m != NULL; m++) {
            *ret_marker = *m;
            if (strncmp(name, *m, strlen(*m)) == 0 &&
                is_number(name + strlen(*m), ret_seq))
                return true;
        }
    }
    return false;
}

static void check_parse(const char *name, size_t set)
{
    uint32_t markers = sets[set].markers;
    int64_t want_seq = 0;
    int64_t seq = 77;
    const char *want_marker = NULL;
    enum zkr__kind want = ZKR__FOREIGN;

    if (is_marked(name, sets[set].exclusive, &want_marker, &want_seq))
        want = ZKR__EXCLUSIVE;
    else if (is_marked(name, sets[set].shared, &want_marker, &want_seq))
        want = ZKR__SHARED;
    CHECK(zkr__node_name_parse(name, markers, &seq) == want);
    CHECK(seq == (want == ZKR__FOREIGN ? 77 : want_seq));
    const struct zkr__marker_row *marker =
        zkr__node_name_marker(name, markers, &seq);
    CHECK((marker == NULL) == (want == ZKR__FOREIGN));
    CHECK(marker == NULL || strcmp(marker->text, want_marker) == 0);
}

static bool is_ten_digits(const char *text)
{
    return strspn(text, "0123456789") == 10 && text[10] == '\0';
}

/* In hexadecimal, as the recipe in C writes it, or in decimal, as in Java. */
static bool is_session(const char *text, const char *end)
{
    if (end > text && end - text <= 16 &&
        strspn(text, "0123456789abcdef") >= (size_t)(end - text))
        return true;
    text += *text == '-';
    return end > text && end - text <= 19 &&
           strspn(text, "0123456789") >= (size_t)(end - text);
}

static void check_other(const char *name)
{
    const char *number = strrchr(name, '-');
    enum zkr__kind want = ZKR__FOREIGN;
    uint32_t others = ZKR__ALL_MARKERS & ~sets[1].markers & ~sets[2].markers;
    int64_t seq = 0;

    if (strncmp(name, "ex", 2) == 0 && is_ten_digits(name + 2))
        want = ZKR__EXCLUSIVE;
    if (strncmp(name, "sh", 2) == 0 && is_ten_digits(name + 2))
        want = ZKR__SHARED;
    if (name[0] == 'x' && name[1] == '-' && number > name + 1 &&
        is_session(name + 2, number) && is_ten_digits(number + 1))
        want = ZKR__EXCLUSIVE;
    if (strcmp(name, "holder") == 0)
        want = ZKR__EXCLUSIVE;
    CHECK(zkr__node_name_parse(name, others, &seq) == want);
    const struct zkr__marker_row *marker =
        zkr__node_name_marker(name, others, &seq);
    CHECK((marker == NULL) == (want == ZKR__FOREIGN));
    if (marker == NULL)
        return;
    CHECK(strncmp(name, marker->text, strlen(marker->text)) == 0);
    CHECK(seq == (name[0] == 'h' ? 0 : atoll(name + strlen(name) - 10)));
}

/* A name that we ask for, and a server completes, is parsed as what it was. */
static void check_built(struct fuzz_input in)
{
    static const char uuid[] = "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436";
    enum zkr__layout layout =
        fuzz_number(&in, 1) % 2 == 0 ? ZKR__LAYOUT_CURATOR : ZKR__LAYOUT_KAZOO;
    static const enum zkr__marker written[] = { ZKR__CURATOR_WRITE,
                                                ZKR__KAZOO_LOCK,
                                                ZKR__CURATOR_LOCK };
    enum zkr__marker marker = written[fuzz_number(&in, 1) % 3];
    int32_t want = (int32_t)fuzz_number(&in, 4);
    char name[ZKR__NAME_MAX];
    int64_t seq = 0;

    zkr__node_name_build(name, layout, uuid, marker);
    size_t len = strlen(name);
    CHECK(zkr__node_name_tag_len(layout) ==
          len - strlen(zkr__markers[marker].text));
    CHECK(len + ZKR__SEQ_DIGITS < sizeof(name));
    (void)snprintf(name + len, sizeof(name) - len, "%010d", want);
    CHECK(zkr__node_name_parse(name, sets[1].markers, &seq) == ZKR__EXCLUSIVE);
    CHECK(seq == want);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *name = fuzz_text(data, size);
    size_t len = strlen(name);
    bool numbered = len >= 10 && is_ten_digits(name + len - 10) &&
                    (len == 10 || name[len - 11] < '0' || name[len - 11] > '9');

    check_parse(name, 0);
    check_parse(name, 1);
    check_parse(name, 2);
    check_other(name);
    CHECK(zkr__node_name_is_numbered(name) == numbered);
    check_built((struct fuzz_input){ data, size });
    free(name);
    return 0;
}
