/* zk-lockctl: inspect and operate ZooKeeper locks. This file finds the verb. */
#include "lockctl.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "output.h"
#include "plain.h"

/* clang-format off */
const struct verb *const lockctl_verbs[] = {
    &verb_run,
    &verb_ls,
    &verb_show,
    &verb_check,
    &verb_wait,
    &verb_watch,
    &verb_top,
    &verb_metrics,
    &verb_revoke,
    &verb_break,
    &verb_deadlocks,
    &verb_graph,
    &verb_doctor,
    &verb_completion,
    &verb_help,
    &verb_version,
    NULL,
};
/* clang-format on */

/* The last failure that was said. */
static struct {
    int exit_code;
    int cause; /* of the library, or ZKR_OK */
    char message[4096];
} failure;

static void say(const char *text)
{
    char plain[4096];

    (void)fprintf(stderr, "zk-lockctl: %s\n",
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

static const struct verb *find(const char *name)
{
    for (const struct verb *const *v = lockctl_verbs; *v != NULL; v++) {
        if (strcmp((*v)->name, name) == 0)
            return *v;
    }
    return NULL;
}

/* The verb that was named, or NULL; the exit code. */
static int run(struct lockctl *ctl, int argc, char **argv,
               const struct verb **ret_verb)
{
    /* Options that every verb has may also stand before it. */
    if (lockctl_option(ctl, &verb_help, argc, argv, "+", NULL) != -1)
        return EX_USAGE;
    if (optind >= argc)
        return lockctl_fail(EX_USAGE, "no verb; see zk-lockctl help");
    *ret_verb = find(argv[optind]);
    if (*ret_verb == NULL)
        return lockctl_fail(EX_USAGE, "unknown verb '%s'; see zk-lockctl help",
                            argv[optind]);
    argc -= optind;
    argv += optind;
    optind = 0; /* for getopt to start anew */
    return (*ret_verb)->run(ctl, argc, argv);
}

/* Who asked for JSON has it whichever way it ends: an answer, or why there is
 * none. The stdout of run is that of its command. */
static void tell_failure(const struct lockctl *ctl, const struct verb *verb,
                         int code)
{
    if (code != 0 && code == failure.exit_code && code != EX_IOERR &&
        verb != &verb_run && output_is_json(ctl))
        output_failure(ctl, code, failure.cause, failure.message);
}

int main(int argc, char **argv)
{
    struct lockctl ctl = { .timeout_ms = 5000 };
    const struct verb *verb = NULL;
    int code;

    (void)setlocale(LC_CTYPE, "");
    code = run(&ctl, argc, argv, &verb);
    tell_failure(&ctl, verb, code);
    lockctl_disconnect(&ctl);
    if (fflush(stdout) != 0 || ferror(stdout))
        return lockctl_fail(EX_IOERR, "cannot write the output");
    return code;
}
