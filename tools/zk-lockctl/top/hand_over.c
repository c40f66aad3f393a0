/* SPDX-License-Identifier: Apache-2.0 */
/* Hands the terminal of top to another verb, such as break, and takes it back
 * when that has ended. */
#include "top/top.h"

#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/shell.h"
#include "common/words.h"
#include "top/screen.h"

enum { ARGS_MAX = SETTING_COUNT + 8, OPTION_ROOM = 4096 };

/* The command line of a verb; the ensemble is that of top, whichever way it was
 * named. In static memory, as there is one at a time. */
static char **arguments(const struct lockctl *ctl, const struct top_act *act)
{
    static char settings[SETTING_COUNT][OPTION_ROOM];
    static char token[WORD_MAX];
    static const char *args[ARGS_MAX];
    size_t n = 0;

    args[n++] = "zk-lockctl";
    args[n++] = act->verb;
    for (enum setting i = 0; i < SETTING_COUNT; i++) {
        if (ctl->settings[i] == NULL)
            continue;
        (void)snprintf(settings[i], OPTION_ROOM, "--%s=%s",
                       setting_options[i].name, ctl->settings[i]);
        args[n++] = settings[i];
    }
    if (act->token != 0) {
        args[n++] = "--token";
        args[n++] = word_token(act->token, token);
    }
    args[n++] = "--";
    args[n++] = act->path;
    args[n] = NULL;
    return (char **)(uintptr_t)args;
}

/* As the user would type it; the path was chosen by others. */
static void show(const struct top_act *act)
{
    char *word = shell_path(act->path);
    char token[WORD_MAX];

    (void)printf("\n$ zk-lockctl %s", act->verb);
    if (act->token != 0)
        (void)printf(" --token %s", word_token(act->token, token));
    (void)printf(" %s\n", word == NULL ? "?" : word);
    free(word);
}

/* True when the user has pressed Enter and nothing else. */
static bool wait_for_enter(const char *question, int signals)
{
    struct pollfd fds[] = {
        { .fd = STDIN_FILENO, .events = POLLIN },
        { .fd = signals, .events = POLLIN },
    };
    char line[256];

    (void)printf("%s", question);
    (void)fflush(stdout);
    while (poll(fds, 2, -1) < 0)
        continue;
    return fds[1].revents == 0 && read(STDIN_FILENO, line, sizeof(line)) == 1 &&
           line[0] == '\n';
}

/* A user who stops the command stops us with it, and continues both. */
static void wait_for_end(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status))
        (void)raise(SIGSTOP);
}

/* Those that came meanwhile were for the command, but for TERM and HUP: true.
 */
static bool is_told_to_end(int signals)
{
    struct signalfd_siginfo info;
    bool told = false;

    while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
        told = told || info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP;
    return told;
}

static void run(char **args, const sigset_t *mask)
{
    posix_spawnattr_t attr;
    pid_t pid;
    int error;

    (void)posix_spawnattr_init(&attr);
    (void)posix_spawnattr_setsigmask(&attr, mask);
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    error = posix_spawn(&pid, "/proc/self/exe", NULL, &attr, args, environ);
    (void)posix_spawnattr_destroy(&attr);
    if (error == 0)
        wait_for_end(pid);
    else
        (void)printf("it cannot be started: %s\n", strerror(error));
}

bool hand_over(const struct lockctl *ctl, const struct top_act *act,
               int signals, const sigset_t *mask)
{
    char **args = arguments(ctl, act);
    bool told = false;

    top_screen_end();
    show(act);
    if (wait_for_enter("Enter runs it, anything else does not: ", signals)) {
        run(args, mask);
        told = is_told_to_end(signals);
        if (!told)
            (void)wait_for_enter("Enter goes back to top: ", signals);
    }
    top_screen_restore();
    return is_told_to_end(signals) || told;
}
