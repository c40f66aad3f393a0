/* SPDX-License-Identifier: Apache-2.0 */
/* Real ZooKeeper servers that a test starts, stops, pauses and kills.
 *
 * Call everything here from the main thread: a server is tied to the thread
 * that started (or restarted) it and dies with it.  Each server has a
 * directory of its own, ${TMPDIR:-/tmp}/zkrecipes-test-XXXXXX, which goes away
 * at server_stop() and also when the test process ends, however it ends.
 * Failures are reported on stderr, with the end of the server's log. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/types.h>

enum {
    SERVER_OK = 0,
    SERVER_MISSING = 1, /* no java or no zookeeper.jar: main() returns 77 */
    SERVER_FAILED = 2,
};

/* How clients may, or must, connect to it. The plain port is always there, for
 * the tests themselves. */
enum server_security {
    SERVER_AS_ENVIRONMENT = 0, /* ZKR_TEST_SECURITY: "tls", "sasl", or plain */
    SERVER_PLAIN,
    SERVER_TLS,  /* also at server_secure_hosts(), with a certificate */
    SERVER_SASL, /* also with DIGEST-MD5 as: */
};
#define SERVER_SASL_USER     "bob"
#define SERVER_SASL_PASSWORD "bobsecret"

/* Zero means default; NULL instead of the whole means all defaults. */
struct server_opts {
    int tick_ms;         /* 500 */
    int min_session_ms;  /* 1000 */
    const char *address; /* "127.0.0.1"; copied */
    const char *log_dir; /* of transactions, copied; it must exist.
                            Default: with the snapshots */
    enum server_security security;
    const char *const *java_opts; /* "-Dname=value", ..., NULL; not copied */
    const char *const *cfg_lines; /* "name=value", ..., NULL; these win */
};

struct server;

/* Returns false where server_start() would return SERVER_MISSING. */
bool server_installed(void);

/* Start a server on a free port of 127.0.0.1 and wait until it
 * serves.  On failure nothing is left behind. */
int server_start(const struct server_opts *opts, struct server **ret_server);

/* Kill it, alive, paused or dead, and remove its directory.  NULL is
 * allowed. */
void server_stop(struct server *s);

const char *server_hosts(const struct server *s); /* "127.0.0.1:port" */
int server_port(const struct server *s);
enum server_security server_security(const struct server *s);
const char *server_secure_hosts(const struct server *s);
/* Those of the two where a session of these tests is. */
const char *server_session_hosts(const struct server *s);
/* Writes `hosts` with the secure ports of the servers: "host:port[,...]".
 * Returns false when one of them is not a server with TLS of this process. */
bool server_find_secure(const char *hosts, char *secure, size_t size);
/* The directory with the keys and certificates of all servers and clients of
 * this process, which keys.sh describes; or NULL. */
const char *server_keys(void);
pid_t server_pid(const struct server *s); /* 0 while killed */
const char *server_dir(const struct server *s);
const char *server_log_dir(const struct server *s); /* where version-2 is */

/* Up to eight more options for java from the next start on, ending with NULL
 * and not copied; NULL: no more. */
void server_set_java_opts(struct server *s, const char *const *options);

/* SIGKILL; returns when the process is gone.  Its data stay for a restart. */
void server_kill9(struct server *s);

/* Kill it if it runs, start it again on the same port and data, and wait until
 * it serves.  For a member of an ensemble that takes a majority. */
int server_restart(struct server *s);

/* SIGSTOP, returning when it has stopped; SIGCONT. */
void server_pause(struct server *s);
void server_resume(struct server *s);

/* The answer to a four letter word, to be freed, or NULL: no process answers,
 * or it is paused. */
char *server_4lw(const struct server *s, const char *word);

/* Tells whether its version is that one, or a later one. */
bool server_is_since(const struct server *s, int major, int minor);

/* A number from `mntr`, such as "zk_znode_count", or -1. */
long server_metric(const struct server *s, const char *name);
int server_watch_count(const struct server *s);
/* The watches of that session, or (0) of all, on the data of a node, or -1. */
long server_watches(const struct server *s, const char *node, int64_t session);
int server_ephemerals_count(const struct server *s);

/* Several servers that elect a leader. */
struct ensemble;

/* Start `count` servers (2 to 7) and wait until one leads and
 * all others follow. */
int ensemble_start(int count, const struct server_opts *opts,
                   struct ensemble **ret_ensemble);
void ensemble_stop(struct ensemble *e);

const char *ensemble_hosts(const struct ensemble *e); /* "h:p1,h:p2,..." */

/* Member `i`, counted from 0.  It belongs to the ensemble: never stop it. */
struct server *ensemble_server(const struct ensemble *e, int i);

/* Index of the leader now, or -1.  A paused member costs 1 s. */
int ensemble_leader(const struct ensemble *e);
