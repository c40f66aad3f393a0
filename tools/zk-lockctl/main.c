/* SPDX-License-Identifier: Apache-2.0 */
/* zk-lockctl: inspect and operate ZooKeeper locks. This file finds the verb. */
#include "common/lockctl.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "text/envelope.h"
#include "verbs/verbs.h"

/* The verb that was named, or NULL; the exit code. */
static int run(struct lockctl *ctl, int argc, char **argv,
               const struct verb **ret_verb)
{
    /* Options that every verb has may also stand before it. */
    int code = lockctl_parse(ctl, verbs_find("help"), &argc, &argv, NULL);

    if (code != 0)
        return code;
    if (argc == 0)
        return lockctl_fail(EX_USAGE, "no verb; see zk-lockctl help");
    *ret_verb = verbs_find(argv[0]);
    if (*ret_verb == NULL)
        return verbs_fail(argv[0]);
    return lockctl_run(ctl, *ret_verb, argc, argv);
}

/* A user who asked for JSON gets JSON in any case: an answer, or the reason why
 * there is none. */
static void tell_failure(const struct lockctl *ctl, const struct verb *verb,
                         int code)
{
    const struct failure *failure = lockctl_failure();

    if (code != 0 && code == failure->exit_code && code != EX_IOERR &&
        (verb == NULL || !verb->lends_stdout) && output_is_json(ctl))
        output_failure(ctl, code, failure->cause, failure->message);
}

int main(int argc, char **argv)
{
    struct lockctl ctl = { .timeout_ms = 5000, .connect_once = true };
    const struct verb *verb = NULL;

    (void)setlocale(LC_CTYPE, "");
    escape_keep_utf8(strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
    int code = run(&ctl, argc, argv, &verb);
    tell_failure(&ctl, verb, code);
    lockctl_disconnect(&ctl);
    contexts_done(&ctl.contexts);
    free(ctl.paths);
    if (fflush(stdout) != 0 || ferror(stdout))
        return lockctl_fail(EX_IOERR, "cannot write the output");
    return code;
}
