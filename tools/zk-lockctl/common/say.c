/* SPDX-License-Identifier: Apache-2.0 */
/* Says errors and remarks on stderr, and keeps the last error and the notes for
 * the answer; an error of the library is a sentence and an exit code. */
#include "common/lockctl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/grow.h"

enum { SENTENCE_MAX = 4096, NOTE_MAX = 2048 };

static struct failure failure;

const struct failure *lockctl_failure(void)
{
    return &failure;
}

static const char *speaker;

void lockctl_speak_for(const char *verb)
{
    speaker = verb;
}

static void say(const char *text)
{
    (void)fprintf(stderr, "zk-lockctl%s%s: %s\n", speaker == NULL ? "" : " ",
                  speaker == NULL ? "" : speaker, text);
}

/* A sentence may have names that others chose. */
__attribute__((format(printf, 3, 0))) static void
compose(char *text, size_t size, const char *format, va_list args)
{
    char raw[SENTENCE_MAX];

    (void)vsnprintf(raw, size < sizeof(raw) ? size : sizeof(raw), format, args);
    escape_sentence(raw, text, size);
}

int lockctl_fail(int exit_code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    compose(failure.message, sizeof(failure.message), format, args);
    va_end(args);
    failure.exit_code = exit_code;
    failure.cause = ZKR_OK;
    say(failure.message);
    return exit_code;
}

/* The codes of ZooKeeper that mean something to a user of the tool. */
static int exit_code_of(int rc)
{
    switch (rc) {
    case ZKR_EINVAL:
    case ZKR_EPATH:
    case ZKR_ETOOLONG:
        return EX_USAGE;
    case ZKR_EHOSTS:
    case ZKR_EREFUSED:
    case ZKR_ENOTZK:
    case ZKR_EUNREACHABLE:
    case ZKR_ZSSLCONNECTIONERROR:
        return EX_UNAVAILABLE;
    case ZKR_ENOCHROOT:
    case ZKR_ENOTSUP:
        return EX_CONFIG;
    case ZKR_ETIMEDOUT:
    case ZKR_EBUSY:
        return EX_TEMPFAIL;
    case ZKR_ELOST:
        return EX_LOST;
    case ZKR_EEXHAUSTED:
    case ZKR_ZNOCHILDRENFOREPHEMERALS:
        return EX_CANTCREAT;
    case ZKR_ZNOAUTH:
    case ZKR_ZAUTHFAILED:
    case ZKR_ZSESSIONCLOSEDREQUIRESASLAUTH:
        return EX_NOPERM;
    default:
        return zkr_error_is_transient(rc) || zkr_error_is_session_over(rc)
                   ? EX_UNAVAILABLE
                   : EX_SOFTWARE;
    }
}

const char *lockctl_advice(int rc)
{
    return rc == ZKR_ZNOAUTH ? "; see --auth-file" : "";
}

int lockctl_fail_error(int rc, const char *detail)
{
    int code = exit_code_of(rc);

    if (detail[0] == '\0')
        detail = zkr_strerror(rc);
    (void)lockctl_fail(code, "%s%s", detail, lockctl_advice(rc));
    failure.cause = rc;
    return code;
}

int lockctl_fail_zkr(int rc)
{
    return lockctl_fail_error(rc, zkr_error_detail());
}

void *enough(void *block)
{
    if (block == NULL)
        exit(lockctl_fail_error(ZKR_ENOMEM, ""));
    return block;
}

void lockctl_say(const struct lockctl *ctl, const char *format, ...)
{
    char text[SENTENCE_MAX];
    va_list args;

    if (ctl->quiet)
        return;
    va_start(args, format);
    compose(text, sizeof(text), format, args);
    va_end(args);
    say(text);
}

/* --- notes --- */

static bool has(const struct notes *notes, const char *text)
{
    for (size_t i = 0; i < notes->count; i++) {
        if (strcmp(notes->texts[i], text) == 0)
            return true;
    }
    return false;
}

void notes_add(struct notes *notes, const char *format, ...)
{
    char text[NOTE_MAX];
    va_list args;

    va_start(args, format);
    compose(text, sizeof(text), format, args);
    va_end(args);
    if (!has(notes, text))
        *(char **)grow_array(&notes->texts, &notes->count, sizeof(char *)) =
            enough(strdup(text));
}

void notes_say(const struct notes *notes, const struct lockctl *ctl)
{
    for (size_t i = 0; notes != NULL && i < notes->count; i++)
        lockctl_say(ctl, "note: %s", notes->texts[i]);
}

void notes_done(struct notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        free(notes->texts[i]);
    free(notes->texts);
    *notes = (struct notes){ NULL, 0 };
}
