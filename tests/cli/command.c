/* SPDX-License-Identifier: Apache-2.0 */
/* A command for zk-lockctl to run: it does what its first argument says. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static const struct {
    int sig;
    const char *name;
} signals[] = {
    { SIGINT, "INT\n" },     { SIGTERM, "TERM\n" }, { SIGHUP, "HUP\n" },
    { SIGQUIT, "QUIT\n" },   { SIGUSR1, "USR1\n" }, { SIGUSR2, "USR2\n" },
    { SIGWINCH, "WINCH\n" }, { SIGCONT, "CONT\n" },
};

enum { SIGNALS = sizeof(signals) / sizeof(signals[0]) };

static void say_name(int sig)
{
    int saved = errno;

    for (size_t i = 0; i < SIGNALS; i++) {
        if (signals[i].sig == sig)
            (void)!write(STDOUT_FILENO, signals[i].name,
                         strlen(signals[i].name));
    }
    errno = saved;
}

/* Say which signals come, until end of file; other signals have their default
 * effect. The leak check of a sanitizer, at exit(), stops its process by a
 * SIGSTOP; a CONT that comes then takes that away, and the check never ends. */
static _Noreturn void say_signals(void)
{
    struct sigaction action = { .sa_handler = say_name };
    char byte;
    ssize_t n;

    for (size_t i = 0; i < SIGNALS; i++)
        (void)sigaction(signals[i].sig, &action, NULL);
    (void)!write(STDOUT_FILENO, "ready\n", 6);
    do
        n = read(STDIN_FILENO, &byte, 1);
    while (n > 0 || (n < 0 && errno == EINTR));
    _exit(0);
}

/* Append CLOCK_BOOTTIME, again and again, to a file. */
static int stamp(const char *file, long count)
{
    int fd = open(file, O_WRONLY | O_APPEND | O_CREAT, 0600);
    struct timespec pause = { .tv_nsec = 500000 };

    (void)signal(SIGTERM, SIG_IGN); /* the worst case */
    for (long i = 0; count == 0 || i < count; i++) {
        struct timespec ts;
        char line[64];
        int n;

        (void)clock_gettime(CLOCK_BOOTTIME, &ts);
        n = snprintf(line, sizeof(line), "%lld%09ld\n", (long long)ts.tv_sec,
                     ts.tv_nsec);
        if (write(fd, line, (size_t)n) != n)
            return 1;
        (void)nanosleep(&pause, NULL);
    }
    return 0;
}

/* Say which descriptors are open, but the first three. */
static int say_descriptors(void)
{
    for (int fd = 3; fd < 1024; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            (void)printf("fd %d\n", fd);
    }
    return 0;
}

/* Say so, and do not heed TERM. */
static _Noreturn void be_deaf(void)
{
    (void)signal(SIGTERM, SIG_IGN);
    (void)!write(STDOUT_FILENO, "deaf\n", 5);
    for (;;)
        (void)pause();
}

/* Leave a process behind that is in a session of its own and deaf to TERM. In
 * /proc/PID/stat its name may look like what comes after a name. */
static int leave_behind(const char *name)
{
    (void)signal(SIGTERM, SIG_IGN);
    pid_t pid = fork();
    if (pid == 0) {
        (void)setsid();
        (void)prctl(PR_SET_NAME, name);
        for (;;)
            (void)pause();
    }
    (void)printf("%d\n", (int)pid);
    return 0;
}

/* Reads the answer of a person at the terminal. */
static int ask(void)
{
    char line[64];
    int fd = open("/dev/tty", O_RDWR);
    ssize_t n;

    (void)!write(fd, "who? ", 5);
    do
        n = read(fd, line, sizeof(line) - 1);
    while (n < 0 && errno == EINTR);
    line[n > 0 ? n : 0] = '\0';
    (void)dprintf(fd, "hello %s", line);
    return n > 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "signals") == 0)
        say_signals();
    if (strcmp(what, "stamp") == 0 && argc == 4)
        return stamp(argv[2], atol(argv[3]));
    if (strcmp(what, "descriptors") == 0)
        return say_descriptors();
    if (strcmp(what, "leave") == 0)
        return leave_behind(argc > 2 ? argv[2] : "x) S 1");
    if (strcmp(what, "deaf") == 0)
        be_deaf();
    if (strcmp(what, "stop") == 0)
        return raise(SIGSTOP);
    if (strcmp(what, "ask") == 0)
        return ask();
    return 64;
}
