/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the record that we write into our nodes, and reads it back. */
#include <errno.h>
#include <pthread.h>

#include <zkrecipes/session.h>

#include "base/path.h"
#include "base/thread.h"
#include "protocol/owner.h"
#include "safe.h"

static const char *host;

int __wrap_gethostname(char *name, size_t len);

int __wrap_gethostname(char *name, size_t len)
{
    (void)strncpy(name, host, len); /* without a NUL, if it is so long */
    return strlen(host) < len ? 0 : -1;
}

/* Escapes in every name may leave no room for a name. */
static void check_name(const char *name, const char *read, size_t max)
{
    size_t len = strnlen(name, max);

    if (read[0] == '\0' || strcmp(read, "?") == 0)
        return;
    CHECK(strlen(read) == len && strncmp(read, name, len) == 0);
    CHECK(zkr__text_fault(read) == NULL);
}

static void check_read(const char *data, size_t len, const char *label)
{
    const char *name = zkr__text_fault(host) == NULL && host[0] ? host : "?";
    struct zkr__known_owner owner;

    zkr__owner_read(&owner, data, len);
    CHECK(owner.is_record && !owner.is_asked);
    CHECK(owner.host[0] != '\0' || len > ZKR__OWNER_MAX / 2);
    if (strlen(host) <= 63 && owner.host[0] != '\0')
        CHECK(strcmp(owner.host, name) == 0);
    CHECK(strcmp(owner.label, label) == 0);
    CHECK(owner.pid > 0 && owner.tid > 0);
    CHECK(strlen(owner.start) == strlen("2026-11-21T03:55:47Z"));
    check_name(program_invocation_short_name, owner.program, 63);
    CHECK(strlen(owner.thread) < 16);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    char *text = fuzz_text(input, size);
    char nothing[] = "";
    /* host, program, thread, label */
    char *parts[4] = { nothing, nothing, nothing, nothing };
    char *rest = text;
    char start[ZKR__START_MAX];
    struct zkr__owner owner = {
        .start = start,
        .claim = size % 2 == 0 ? NULL : "5a5bbc38-73ea-4b5a-9f73-96e8c4c6a436",
        .within = size % 3 == 0 ? 0 : INT64_MIN,
        .thread = zkr__thread_me(),
    };
    char *program = program_invocation_short_name;
    char data[ZKR__OWNER_MAX + 1];
    size_t len = 0;

    for (int i = 0; i < 4 && rest != NULL; i++)
        parts[i] = strsep(&rest, "\n");
    if (strlen(parts[2]) > 15)
        parts[2][15] = '\0';
    if (strlen(parts[3]) > ZKR_LABEL_MAX || zkr__text_fault(parts[3]) != NULL)
        parts[3] = nothing; /* the library takes no such label: see lock.c */
    host = parts[0];
    program_invocation_short_name = parts[1];
    (void)pthread_setname_np(pthread_self(), parts[2]);

    owner.label = parts[3];
    zkr__owner_start(start);
    CHECK(zkr__owner_write(&owner, data, &len) == 0);
    CHECK(len <= ZKR__OWNER_MAX && strlen(data) == len && is_utf8(data));
    CHECK(zkr__text_fault(data) == NULL); /* one line */
    check_read(data, len, parts[3]);
    program_invocation_short_name = program;
    free(text);
    return 0;
}
