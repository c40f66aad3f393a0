/* SPDX-License-Identifier: Apache-2.0 */
/* Runs zk-lockctl to its end, and reads its output. */
#pragma once

#include <inttypes.h>
#include <jansson.h>
#include <zookeeper/proto.h>

#include "cli.h"

SCOPED(struct proxy, proxy, proxy_stop)

/* The output of the last run, each cut at its size; and all of it, in files. */
extern char look_out[1 << 20];
extern char look_err[1 << 16];
extern int look_out_fd, look_err_fd;

/* Run the tool, without a terminal, on the servers of the fixture. The
 * arguments are words, with blanks between. Its exit code; 128 + n after signal
 * n. */
int look(const char *words);
/* Run the tool with words of this format; it must end with that code. */
#define LOOK(code, ...) look_for(code, __FILE__, __LINE__, textf(__VA_ARGS__))
void look_for(int code, const char *file, int number, const char *words);
/* The same; stdout, or stderr, must have that text. */
#define LOOK_OUT(code, text, ...)                                              \
    (LOOK(code, __VA_ARGS__), assert_has(look_out, text))
#define LOOK_ERR(code, text, ...)                                              \
    (LOOK(code, __VA_ARGS__), assert_has(look_err, text))
/* The same, argument by argument, with NULL at the end. */
int look_at(const char *const *args);
/* The same for a verb that does not end by itself: it gets a SIGINT `after_ms`
 * after its first output. */
int look_at_until(const char *const *args, int after_ms);
/* Run the tool on other servers from now on; NULL: those of the fixture. */
void look_on(const char *hosts);

/* The table of the last run with blanks squeezed. */
char *look_squeezed(void);
/* The same with ages, tokens at the end
 * of a line, sessions, ports and UUIDs made equal: "AGE", "TOKEN", "0xN",
 * "PORT", "UUID"; the directory of a test is "ROOT", if it has one. */
const char *look_golden(void);
extern char look_root[64];
/* Makes that directory, and removes it: a fixture. */
int look_make_root(void);
/* A path in it. */
const char *in_root(const char *name);
int look_remove_root(void);
/* Makes a node, with what is missing above it. Its token. */
int64_t look_make(struct admin *by, const char *path, const char *data,
                  int flags);
/* One look of a scene, after the nodes of it are made: "a NAME DATA|...", below
 * the directory of the test; a, b and c are clients, whose nodes end with them,
 * p is a node that stays. */
struct scene {
    const char *make;  /* NULL: nothing */
    const char *words; /* for LOOK(); "R" begins that directory */
    int code;
    const char *out;    /* all of look_golden(); NULL: anything */
    const char *has[3]; /* in look_golden(), or on stderr */
    const char *lacks;  /* neither; nor does any look have a byte of EVIL */
};
/* ESC ] 52 (the clipboard), CR, LF, what is not UTF-8, an override */
#define EVIL "\033]52;c;aGk=\a\r\n\xff\xe2\x80\xae"
/* Plays all scenes up to one without words. JSON must be that of the schema. */
void look_play(const struct scene *scenes, struct admin *b, struct admin *c);

/* In front of the server of the fixture. */
struct proxy *new_proxy(void);
/* The requests of the tool since the counts were reset, besides its pings. */
long quiet_requests(struct proxy *p);
/* Waits until there was no request for so long: requests that follow a change
 * may still be under way. */
void quiet_wait(struct proxy *p, int64_t idle_ms);

/* What anybody may do with a node. */
void look_permit(const char *path, int32_t perms);

/* Fail unless the output is JSON of that definition in
 * `zk-lockctl help json-schema`. Asks jq. */
void look_assert_schema(const char *definition);

/* Returns what jq prints for a file; the next call overwrites it. */
const char *jq(const char *file, const char *options);
/* Returns what jq prints for the output of the tool. The expression has ' in
 * place of ". The output must be a document of the schema, or one line of such.
 * The expression may call ms, which makes a number of a time. */
const char *look_jq(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
#define assert_jq(...) assert_string_equal(look_jq(__VA_ARGS__), "true")
