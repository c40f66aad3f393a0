/* SPDX-License-Identifier: Apache-2.0 */
/* Runs zk-lockctl to its end, and reads its output. */
#include "look.h"

#include <sys/mman.h>

char look_out[1 << 20];
char look_err[1 << 16];
int look_out_fd = -1, look_err_fd = -1;

static const char *servers;

void look_on(const char *hosts)
{
    servers = hosts;
}

static void read_all(int fd, char *text, size_t size)
{
    ssize_t n = pread(fd, text, size - 1, 0);

    assert_true(n >= 0);
    text[n] = '\0';
}

static void renew(int *fd, const char *name)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = memfd_create(name, MFD_CLOEXEC);
    assert_true(*fd >= 0);
}

/* In a session of its own: there is no terminal to ask on. */
static pid_t start(char *const *argv, int out, int err)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    (void)signal(SIGINT, SIG_DFL); /* a shell may have it ignored */
    int in = open("/dev/null", O_RDONLY);
    if (setsid() < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 ||
        dup2(err, 2) < 0 || close_range(3, ~0u, 0) < 0)
        _exit(126);
    (void)execv(argv[0], argv);
    _exit(127);
}

static pid_t start_tool(const char *const *args)
{
    const char *argv[40] = { LOCKCTL };
    size_t n = 1;

    renew(&look_out_fd, "out");
    renew(&look_err_fd, "err");
    if (servers != NULL && servers[0] == '\0')
        (void)unsetenv("ZK_SERVERS");
    else
        (void)setenv("ZK_SERVERS",
                     servers != NULL ? servers : server_hosts(the_server), 1);
    if (getenv("LC_ALL") == NULL)
        (void)setenv("LC_ALL", "C.UTF-8", 1);
    while (*args != NULL && n < 39)
        argv[n++] = *args++;
    return start((char *const *)(uintptr_t)argv, look_out_fd, look_err_fd);
}

static int end_tool(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    read_all(look_out_fd, look_out, sizeof(look_out));
    read_all(look_err_fd, look_err, sizeof(look_err));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int look_at(const char *const *args)
{
    return end_tool(start_tool(args));
}

int look_at_until(const char *const *args, int after_ms)
{
    pid_t pid = start_tool(args);
    struct stat st;
    bool written =
        COMES(fstat(look_out_fd, &st) == 0 && st.st_size > 0, SOON_MS);

    sleep_ms(after_ms);
    (void)kill(pid, SIGINT);
    int status = end_tool(pid);
    if (!written)
        fail_msg("it has written nothing: %s", look_err);
    return status;
}

const char *jq(const char *file, const char *options)
{
    static char text[4096];
    FILE *told = popen(textf("jq -r %s <'%s' 2>&1", options, file), "r");

    assert_non_null(told);
    size_t n = fread(text, 1, sizeof(text) - 1, told);
    text[n > 0 && text[n - 1] == '\n' ? n - 1 : n] = '\0';
    if (pclose(told) != 0)
        fail_msg("jq %s: %s", options, text);
    return text;
}

static const char *out_file(void)
{
    return textf("/proc/%d/fd/%d", (int)getpid(), look_out_fd);
}

void look_assert_schema(const char *definition)
{
    int flags = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL;
    const char *faults = jq(
        out_file(), textf("--slurpfile schema '%s' --arg definition %s -f '%s'",
                          SCHEMA, definition, SCHEMA_CHECK));
    json_t *first = json_loads(look_out, flags | JSON_DISABLE_EOF_CHECK, NULL);

    json_decref(first);
    if (faults[0] != '\0' || first == NULL)
        fail_msg("by the schema: %s\n%.4000s", faults, look_out);
}

const char *look_jq(const char *format, ...)
{
    char text[4096];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    for (char *c = text; (c = strchr(c, '\'')) != NULL;)
        *c = '"';
    const char *end = strchr(look_out, '\n');
    look_assert_schema(end != NULL && end[1] == '\0' ? "line" : "document");
    return textf("%s", jq(out_file(),
                          textf("'def ms: (.[0:19] + \"Z\" | fromdate) * 1000 "
                                "+ (.[20:23] | tonumber); %s'",
                                text)));
}

int look(const char *words)
{
    char copy[2048];
    const char *args[32];
    size_t n = 0;
    char *rest = NULL;

    assert_true(strlen(words) < sizeof(copy));
    (void)strcpy(copy, words);
    for (char *w = strtok_r(copy, " ", &rest); w != NULL && n < 31;
         w = strtok_r(NULL, " ", &rest))
        args[n++] = w;
    args[n] = NULL;
    return look_at(args);
}

void look_for(int code, const char *file, int number, const char *words)
{
    int got = look(words);

    if (got == code)
        return;
    print_error("%s: exit code %d, not %d: %s\n", words, got, code, look_err);
    _fail(file, number);
}

char look_root[64];

int look_make_root(void)
{
    PRINT(look_root, "%s", new_path());
    return admin_create(admin, look_root, NULL);
}

const char *in_root(const char *name)
{
    return textf("%s/%s", look_root, name);
}

int look_remove_root(void)
{
    look_on(NULL);
    return admin_delete_tree(admin, look_root);
}

int64_t look_make(struct admin *by, const char *path, const char *data,
                  int flags)
{
    char full[2048];
    struct Stat stat;

    PRINT(full, "%s", path);
    for (char *p = full + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        (void)admin_create(admin, full, NULL);
        *p = '/';
    }
    ok(admin_create_flags(by, full, data, flags, NULL, 0));
    ok(admin_exists(admin, full, &stat));
    return stat.czxid;
}

struct proxy *new_proxy(void)
{
    struct proxy *proxy;

    assert_int_equal(proxy_start(server_hosts(the_server), &proxy), 0);
    return proxy;
}

/* --- what the tool asks --- */

enum { REMOVE_WATCHES = 18 }; /* proto.h has no name for it */

long quiet_requests(struct proxy *p)
{
    static const int types[] = { ZOO_GETDATA_OP,      ZOO_GETCHILDREN_OP,
                                 ZOO_GETCHILDREN2_OP, ZOO_EXISTS_OP,
                                 ZOO_SYNC_OP,         REMOVE_WATCHES };
    long sum = 0;

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        sum += proxy_requests(p, types[i]);
    return sum;
}

/* For how long there was no request. It has `count` and the time of the last
 * one brought up to date. */
static int64_t quiet_ms(struct proxy *p, long *count, int64_t *since_ms)
{
    long requests = quiet_requests(p);

    if (requests != *count) {
        *count = requests;
        *since_ms = now_ms();
    }
    return now_ms() - *since_ms;
}

void quiet_wait(struct proxy *p, int64_t idle_ms)
{
    int64_t since_ms = now_ms();
    long count = quiet_requests(p);

    AWAIT(quiet_ms(p, &count, &since_ms) >= idle_ms);
}

/* --- nodes --- */

void look_permit(const char *path, int32_t perms)
{
    struct ACL acl = { perms, ZOO_ANYONE_ID_UNSAFE };
    struct ACL_vector acls = { 1, &acl };

    ok(admin_set_acl(admin, path, &acls));
}

/* The output of the last run behind these commands. */
static char *filtered(const char *commands)
{
    static char text[sizeof(look_out)];
    FILE *f = popen(textf("<%s %s", out_file(), commands), "r");

    assert_non_null(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    assert_int_equal(pclose(f), 0);
    return text;
}

char *look_squeezed(void)
{
    return filtered("tr -s ' '");
}

const char *look_golden(void)
{
    static const char edits[] =
        "s/[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}/UUID/g; "
        "s/[0-9a-f]{32}/UUID/g; s/0x[0-9a-f]+/0xN/g; "
        "s/[0-9]+\\.[0-9]s/AGE/g; s/127\\.0\\.0\\.1:[0-9]+/PORT/g; "
        /* the last column of ls */
        "s/- [0-9]+$/- TOKEN/; s/AGE [0-9]+$/AGE TOKEN/";
    const char *root = look_root[0] != '\0' ? look_root : "^ROOT";

    return filtered(
        textf("tr -s ' ' | LC_ALL=C sed -E '%s; s,%s,ROOT,g'", edits, root));
}

/* --- scenes --- */

static void make_nodes(const char *nodes, struct admin *const clients[3])
{
    char copy[1024];
    char *rest = NULL;

    PRINT(copy, "%s", nodes);
    for (char *n = strtok_r(copy, "|", &rest); n != NULL;
         n = strtok_r(NULL, "|", &rest)) {
        char *data = strchr(n + 2, ' ');

        if (data != NULL)
            *data++ = '\0';
        (void)look_make(*n == 'p' ? admin : clients[*n - 'a'],
                        textf("%s/%s", look_root, n + 2), data,
                        *n == 'p' ? 0 : ZOO_EPHEMERAL);
    }
}

static const char *expand(const char *words)
{
    static char text[1024];
    size_t n = 0;

    for (const char *c = words; *c != '\0'; c++) {
        bool is_root =
            *c == 'R' && c > words && c[-1] == ' ' && strchr("/ ", c[1]);

        n += (size_t)snprintf(text + n, sizeof(text) - n, "%.*s",
                              is_root ? (int)strlen(look_root) : 1,
                              is_root ? look_root : c);
    }
    return text;
}

static void play(const struct scene *s)
{
    LOOK(s->code, "%s", expand(s->words));
    if (strstr(s->words, "-o json ") != NULL)
        look_assert_schema("document");
    const char *out = look_golden();
    if (s->out != NULL && strcmp(out, s->out) != 0)
        fail_msg("%s: %s", s->words, out);
    for (size_t i = 0; i < COUNT(s->has) && s->has[i] != NULL; i++) {
        if (strstr(out, s->has[i]) == NULL &&
            strstr(look_err, s->has[i]) == NULL)
            fail_msg("%s: no '%s': %s%s", s->words, s->has[i], out, look_err);
    }
    if (s->lacks != NULL) {
        assert_lacks(out, s->lacks);
        assert_lacks(look_err, s->lacks);
    }
    assert_null(strpbrk(look_out, "\033\a\r\xff"));
    assert_lacks(look_out, "\xe2\x80\xae");
    assert_null(strpbrk(look_err, "\033\a\r\xff"));
}

void look_play(const struct scene *scenes, struct admin *b, struct admin *c)
{
    struct admin *const clients[] = { admin, b, c };

    for (; scenes->words != NULL; scenes++) {
        if (scenes->make != NULL)
            make_nodes(scenes->make, clients);
        play(scenes);
    }
}
