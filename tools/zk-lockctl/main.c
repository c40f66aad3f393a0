/* zk-lockctl: inspect and operate ZooKeeper locks. This file finds the verb. */
#include "lockctl.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

static void say(const char *format, va_list args)
    __attribute__((format(printf, 1, 0)));

static void say(const char *format, va_list args)
{
    char text[4096];
    char plain[4096];

    (void)vsnprintf(text, sizeof(text), format, args);
    (void)fprintf(stderr, "zk-lockctl: %s\n",
                  plain_text(text, plain, sizeof(plain)));
}

int lockctl_fail(int exit_code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
    return exit_code;
}

void lockctl_say(const struct lockctl *ctl, const char *format, ...)
{
    va_list args;

    if (ctl->quiet)
        return;
    va_start(args, format);
    say(format, args);
    va_end(args);
}

static const struct verb *find(const char *name)
{
    for (const struct verb *const *v = lockctl_verbs; *v != NULL; v++) {
        if (strcmp((*v)->name, name) == 0)
            return *v;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct lockctl ctl = { .timeout_ms = 5000 };
    const struct verb *verb;
    int code;

    (void)setlocale(LC_CTYPE, "");
    /* Options that every verb has may also stand before it. */
    if (lockctl_option(&ctl, &verb_help, argc, argv, "+", NULL) != -1)
        return EX_USAGE;
    if (optind >= argc)
        return lockctl_fail(EX_USAGE, "no verb; see zk-lockctl help");
    verb = find(argv[optind]);
    if (verb == NULL)
        return lockctl_fail(EX_USAGE, "unknown verb '%s'; see zk-lockctl help",
                            argv[optind]);
    argc -= optind;
    argv += optind;
    optind = 0; /* for getopt to start anew */
    code = verb->run(&ctl, argc, argv);
    lockctl_disconnect(&ctl);
    if (fflush(stdout) != 0 || ferror(stdout))
        return lockctl_fail(EX_IOERR, "cannot write the output");
    return code;
}
