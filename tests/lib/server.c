/* SPDX-License-Identifier: Apache-2.0 */
/* One real ZooKeeper server as a child process of the test. */
#include "server.h"
#include "server_private.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net.h"
#include "security.h"
#include "spawn.h"
#include "wait.h"

#define JAVA_DIR "/usr/share/java"
#define JAR      JAVA_DIR "/zookeeper.jar"

/* Without a binding for slf4j the server would not log at all, and its log is
 * how a port taken by someone else is told from other failures. A directory in
 * it would keep java from its archive of classes (archive.c). */
#define CLASS_PATH JAR ":" JAVA_DIR "/slf4j-simple.jar"

enum {
    ANSWER_WAIT_MS =
        1000, /* of one attempt: a server that starts forgets some */
    PATIENCE_MS = 60000,
    PROBE_PAUSE_MS = 20,
    JAVA_OPTS_MAX = 40,
    LOG_SHOWN = 3000,
};

/* -UsePerfData: a killed server must leave no file in /tmp/hsperfdata_*.
 *
 * nio.*: one thread reads from all clients.  With several, a client whose
 * session is being taken over (session_kill) may reconnect in the middle of
 * it and end up on a connection that the server has lost track of: its session
 * is gone, but it hears nothing for 2/3 of its session timeout. */
static char *const java_command[] = {
    "java",
    "-Xmx96m",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-Xlog:disable", /* of an archive that is of other classes */
    "-Dzookeeper.4lw.commands.whitelist=*",
    "-Dzookeeper.forceSync=no",
    "-Dzookeeper.nio.numSelectorThreads=1",
    "-Dzookeeper.nio.numWorkerThreads=0",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
    NULL,
};

struct server {
    char dir[PATH_MAX - 64]; /* leaves room for a file name */
    char log_dir[PATH_MAX];
    char hosts[32];
    int port;
    pid_t pid; /* 0 when no process runs */
    bool paused;
    int exit_code;
    struct guard guard;
    const char *const *java_opts[2]; /* as started, and for the next start */
    enum server_security security;
    char secure_hosts[32];
    struct server *next; /* in `all` */
};

static struct server *all;

/* Files */

static void path_in(const struct server *s, const char *name,
                    char path[static PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", s->dir, name);
}

static FILE *file_in(const struct server *s, const char *name, const char *mode)
{
    char path[PATH_MAX];

    path_in(s, name, path);
    return fopen(path, mode);
}

static const char *address_of(const struct server_opts *o)
{
    return o->address != NULL ? o->address : "127.0.0.1";
}

static bool write_config(const struct server *s, const struct server_opts *o,
                         const char *peers)
{
    FILE *file = file_in(s, "zoo.cfg", "we");

    if (file == NULL)
        return false;
    fprintf(file,
            "tickTime=%d\nminSessionTimeout=%d\nmaxSessionTimeout=60000\n"
            "dataDir=%s/data\ndataLogDir=%s\nclientPort=%d\n"
            "clientPortAddress=%s\n"
            "maxClientCnxns=0\ninitLimit=20\nsyncLimit=10\n"
            "admin.enableServer=false\n4lw.commands.whitelist=*\n%s",
            o->tick_ms > 0 ? o->tick_ms : 500,
            o->min_session_ms > 0 ? o->min_session_ms : 1000, s->dir,
            s->log_dir, s->port, address_of(o), peers);
    security_write_config(s->security, s->port + SERVER_SECURE_PORT, file);
    for (int i = 0; o->cfg_lines != NULL && o->cfg_lines[i] != NULL; i++)
        fprintf(file, "%s\n", o->cfg_lines[i]);
    return fclose(file) == 0;
}

static bool make_files(struct server *s, const struct server_opts *o, int id,
                       const char *peers)
{
    char data[PATH_MAX];

    path_in(s, "data", data);
    (void)snprintf(s->log_dir, sizeof(s->log_dir), "%s",
                   o->log_dir != NULL ? o->log_dir : data);
    if (mkdir(data, 0700) != 0 || !security_prepare(s->security, s->dir) ||
        !write_config(s, o, peers))
        return false;
    FILE *file = file_in(s, "data/myid", "we");
    return file != NULL && fprintf(file, "%d\n", id) > 0 && fclose(file) == 0;
}

static bool log_contains(const struct server *s, const char *text)
{
    FILE *log = file_in(s, "log", "re");
    char line[1024];
    bool found = false;

    if (log == NULL)
        return false;
    while (!found && fgets(line, sizeof(line), log) != NULL)
        found = strstr(line, text) != NULL;
    fclose(log);
    return found;
}

void server_complain(const struct server *s, const char *what)
{
    FILE *log = file_in(s, "log", "re");
    char tail[LOG_SHOWN];

    fprintf(stderr, "server %s: %s\n", s->hosts, what);
    if (log == NULL)
        return;
    if (fseek(log, -LOG_SHOWN, SEEK_END) != 0)
        rewind(log);
    size_t size = fread(tail, 1, sizeof(tail), log);
    fwrite(tail, 1, size, stderr);
    fclose(log);
}

/* Ports */

static bool port_is_free(int port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;

    /* Java sets it, too. Without it, a port would be refused that is only
     * waiting for the remains of an old connection. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    bool is_free =
        bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        listen(fd, 1) == 0;
    close(fd);
    return is_free;
}

int server_find_ports(int count)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        unsigned int random = 0;

        /* These ports are below the range from which the kernel takes ports of
         * clients. */
        (void)!getrandom(&random, sizeof(random), 0);
        int first = 20000 + (int)(random % 12000);
        int found = 0;
        while (found < count && port_is_free(first + found))
            found++;
        if (found == count)
            return first;
    }
    fprintf(stderr, "server: no %d free ports in 20000-32000\n", count);
    return -1;
}

/* Four letter words */

static char *read_to_end(int fd)
{
    char *text = NULL;
    size_t size = 0;
    FILE *copy = open_memstream(&text, &size);
    char part[4096];
    ssize_t n;

    if (copy == NULL)
        return NULL;
    while ((n = recv(fd, part, sizeof(part), 0)) > 0)
        fwrite(part, 1, (size_t)n, copy);
    fclose(copy);
    if (n == 0)
        return text;
    free(text);
    return NULL;
}

static char *ask_once(const struct server *s, const char *word)
{
    int fd = net_connect(s->hosts, ANSWER_WAIT_MS);
    char *answer = NULL;

    if (fd < 0)
        return NULL;
    if (net_send(fd, word, strlen(word)))
        answer = read_to_end(fd);
    close(fd);
    return answer;
}

char *server_4lw(const struct server *s, const char *word)
{
    char *answer;

    (void)COMES((answer = ask_once(s, word)) != NULL || s->pid == 0 ||
                    s->paused,
                PATIENCE_MS);
    return answer;
}

/* For those who ask again: whether it serves is not known in advance. */
static bool answers(const struct server *s, const char *word,
                    const char *expected)
{
    char *answer = ask_once(s, word);
    bool found = answer != NULL && strstr(answer, expected) != NULL;

    free(answer);
    return found;
}

bool server_has_mode(const struct server *s, const char *mode)
{
    char line[64];

    snprintf(line, sizeof(line), "Mode: %s", mode);
    return answers(s, "srvr", line);
}

bool server_is_since(const struct server *s, int major, int minor)
{
    char *answer = server_4lw(s, "srvr");
    int its_major = 0;
    int its_minor = 0;

    if (answer == NULL ||
        sscanf(answer, "Zookeeper version: %d.%d", &its_major, &its_minor) != 2)
        server_complain(s, "does not tell its version");
    free(answer);
    return its_major > major || (its_major == major && its_minor >= minor);
}

long server_metric(const struct server *s, const char *name)
{
    char *answer = server_4lw(s, "mntr");
    char line[64]; /* it is not the first */
    long value = -1;

    snprintf(line, sizeof(line), "\n%s\t", name);
    const char *found = answer == NULL ? NULL : strstr(answer, line);
    if (found != NULL)
        value = strtol(found + strlen(line), NULL, 10);
    free(answer);
    return value;
}

int server_watch_count(const struct server *s)
{
    return (int)server_metric(s, "zk_watch_count");
}

long server_watches(const struct server *s, const char *node, int64_t session)
{
    char *answer = server_4lw(s, "wchp"); /* "node\n\tsession\n\tsession\n" */
    long count = 0;
    bool here = false;
    char *rest = NULL;

    if (answer == NULL)
        return -1;
    for (char *line = strtok_r(answer, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (line[0] != '\t')
            here = strcmp(line, node) == 0;
        else if (session == 0 || (int64_t)strtoull(line, NULL, 16) == session)
            count += here;
    }
    free(answer);
    return count;
}

int server_ephemerals_count(const struct server *s)
{
    return (int)server_metric(s, "zk_ephemerals_count");
}

/* The process */

static void fill_command(const struct server *s, char *config, char *jars,
                         char *option, char **argv)
{
    int n = 0;

    for (int i = 0; java_command[i] != NULL; i++)
        argv[n++] = java_command[i];
    if (access(ARCHIVE, R_OK) == 0)
        argv[n++] = "-XX:SharedArchiveFile=" ARCHIVE;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; s->java_opts[k] != NULL && s->java_opts[k][i]; i++)
            argv[n++] = (char *)s->java_opts[k][i];
    }
    if (option != NULL)
        argv[n++] = option;
    argv[n++] = "-cp";
    argv[n++] = jars;
    argv[n++] = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
    argv[n++] = config;
    argv[n] = NULL;
}

/* For a version other than the installed one its jute comes first, because the
 * manifest of zookeeper.jar names the installed one (tools/versions.sh). */
int server_spawn(struct server *s)
{
    char *argv[JAVA_OPTS_MAX + 32];
    char config[PATH_MAX];
    char log_path[PATH_MAX];
    char jars[4096];
    char option[PATH_MAX];
    const char *other = getenv("ZKR_SERVER_CLASS_PATH");

    path_in(s, "zoo.cfg", config);
    path_in(s, "log", log_path);
    int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    snprintf(jars, sizeof(jars), "%s%s",
             other != NULL && other[0] != '\0' ? other : CLASS_PATH,
             security_class_path(s->security));
    fill_command(
        s, config, jars,
        security_java_option(s->security, s->dir, option, sizeof(option)),
        argv);
    s->pid = spawn_bound(argv, -1, log);
    close(log);
    s->paused = false;
    if (s->pid > 0)
        return SERVER_OK;
    s->pid = 0;
    server_complain(s, strerror(errno));
    return SERVER_FAILED;
}

int server_probe(struct server *s)
{
    int status;

    if (s->pid != 0 && waitpid(s->pid, &status, WNOHANG) == s->pid) {
        s->pid = 0;
        s->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    if (log_contains(s, "Address already in use"))
        return SERVER_PORT_TAKEN;
    if (s->pid == 0)
        return s->exit_code == 127 ? SERVER_MISSING : SERVER_FAILED;
    /* Another server may have been given the same port in the meantime, so the
     * one that answers has to name our directory. */
    return answers(s, "srvr", "Mode: ") && answers(s, "conf", s->dir)
               ? SERVER_OK
               : SERVER_STARTING;
}

int server_serve(struct server *s)
{
    int rc = server_spawn(s);

    if (rc != SERVER_OK)
        return rc;
    if (!COMES((sleep_ms(PROBE_PAUSE_MS), rc = server_probe(s)) !=
                   SERVER_STARTING,
               SERVER_DEADLINE_MS)) {
        server_complain(s, "does not serve; its log ends with");
        return SERVER_FAILED;
    }
    if (rc == SERVER_FAILED)
        server_complain(s, "ended while starting; its log ends with");
    return rc;
}

/* Life */

bool server_installed(void)
{
    char *argv[] = { "/bin/sh", "-c", "command -v java", NULL };

    return access(JAR, R_OK) == 0 && spawn_run(argv, -1);
}

int server_prepare(const struct server_opts *opts, int port, int id,
                   const char *peers, struct server **ret_server)
{
    static const struct server_opts defaults;
    struct server *s = calloc(1, sizeof(*s));

    if (s == NULL)
        return SERVER_FAILED;
    if (opts == NULL)
        opts = &defaults;
    s->port = port;
    snprintf(s->hosts, sizeof(s->hosts), "%s:%d", address_of(opts), port);
    s->security = opts->security == SERVER_AS_ENVIRONMENT
                      ? security_of_environment()
                      : opts->security;
    snprintf(s->secure_hosts, sizeof(s->secure_hosts), "%s:%d",
             address_of(opts),
             s->security == SERVER_TLS ? port + SERVER_SECURE_PORT : port);
    s->java_opts[0] = opts->java_opts;
    if (guard_make(&s->guard, s->dir, sizeof(s->dir)) != 0) {
        fprintf(stderr, "server: cannot make %s: %s\n", s->dir,
                strerror(errno));
        free(s);
        return SERVER_FAILED;
    }
    if (!make_files(s, opts, id, peers)) {
        server_complain(s, strerror(errno));
        server_stop(s);
        return SERVER_FAILED;
    }
    s->next = all;
    all = s;
    *ret_server = s;
    return SERVER_OK;
}

static int start_once(const struct server_opts *opts,
                      struct server **ret_server)
{
    int port = server_find_ports(SERVER_PORTS);
    struct server *s;

    if (port < 0 || server_prepare(opts, port, 0, "", &s) != SERVER_OK)
        return SERVER_FAILED;
    int rc = server_serve(s);
    if (rc == SERVER_OK)
        *ret_server = s;
    else
        server_stop(s);
    return rc;
}

int server_start(const struct server_opts *opts, struct server **ret_server)
{
    int rc = SERVER_PORT_TAKEN;

    if (!server_installed())
        return SERVER_MISSING;
    for (int i = 0; i < SERVER_ATTEMPTS && rc == SERVER_PORT_TAKEN; i++)
        rc = start_once(opts, ret_server);
    return rc == SERVER_PORT_TAKEN ? SERVER_FAILED : rc;
}

void server_kill9(struct server *s)
{
    if (s->pid == 0)
        return;
    kill(s->pid, SIGKILL);
    waitpid(s->pid, NULL, 0);
    s->pid = 0;
}

int server_restart(struct server *s)
{
    server_kill9(s);
    int rc = server_serve(s);
    if (rc != SERVER_PORT_TAKEN)
        return rc;
    server_complain(s, "its port was taken while it was down");
    return SERVER_FAILED;
}

void server_pause(struct server *s)
{
    if (s->pid == 0)
        return;
    s->paused = true;
    kill(s->pid, SIGSTOP);
    waitpid(s->pid, NULL, WUNTRACED);
}

void server_resume(struct server *s)
{
    s->paused = false;
    if (s->pid != 0)
        kill(s->pid, SIGCONT);
}

void server_stop(struct server *s)
{
    struct server **link = &all;

    if (s == NULL)
        return;
    while (*link != NULL && *link != s)
        link = &(*link)->next;
    if (*link != NULL)
        *link = s->next;
    server_kill9(s);
    guard_finish(&s->guard);
    free(s);
}

/* Others may know this of it. */
#define GETTER(type, name, member)                                             \
    type name(const struct server *s)                                          \
    {                                                                          \
        return s->member;                                                      \
    }

GETTER(const char *, server_hosts, hosts)
GETTER(const char *, server_secure_hosts, secure_hosts)
GETTER(int, server_port, port)
GETTER(enum server_security, server_security, security)
GETTER(pid_t, server_pid, pid)
GETTER(const char *, server_dir, dir)
GETTER(const char *, server_log_dir, log_dir)

const char *server_session_hosts(const struct server *s)
{
    return s->security == SERVER_TLS ? s->secure_hosts : s->hosts;
}

static const struct server *find(const char *hosts, size_t length)
{
    for (const struct server *s = all; s != NULL; s = s->next) {
        if (s->security == SERVER_TLS && strlen(s->hosts) == length &&
            strncmp(s->hosts, hosts, length) == 0)
            return s;
    }
    return NULL;
}

bool server_find_secure(const char *hosts, char *secure, size_t size)
{
    size_t used = 0;

    while (*hosts != '\0' && *hosts != '/' && used < size) {
        size_t length = strcspn(hosts, ",/");
        const struct server *s = find(hosts, length);

        if (s == NULL)
            return false;
        used += (size_t)snprintf(secure + used, size - used, "%s%s",
                                 used > 0 ? "," : "", s->secure_hosts);
        hosts += length + (hosts[length] == ',');
    }
    if (used < size)
        used += (size_t)snprintf(secure + used, size - used, "%s", hosts);
    return used < size;
}

void server_set_java_opts(struct server *s, const char *const *options)
{
    s->java_opts[1] = options;
}
