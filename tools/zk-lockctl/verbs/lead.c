/* SPDX-License-Identifier: Apache-2.0 */
/* lead: runs a command while this program leads an election. */
#include "verbs/verbs.h"

#include <signal.h>

#include <sys/wait.h>

#include "common/words.h"
#include "run/options.h"

/* Between two starts of a command with --restart. Others may lead meanwhile. */
enum { FIRST_PAUSE_MS = 1000, LONGEST_PAUSE_MS = 60000 };

/* clang-format off */
static const struct opt options[] = {
    { "restart", .type = OPT_ON, .at = RUN_AT(restart),
      .help = "whenever the command has ended, campaign and start it again, until a signal" },
    WAIT_OPTIONS,
    RUN_OPTIONS,
    { .name = NULL },
};
/* clang-format on */

/* A key, or the end of a terminal, is meant for us, too; the command had the
 * terminal. */
static bool ended_by_terminal(const struct child *c)
{
    int sig = WIFSIGNALED(c->status) ? WTERMSIG(c->status) : 0;

    return sig == SIGINT || sig == SIGQUIT || sig == SIGHUP;
}

/* A command that cannot be started at all is not tried again. */
static bool may_start_again(const struct run *run, int code)
{
    if (!run->opts.restart || run->turn.told_to_end)
        return false;
    return run->turn.child.ended ? !ended_by_terminal(&run->turn.child)
                                 : run->turn.granted_ms != 0 && code == EX_RUN;
}

static int lead_again_and_again(struct run *run)
{
    int64_t pause_ms = FIRST_PAUSE_MS;
    char word[WORD_MAX];
    int code;

    while (may_start_again(run, code = run_turn(run))) {
        if (run->turn.held_ms > LONGEST_PAUSE_MS)
            pause_ms = FIRST_PAUSE_MS;
        lockctl_say(run->ctl, "exit status %d; once more in %s", code,
                    word_duration(pause_ms, word));
        code = run_pause(run, pause_ms);
        if (code != 0)
            break;
        pause_ms =
            pause_ms * 2 < LONGEST_PAUSE_MS ? pause_ms * 2 : LONGEST_PAUSE_MS;
        run_begin_again(run);
    }
    return code;
}

static int lead(struct lockctl *ctl, int argc, char **argv)
{
    struct run r = { .ctl = ctl };
    int code =
        run_parse(ctl, verbs_find("lead"), CLAIM_LEADER, argc, argv, &r.opts);

    return code == 0 ? run_all(&r, lead_again_and_again) : code;
}

const struct verb verb_lead = {
    .name = "lead",
    .usage = "[OPTION]... LOCK [--] COMMAND [ARGUMENT]...",
    .summary = "Run a command while this program leads",
    .options = options,
    .takes = TAKES_FIRST,
    .ends_at_argument = true,
    .lends_stdout = true,
    .help =
        "LOCK is the path of an election. The command is dead before anybody "
        "else can\n"
        "lead. See zk-lockctl(1).\n",
    .run = lead,
};
