/* SPDX-License-Identifier: Apache-2.0 */
/* Serves one page by HTTP. */
#pragma once

#include <stdio.h>

struct http;

/* Writes the page, in http_run(). */
typedef void http_page_fn(FILE *page, void *user);

/* Listens at "HOST:PORT", "PORT" of all addresses, or port 0: any that is free.
 * `ret_at` is where. 0, or an exit code after an error was said. */
enum { HTTP_AT_MAX = 100 };
int http_start(const char *at, http_page_fn *page, void *user,
               struct http **ret_http, char ret_at[HTTP_AT_MAX]);
/* Answers who asks, for so long at most, or until a signal. */
void http_run(struct http *http, int timeout_ms);
/* NULL is allowed. */
void http_end(struct http *http);
