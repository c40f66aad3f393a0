/* SPDX-License-Identifier: Apache-2.0 */
/* Runs top on a screen: handles looks, keys and signals as they come. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/escape.h"
#include "common/now.h"
#include "common/stop.h"
#include "common/words.h"
#include "model/mirror.h"
#include "top/top.h"

enum {
    LOOK_MS = 200,  /* between two looks at the mirror, and at the session */
    RETRY_MS = 20,  /* to see whether all locks are known */
    PAUSE_MS = 100, /* between two lists of a lock */
    READ_MAX = 1000 /* of the nodes of a lock; the others are counted */
};

struct live {
    struct top *top;
    struct mirror *mirror; /* NULL: the session was not connected yet */
    int64_t due_ms;        /* of the next look, by clock_now_ms() */
    int signals;           /* a descriptor */
    sigset_t before;
    bool quit;
};

/* --- looks: nobody waits for the servers --- */

static int start_mirror(struct live *l)
{
    const struct mirror_opts opts = { .ctl = l->top->ctl,
                                      .paths = &l->top->root,
                                      .path_count = 1,
                                      .below = true,
                                      .look.barriers = true,
                                      .look.reads = READ_MAX,
                                      .pause_ms = PAUSE_MS };

    return mirror_start(&opts, &l->mirror);
}

/* If it is time, and all locks are known. */
static void on_look(struct live *l)
{
    struct top *t = l->top;
    char detail[SCAN_DETAIL_MAX] = "";
    struct scan scan;
    int rc = ZKR_OK;

    if (clock_now_ms() < l->due_ms || !lockctl_is_connected(t->ctl))
        return;
    if (l->mirror == NULL)
        rc = start_mirror(l);
    if (rc == ZKR_OK &&
        !mirror_is_ready(l->mirror, t->ctl->timeout_ms, &rc, detail))
        return;
    if (l->mirror != NULL)
        (void)mirror_tick(l->mirror);
    t->error[0] = '\0';
    if (rc == ZKR_OK) {
        scan = mirror_scan(l->mirror);
        if (scan.missing) /* directories of locks come and go with them */
            notes_add(&scan.notes, "%s does not exist", t->root);
        top_take(t, &scan);
    }
    l->due_ms = clock_now_ms() + LOOK_MS;
    if (rc != ZKR_OK)
        (void)escape_string(detail[0] == '\0' ? zkr_strerror(rc) : detail,
                            t->error, sizeof(t->error));
}

/* A look that has failed meanwhile is no reason to wait with the next. */
static void on_connection(struct live *l)
{
    struct top *t = l->top;
    bool was_connected = t->is_connected;

    t->is_connected = lockctl_is_connected(t->ctl);
    if (t->is_connected && !was_connected)
        l->due_ms = clock_now_ms();
    l->quit = l->quit || lockctl_is_over(t->ctl);
}

/* --- what the user wants done: another verb has the terminal meanwhile --- */

enum { ARGS_MAX = SETTING_COUNT + 8, OPTION_ROOM = 4096 };

/* The command line of a verb; the ensemble is that of top, whichever way it was
 * named. In static memory, as there is one at a time. */
static char **arguments(const struct top *t)
{
    static char settings[SETTING_COUNT][OPTION_ROOM];
    static char token[WORD_MAX];
    static const char *args[ARGS_MAX];
    size_t n = 0;

    args[n++] = "zk-lockctl";
    args[n++] = t->verb;
    for (enum setting i = 0; i < SETTING_COUNT; i++) {
        if (t->ctl->settings[i] == NULL)
            continue;
        (void)snprintf(settings[i], OPTION_ROOM, "--%s=%s",
                       setting_options[i].name, t->ctl->settings[i]);
        args[n++] = settings[i];
    }
    if (t->token != 0) {
        args[n++] = "--token";
        args[n++] = word_token(t->token, token);
    }
    args[n++] = "--";
    args[n++] = t->lock->path;
    args[n] = NULL;
    return (char **)(uintptr_t)args;
}

/* As the user would type it; the path was chosen by others. */
static void show(const struct top *t)
{
    char *word = shell_path(t->lock->path);
    char token[WORD_MAX];

    (void)printf("\n$ zk-lockctl %s", t->verb);
    if (t->token != 0)
        (void)printf(" --token %s", word_token(t->token, token));
    (void)printf(" %s\n", word);
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

static void run_verb(char **args, const sigset_t *mask)
{
    posix_spawnattr_t attr;
    pid_t pid;

    (void)posix_spawnattr_init(&attr);
    (void)posix_spawnattr_setsigmask(&attr, mask);
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    int error = posix_spawn(&pid, "/proc/self/exe", NULL, &attr, args, environ);
    (void)posix_spawnattr_destroy(&attr);
    if (error == 0)
        wait_for_end(pid);
    else
        (void)printf("it cannot be started: %s\n", strerror(error));
}

/* Leaves the screen, shows the command, and runs it when the user presses
 * Enter. */
static void hand_over(struct live *l)
{
    char **args = arguments(l->top);

    top_screen_end();
    show(l->top);
    if (wait_for_enter("Enter runs it, anything else does not: ", l->signals)) {
        run_verb(args, &l->before);
        l->quit = is_told_to_end(l->signals);
        if (!l->quit)
            (void)wait_for_enter("Enter goes back to top: ", l->signals);
    }
    top_screen_restore();
    l->quit = is_told_to_end(l->signals) || l->quit;
    /* the mirror lists what has changed a moment after it has */
    l->due_ms = clock_now_ms() + 2 * PAUSE_MS;
}

static void on_keys(struct live *l)
{
    uint32_t key;

    while (!l->quit && top_screen_key(&key)) {
        enum top_action action = top_press(l->top, key);

        l->quit = action == TOP_QUIT;
        if (action == TOP_ACT)
            hand_over(l);
    }
}

static void on_signals(struct live *l)
{
    struct signalfd_siginfo info;

    while (read(l->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGWINCH)
            top_screen_resize();
        else if (info.ssi_signo == SIGTSTP)
            top_screen_stop();
        else if (info.ssi_signo == SIGCONT)
            top_screen_restore();
        else
            l->quit = true;
    }
}

/* Returns false when the terminal has gone. */
static bool await(const struct live *l)
{
    struct pollfd fds[] = {
        { .fd = STDIN_FILENO, .events = POLLIN },
        { .fd = l->signals, .events = POLLIN },
    };
    int64_t look_ms = l->due_ms - clock_now_ms();
    int n = poll(fds, sizeof(fds) / sizeof(fds[0]),
                 look_ms < RETRY_MS ? RETRY_MS : (int)look_ms);

    if (n < 0)
        return errno == EINTR;
    return (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) == 0;
}

static void go_on(struct live *l)
{
    struct top *t = l->top;

    do {
        on_signals(l);
        on_look(l);
        on_connection(l);
        on_keys(l);
        if (l->quit)
            return;
        t->state = lockctl_connection(t->ctl);
        t->now_ms = clock_wall_ms();
        top_screen_draw(t);
    } while (await(l));
}

/* --- beginning and end --- */

static bool take_signals(struct live *l)
{
    static const int taken[] = { SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGTSTP };
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        signal_add(&set, taken[i]);
    (void)sigaddset(&set, SIGCONT);
    (void)sigaddset(&set, SIGWINCH);
    (void)pthread_sigmask(SIG_BLOCK, &set, &l->before);
    l->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return l->signals >= 0;
}

static void give_signals_back(struct live *l)
{
    if (l->signals >= 0)
        (void)close(l->signals);
    (void)pthread_sigmask(SIG_SETMASK, &l->before, NULL);
}

/* Closing the session waits for its server, and the user does not. */
static void done(struct live *l)
{
    stop_soon();
    mirror_close(l->top->ctl, l->mirror);
    stop_end();
    top_done(l->top);
    give_signals_back(l);
}

int top_has_no_screen(void)
{
    return lockctl_fail(EX_USAGE,
                        "it needs a terminal that can show a screen; "
                        "ls prints the locks, and watch what changes");
}

int top_live(struct top *top)
{
    struct live l = { .top = top, .signals = -1 };

    if (!take_signals(&l) ||
        !top_screen_start(lockctl_env("NO_COLOR") == NULL)) {
        give_signals_back(&l);
        return top_has_no_screen();
    }
    (void)lockctl_ensemble(top->ctl, top->ensemble);
    go_on(&l);
    top_screen_end();
    int code = lockctl_is_over(top->ctl) ? lockctl_fail_over(top->ctl) : 0;
    done(&l);
    return code;
}
