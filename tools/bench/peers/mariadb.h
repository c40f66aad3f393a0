/* SPDX-License-Identifier: Apache-2.0 */
/* One connection to a MariaDB server, made again when it has broken. */
#pragma once

#include "rival.h"

#include <mysql.h>

enum {
    SQL_DUPLICATE = 1062, /* ER_DUP_ENTRY */
    SQL_ROWS_MAX = 4,
};

struct sql {
    char host[HOST_SIZE];
    int port;
    int64_t timeout_ms; /* of sql_ask() */
    MYSQL *mysql;       /* NULL: not connected */
    const char *setup;  /* the first statement of a connection; or NULL */
};

bool sql_init(struct sql *db, const struct rival_opts *opts, const char *setup);
bool sql_connect(struct sql *db);
void sql_drop(struct sql *db);

/* Run a statement, for as long as it takes: 0, or the number of the error.
 * *ret_rows (NULL is allowed) is how many rows it has changed. */
__attribute__((format(printf, 3, 4))) unsigned
sql_run(struct sql *db, int64_t *ret_rows, const char *format, ...);

/* Ask for one row of numbers, for at most timeout_ms; false when there is no
 * such row, or no answer. */
__attribute__((format(printf, 4, 5))) bool sql_ask(struct sql *db,
                                                   int64_t *ret_values,
                                                   unsigned count,
                                                   const char *format, ...);
