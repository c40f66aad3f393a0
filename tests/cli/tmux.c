/* SPDX-License-Identifier: Apache-2.0 */
/* A terminal for programs to be tested in: tmux, with a server of its own. */
#include "tmux.h"

static struct cli server;
static char socket_name[128];

/* Each terminal is a session: the setup of a test may have failed with one. */
static char session[16];

/* Runs tmux, and returns its output. */
static const char *tmux(const char *word, ...)
{
    const char *argv[24] = { "-u", "-S", socket_name, word };
    size_t n = 4;
    struct cli c;
    va_list args;

    va_start(args, word);
    while (n < 23 && (argv[n] = va_arg(args, const char *)) != NULL)
        n++;
    va_end(args);
    argv[n] = NULL;
    cli_start(&c, "tmux", argv);
    if (cli_end(&c) != 0)
        fail_msg("tmux %s: %s", word, cli_said(&c));
    return cli_said(&c);
}

#define TMUX(...) tmux(__VA_ARGS__, NULL)

__attribute__((constructor)) static void need_tmux(void)
{
    if (system("tmux -V >/dev/null 2>&1") != 0)
        exit(77);
}

void tmux_open(int width, int height)
{
    const char *x = textf("%d", width);
    const char *y = textf("%d", height);
    static int number;

    if (server.pid == 0) { /* it ends with this program */
        (void)setenv("LC_ALL", "C.UTF-8", 1);
        (void)unsetenv("TMUX");
        (void)unsetenv("NO_COLOR");
        PRINT(socket_name, "%s", cli_file("tmux"));
        cli_start(&server, "tmux",
                  (const char *const[]){ "-u", "-S", socket_name, "-D", "-f",
                                         "/dev/null", NULL });
        AWAIT(access(socket_name, F_OK) == 0);
    }
    PRINT(session, "test-%d", ++number);
    (void)TMUX("new-session", "-d", "-s", session, "-x", x, "-y", y, "bash",
               "--norc", "--noprofile", "--noediting", "-i");
    /* In two parts, because the terminal shows the typed line, too. */
    tmux_line("PS1='rea''dy> '");
    tmux_wait(TMUX_PROMPT);
}

int tmux_close(void)
{
    (void)TMUX("kill-session", "-t", session);
    return 0;
}

void tmux_type(const char *text)
{
    (void)TMUX("send-keys", "-t", session, "-l", text);
}

void tmux_key(const char *name)
{
    (void)TMUX("send-keys", "-t", session, name);
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
    (void)TMUX("resize-window", "-t", session, "-x", textf("%d", width), "-y",
               textf("%d", height));
}

const char *tmux_screen(void)
{
    return TMUX("capture-pane", "-t", session, "-p");
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
                   TMUX("display-message", "-t", session, "-p", format));
    text[strcspn(text, "\n")] = '\0';
    return text;
}

pid_t tmux_shell(void)
{
    return (pid_t)atoi(tmux_say("#{pane_pid}"));
}

void tmux_record(const char *file)
{
    (void)TMUX("pipe-pane", "-t", session, textf("cat > %s", file));
}
