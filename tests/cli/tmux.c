/* SPDX-License-Identifier: Apache-2.0 */
/* A terminal for programs to be tested in: tmux, with a server of its own. */
#include "tmux.h"

static struct cli server;
static char socket_name[128];

/* Runs tmux; returns its output, and its exit code. */
static const char *run(int *ret_code, va_list args)
{
    const char *argv[24] = { "-u", "-S", socket_name };
    size_t n = 3;
    struct cli c;

    while (n < 23 && (argv[n] = va_arg(args, const char *)) != NULL)
        n++;
    argv[n] = NULL;
    cli_start(&c, "tmux", argv);
    *ret_code = cli_end(&c);
    return cli_said(&c);
}

static const char *tmux(const char *first, ...)
{
    va_list args;
    int code;

    va_start(args, first);
    const char *said = run(&code, args);
    va_end(args);
    if (code != 0)
        fail_msg("tmux %s: %s", first, said);
    return said;
}

/* The first word is passed a second time, for the message. */
#define TMUX(word, ...) tmux(word, word, __VA_ARGS__, NULL)

static void close_any(const char *first, ...)
{
    va_list args;
    int code;

    va_start(args, first);
    (void)run(&code, args);
    va_end(args);
}

__attribute__((constructor)) static void need_tmux(void)
{
    if (system("tmux -V >/dev/null 2>&1") != 0)
        exit(77);
}

/* It ends with this program. */
static void start_server(void)
{
    const char *argv[] = { "-u", "-S",        socket_name, "-D",
                           "-f", "/dev/null", NULL };

    (void)setenv("LC_ALL", "C.UTF-8", 1);
    (void)unsetenv("TMUX");
    (void)unsetenv("NO_COLOR");
    (void)snprintf(socket_name, sizeof(socket_name), "%s", cli_file("tmux"));
    cli_start(&server, "tmux", argv);
    AWAIT(access(socket_name, F_OK) == 0);
}

void tmux_open(int width, int height)
{
    char x[16], y[16];

    (void)snprintf(x, sizeof(x), "%d", width);
    (void)snprintf(y, sizeof(y), "%d", height);
    if (server.pid == 0)
        start_server();
    /* of a test whose setup has failed */
    close_any("", "kill-session", "-t", "test", NULL);
    (void)TMUX("new-session", "-d", "-s", "test", "-x", x, "-y", y, "bash",
               "--norc", "--noprofile", "--noediting", "-i");
    /* In two parts, because the terminal shows the typed line, too. */
    tmux_line("PS1='rea''dy> '");
    tmux_wait(TMUX_PROMPT);
}

int tmux_close(void)
{
    (void)TMUX("kill-session", "-t", "test");
    return 0;
}

void tmux_type(const char *text)
{
    (void)TMUX("send-keys", "-t", "test", "-l", text);
}

void tmux_key(const char *name)
{
    (void)TMUX("send-keys", "-t", "test", name);
}

void tmux_line(const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    tmux_type(text);
    tmux_key("Enter");
}

/* The terminal shows what is typed, too, and what was asked before; neither
 * must count. */
void tmux_wait_code(int code)
{
    static int number;

    tmux_line("echo the co''de %d is $?.", ++number);
    tmux_wait(textf("the code %d is %d.", number, code));
}

void tmux_resize(int width, int height)
{
    char x[16], y[16];

    (void)snprintf(x, sizeof(x), "%d", width);
    (void)snprintf(y, sizeof(y), "%d", height);
    (void)TMUX("resize-window", "-t", "test", "-x", x, "-y", y);
}

const char *tmux_screen(void)
{
    return TMUX("capture-pane", "-t", "test", "-p");
}

static bool shows(const char *text)
{
    sleep_ms(20); /* each question starts a process */
    return strstr(tmux_screen(), text) != NULL;
}

void tmux_wait(const char *text)
{
    if (!COMES(shows(text), SOON_MS))
        fail_msg("'%s' does not appear:\n%s", text, tmux_screen());
}

void tmux_wait_gone(const char *text)
{
    if (!COMES(!shows(text), SOON_MS))
        fail_msg("'%s' does not go:\n%s", text, tmux_screen());
}

const char *tmux_say(const char *format)
{
    static char text[256];

    (void)snprintf(text, sizeof(text), "%s",
                   TMUX("display-message", "-t", "test", "-p", format));
    text[strcspn(text, "\n")] = '\0';
    return text;
}

pid_t tmux_shell(void)
{
    return (pid_t)atoi(tmux_say("#{pane_pid}"));
}

void tmux_record(const char *file)
{
    (void)TMUX("pipe-pane", "-t", "test", textf("cat > %s", file));
}
