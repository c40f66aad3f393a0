/* SPDX-License-Identifier: Apache-2.0 */
/* The exit codes: their sentences in help, and their names in JSON. */
#include "common/lockctl.h"

#include <stdio.h>

static const struct {
    int code;
    const char *name; /* NULL: of run and metrics, or no failure */
    const char *meaning;
} codes[] = {
    { 0, NULL, "done" },
    { EX_NO, NULL, "the answer of a verb that tests is no" },
    { EX_USAGE, "usage", "wrong usage" },
    { EX_DATAERR, "not_a_lock",
      "not a lock (of that recipe), or no contender has that token" },
    { EX_NOINPUT, "not_readable",
      "a file cannot be read, is not what it should be, or does not tell" },
    { EX_UNAVAILABLE, "unavailable", "no server can be reached" },
    { EX_SOFTWARE, "internal", "internal error" },
    { EX_CANTCREAT, NULL, "the lock node, or a file, cannot be created" },
    { EX_IOERR, "not_written", "the output cannot be written" },
    { EX_TEMPFAIL, "not_acquired",
      "the lock was not acquired (run -E CODE: that code)" },
    { EX_NOPERM, "forbidden", "credentials or ACLs forbid it" },
    { EX_CONFIG, "configuration", "wrong configuration" },
    { EX_LOST, "lost",
      "the lock was lost while the command ran, or while a shell held it" },
    { EX_REVOKED, NULL,
      "the lock was given back because somebody asked for it" },
    { EX_UNSEEN, NULL,
      "doctor has found nothing, but could not look everywhere" },
    { 125, NULL,
      "run failed before the command was started, or hold before the shell had "
      "the lock" },
    { 126, NULL, "the command cannot be executed" },
    { 127, NULL, "the command was not found" },
};
enum { COUNT = sizeof(codes) / sizeof(codes[0]) };

void exit_codes_print(void)
{
    for (size_t i = 0; i < COUNT; i++)
        (void)printf("%-4d %s\n", codes[i].code, codes[i].meaning);
    (void)puts("128+N  the command was killed by signal N\n"
               "Otherwise run has the exit code of its command.");
}

const char *exit_code_name(int code)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (codes[i].code == code && codes[i].name != NULL)
            return codes[i].name;
    }
    return "other";
}
