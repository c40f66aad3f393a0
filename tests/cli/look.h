/* Running zk-lockctl to its end, and reading what it wrote. */
#ifndef TEST_LOOK_H
#define TEST_LOOK_H

#include <jansson.h>

/* What the last run wrote, each cut at its size. */
extern char look_out[1 << 20];
extern char look_err[1 << 16];

/* Run the tool, without a terminal, on the servers of the fixture. The
 * arguments are words, with blanks between. Its exit code; 128 + n after signal
 * n. */
int look(const char *words);
/* The same, argument by argument, with NULL at the end. */
int look_at(const char *const *args);
/* On other servers, from now on; NULL: those of the fixture. */
void look_on(const char *hosts);

/* The table of the last run with blanks squeezed, and ages, tokens, sessions,
 * ports and UUIDs made equal: "AGE", "0xN", "PORT", "UUID". */
const char *look_golden(void);

/* The output of the last run as JSON, freed by the next call; fails the test
 * when it is not an envelope of that kind. The items of it. */
json_t *look_items(const char *kind);

#endif
