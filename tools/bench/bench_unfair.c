/* A benchmark of the cost of fairness and of a herd: it runs the fair and the
 * unfair mutex in turns on the same server.
 *
 *   bench-unfair 127.0.0.1:2181 [GRANTS]
 *
 * For each number of contenders, each with a session of its own: requests that
 * the server received per grant (exact), the time per grant of the unfair
 * mutex as a ratio to that of the fair one, and the longest wait as a multiple
 * of the mean one. The median of several rounds; absolute times mean nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netdb.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <zkrecipes/zkrecipes.h>

enum { CONTENDERS_MAX = 64, ROUNDS = 5, FAIR = 0, UNFAIR = 1 };

static const char *hosts;

struct contender {
    zkr_session *session;
    zkr_mutex *fair;
    zkr_unfair_mutex *unfair;
    int kind;
    int grants;
    double longest;
    double total;
    pthread_t thread;
};

struct result {
    double requests; /* per grant */
    double time;     /* per grant */
    double longest;  /* wait, by the mean one */
};

static void check(const char *what, int rc)
{
    if (rc == ZKR_OK)
        return;
    (void)fprintf(stderr, "bench-unfair: %s: %s\n", what, zkr_error_detail());
    exit(1);
}

static double now(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int dial(void)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = NULL;
    char host[256];
    char *port;
    int fd = -1;

    (void)snprintf(host, sizeof(host), "%s", hosts);
    host[strcspn(host, ",/")] = '\0';
    port = strrchr(host, ':');
    if (port == NULL)
        return -1;
    *port++ = '\0';
    if (getaddrinfo(host, port, &hints, &found) != 0)
        return -1;
    fd = socket(found->ai_family, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
        (void)close(fd);
        fd = -1;
    }
    freeaddrinfo(found);
    return fd;
}

/* How many requests the server has received; it counts this one too. */
static double requests_received(void)
{
    char text[1024] = "";
    size_t len = 0;
    ssize_t n = 0;
    const char *line;
    int fd = dial();

    if (fd >= 0 && write(fd, "srvr", 4) == 4) {
        while (len + 1 < sizeof(text) &&
               (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
            len += (size_t)n;
    }
    if (fd >= 0)
        (void)close(fd);
    line = strstr(text, "Received: ");
    if (line == NULL) {
        (void)fprintf(stderr, "bench-unfair: %s: no answer to srvr\n", hosts);
        exit(1);
    }
    return strtod(line + strlen("Received: "), NULL);
}

static void *contend(void *arg)
{
    struct contender *c = arg;

    for (int i = 0; i < c->grants; i++) {
        double start = now();
        double wait;
        zkr_grant *g;

        check("acquire", c->kind == FAIR
                             ? zkr_mutex_acquire(c->fair, -1, &g)
                             : zkr_unfair_mutex_acquire(c->unfair, -1, &g));
        wait = now() - start;
        c->total += wait;
        c->longest = wait > c->longest ? wait : c->longest;
        check("release", zkr_grant_release(g));
        zkr_grant_free(g);
    }
    return NULL;
}

static struct result run(struct contender *all, int contenders, int kind,
                         int grants)
{
    struct result r = { .longest = 0 };
    double requests = requests_received();
    double start = now();
    double total = 0;

    for (int i = 0; i < contenders; i++) {
        all[i].kind = kind;
        all[i].grants = grants / contenders;
        all[i].longest = all[i].total = 0;
        if (pthread_create(&all[i].thread, NULL, contend, &all[i]) != 0)
            exit(1);
    }
    grants = grants / contenders * contenders;
    for (int i = 0; i < contenders; i++) {
        (void)pthread_join(all[i].thread, NULL);
        total += all[i].total;
        r.longest = all[i].longest > r.longest ? all[i].longest : r.longest;
    }
    r.time = (now() - start) / grants;
    r.requests = (requests_received() - requests) / grants;
    r.longest /= total / grants;
    return r;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double values[ROUNDS])
{
    qsort(values, ROUNDS, sizeof(values[0]), ascending);
    return values[ROUNDS / 2];
}

static void compare(struct contender *all, int contenders, int grants)
{
    double ratio[ROUNDS];
    double requests[2][ROUNDS];
    double longest[2][ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        struct result r[2];

        for (int kind = FAIR; kind <= UNFAIR; kind++) {
            r[kind] = run(all, contenders, kind, grants);
            requests[kind][i] = r[kind].requests;
            longest[kind][i] = r[kind].longest;
        }
        ratio[i] = r[UNFAIR].time / r[FAIR].time;
    }
    (void)printf("%10d   %8.1f %8.1f   %8.2f   %8.1f %8.1f\n", contenders,
                 median(requests[FAIR]), median(requests[UNFAIR]),
                 median(ratio), median(longest[FAIR]), median(longest[UNFAIR]));
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    static const int contenders[] = { 1, 2, 8, 32, CONTENDERS_MAX };
    static struct contender all[CONTENDERS_MAX];
    int grants = argc > 2 ? atoi(argv[2]) : 1000;

    if (argc < 2 || grants < CONTENDERS_MAX) {
        (void)fprintf(stderr, "usage: bench-unfair HOSTS [GRANTS >= %d]\n",
                      CONTENDERS_MAX);
        return 64;
    }
    hosts = argv[1];
    for (int i = 0; i < CONTENDERS_MAX; i++) {
        struct contender *c = &all[i];

        check("open", zkr_session_open(hosts, NULL, &c->session));
        check("new", zkr_mutex_new(c->session, "/bench/fair", NULL, &c->fair));
        check("new", zkr_unfair_mutex_new(c->session, "/bench/unfair", NULL,
                                          &c->unfair));
    }
    (void)run(all, 1, FAIR, grants); /* everything is warm from here on */
    (void)run(all, 1, UNFAIR, grants);
    (void)printf(
        "            requests per grant      time     longest wait\n"
        "contenders     fair   unfair    unfair/fair  fair   unfair\n");
    for (size_t i = 0; i < sizeof(contenders) / sizeof(contenders[0]); i++)
        compare(all, contenders[i], grants);
    for (int i = 0; i < CONTENDERS_MAX; i++) {
        zkr_mutex_free(all[i].fair);
        zkr_unfair_mutex_free(all[i].unfair);
        (void)zkr_session_close(all[i].session);
    }
    return 0;
}
