/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/1.1 POST of JSON on a connection that is kept. */
#pragma once

#include "wire.h"

enum { HTTP_BODY_SIZE = 2048 };

/* The status; 0: no answer before the deadline, or the connection broke. */
int http_post(struct wire *wire, const char *path, const char *json,
              char body[HTTP_BODY_SIZE], int64_t deadline_ms);
