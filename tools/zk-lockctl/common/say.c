/* SPDX-License-Identifier: Apache-2.0 */
/* Says errors and remarks on stderr, and keeps the last error for the
 * answer. */
#include "common/lockctl.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/plain.h"

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
    char plain[4096];

    (void)fprintf(stderr, "zk-lockctl%s%s: %s\n", speaker == NULL ? "" : " ",
                  speaker == NULL ? "" : speaker,
                  plain_text(text, plain, sizeof(plain)));
}

int lockctl_fail(int exit_code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(failure.message, sizeof(failure.message), format, args);
    va_end(args);
    failure.exit_code = exit_code;
    failure.cause = lockctl_cause;
    lockctl_cause = ZKR_OK;
    say(failure.message);
    return exit_code;
}

void lockctl_say(const struct lockctl *ctl, const char *format, ...)
{
    va_list args;
    char text[4096];

    if (ctl->quiet)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    say(text);
}
