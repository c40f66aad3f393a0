/* SPDX-License-Identifier: Apache-2.0 */
/* Says errors and remarks on stderr, and keeps the last error for the answer;
 * an error of the library is a sentence and an exit code. */
#include "common/lockctl.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/escape.h"

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

int lockctl_fail(int exit_code, const char *format, ...)
{
    char text[sizeof(failure.message)];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    escape_sentence(text, failure.message, sizeof(failure.message));
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

int lockctl_fail_error(int rc, const char *detail)
{
    int code = exit_code_of(rc);

    if (detail[0] == '\0')
        detail = zkr_strerror(rc);
    (void)lockctl_fail(code, "%s%s", detail,
                       rc == ZKR_ZNOAUTH ? "; see --auth-file" : "");
    failure.cause = rc;
    return code;
}

int lockctl_fail_zkr(int rc)
{
    return lockctl_fail_error(rc, zkr_error_detail());
}

void lockctl_say(const struct lockctl *ctl, const char *format, ...)
{
    va_list args;
    char text[4096];
    char escaped[sizeof(text)];

    if (ctl->quiet)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    escape_sentence(text, escaped, sizeof(escaped));
    say(escaped);
}
