/* SPDX-License-Identifier: Apache-2.0 */
/* The owner of a node: the record that we write into our nodes, and what the
 * data of any node says of its owner. */
#include "protocol/owner.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <zkrecipes/error.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/path.h"
#include "base/thread.h"

#define LIBRARY "zkrecipes"

bool zkr__owner_is_session(int64_t owner)
{
    /* containers and nodes with a time to live have marks for owners */
    return owner != 0 && owner != INT64_MIN &&
           ((uint64_t)owner >> 56 & 0xff) != 0xff;
}

static bool has_reason(const char *data, size_t size)
{
    size_t len = strlen(ZKR__REVOKE_BECAUSE);

    return size > len && memcmp(data, ZKR__REVOKE_BECAUSE, len) == 0;
}

bool zkr__owner_is_asked(const char *data, size_t size)
{
    size_t len = strlen(ZKR__REVOKE_MESSAGE);

    return has_reason(data, size) ||
           (size == len && memcmp(data, ZKR__REVOKE_MESSAGE, len) == 0);
}

/* --- to write --- */

/* Returns when this process started, in nanoseconds since boot, or 0 when
 * unknown. */
static int64_t started_after_boot(void)
{
    char line[1024];
    const char *p = NULL;
    unsigned long long ticks = 0;
    FILE *f = fopen("/proc/self/stat", "re");

    if (f == NULL)
        return 0;
    if (fgets(line, sizeof(line), f) != NULL)
        p = strrchr(line, ')'); /* the name in parentheses may hold anything */
    (void)fclose(f);
    for (int field = 2; p != NULL && field < 22; field++)
        p = strchr(p + 1, ' ');
    if (p == NULL || sscanf(p, " %llu", &ticks) != 1)
        return 0;
    return (int64_t)ticks * (1000 * ZKR__MS / sysconf(_SC_CLK_TCK));
}

static int64_t read_clock(clockid_t clock)
{
    struct timespec ts = { 0 };

    (void)clock_gettime(clock, &ts);
    return (int64_t)ts.tv_sec * 1000 * ZKR__MS + ts.tv_nsec;
}

void zkr__owner_start(char text[ZKR__START_MAX])
{
    int64_t booted = read_clock(CLOCK_REALTIME) - read_clock(CLOCK_BOOTTIME);
    time_t start = (time_t)((booted + started_after_boot() + 500 * ZKR__MS) /
                            (1000 * ZKR__MS));
    struct tm tm;

    text[0] = '\0';
    if (gmtime_r(&start, &tm) != NULL)
        (void)strftime(text, ZKR__START_MAX, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* Names from the system may be any bytes; those that are not text become
 * "?". */
static void make_text(char *text)
{
    if (text[0] == '\0' || zkr__text_fault(text) != NULL)
        (void)strcpy(text, "?");
}

static json_t *record(const struct zkr__owner *owner)
{
    char host[HOST_NAME_MAX + 1] = "";
    char thread[sizeof(owner->thread->name)] = "";
    char program[64] = "";
    char within[32];

    (void)gethostname(host, sizeof(host) - 1);
    make_text(host);
    if (owner->thread != NULL)
        (void)strcpy(thread, owner->thread->name);
    make_text(thread);
    (void)snprintf(program, sizeof(program), "%s",
                   program_invocation_short_name);
    make_text(program);
    (void)snprintf(within, sizeof(within), "0x%llx",
                   (unsigned long long)owner->within);
    return json_pack(
        "{ss si ss* so* ss ss ss* so* ss ss* ss*}", "host", host, "pid",
        (int)getpid(), "thread", owner->thread != NULL ? thread : NULL, "tid",
        owner->thread != NULL ? json_integer(owner->thread->tid) : NULL,
        "start", owner->start, "program", program, "label", owner->label,
        "limit", owner->limit != 0 ? json_integer(owner->limit) : NULL,
        "library", LIBRARY " " ZKR_VERSION_STRING, "claim", owner->claim,
        "within", owner->within != 0 ? within : NULL);
}

int zkr__owner_write(const struct zkr__owner *owner,
                     char data[ZKR__OWNER_MAX + 1], size_t *ret_len)
{
    /* The members that are dropped first when every name is full of escapes. */
    static const char *const spare[] = { "program", "thread", "host" };
    json_t *json = record(owner);
    size_t len = 0;

    if (json != NULL)
        len = json_dumpb(json, data, ZKR__OWNER_MAX, JSON_COMPACT);
    for (size_t i = 0; i < 3 && len > ZKR__OWNER_MAX; i++) {
        (void)json_object_del(json, spare[i]);
        len = json_dumpb(json, data, ZKR__OWNER_MAX, JSON_COMPACT);
    }
    json_decref(json);
    if (len == 0 || len > ZKR__OWNER_MAX)
        return ZKR_ENOMEM;
    data[len] = '\0';
    *ret_len = len;
    return ZKR_OK;
}

/* --- to read --- */

/* jansson takes no NUL inside of strings, so strlen is the length. */
static void take_text(const json_t *record, const char *key, char *text,
                      size_t size)
{
    const char *value = json_string_value(json_object_get(record, key));

    (void)snprintf(text, size, "%s", value == NULL ? "" : value);
}

static int64_t take_number(const json_t *record, const char *key)
{
    return json_integer_value(json_object_get(record, key));
}

/* The session is text, because JavaScript knows 53 bits only. 0: none, or not a
 * session. */
static int64_t take_session(const json_t *record, const char *key)
{
    const char *value = json_string_value(json_object_get(record, key));

    if (value == NULL || strncmp(value, "0x", 2) != 0)
        return 0;
    size_t digits = strspn(value + 2, "0123456789abcdef");
    return digits > 0 && digits <= 16 && value[2 + digits] == '\0'
               ? (int64_t)strtoull(value, NULL, 16)
               : 0;
}

static bool is_ours(const json_t *record)
{
    const char *library = json_string_value(json_object_get(record, "library"));

    return library != NULL && strncmp(library, LIBRARY, strlen(LIBRARY)) == 0;
}

static void take_record(struct zkr__known_owner *owner, const json_t *record)
{
    owner->is_record = true;
    owner->is_asked = json_is_true(json_object_get(record, "asked"));
    take_text(record, "host", owner->host, sizeof(owner->host));
    take_text(record, "thread", owner->thread, sizeof(owner->thread));
    take_text(record, "program", owner->program, sizeof(owner->program));
    take_text(record, "label", owner->label, sizeof(owner->label));
    take_text(record, "library", owner->library, sizeof(owner->library));
    take_text(record, "start", owner->start, sizeof(owner->start));
    take_text(record, "reason", owner->reason, sizeof(owner->reason));
    owner->pid = take_number(record, "pid");
    owner->tid = take_number(record, "tid");
    owner->limit = take_number(record, "limit");
    owner->within = take_session(record, "within");
}

void zkr__owner_read(struct zkr__known_owner *owner, const char *data,
                     size_t size)
{
    size_t request = strlen(ZKR__REVOKE_BECAUSE);
    json_t *record = NULL;

    *owner = (struct zkr__known_owner){ .is_asked =
                                            zkr__owner_is_asked(data, size) };
    if (has_reason(data, size))
        (void)snprintf(owner->reason, sizeof(owner->reason), "%.*s",
                       (int)(size - request), data + request);
    if (size > 0 && size <= ZKR__OWNER_READ_MAX && data[0] == '{')
        record = json_loadb(data, size, JSON_REJECT_DUPLICATES, NULL);
    if (record != NULL && is_ours(record))
        take_record(owner, record);
    json_decref(record);
}
