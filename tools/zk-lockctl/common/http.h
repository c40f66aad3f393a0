/* SPDX-License-Identifier: Apache-2.0 */
/* Serves one page by HTTP. */
#pragma once

#include <stdio.h>

struct http;

/* Writes the page. On a thread of the server. */
typedef void http_page_fn(FILE *page, void *user);

/* Listens at "HOST:PORT", "PORT" of all addresses, or port 0: any that is free.
 * `ret_at` is where. 0, or an exit code after an error was said. */
enum { HTTP_AT_MAX = 100 };
int http_start(const char *at, http_page_fn *page, void *user,
               struct http **ret_http, char ret_at[HTTP_AT_MAX]);
/* After it the page is not written any more. NULL is allowed. */
void http_end(struct http *http);
