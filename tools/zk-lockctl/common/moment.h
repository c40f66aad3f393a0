/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the moments that people and programs write. Pure, except for the time
 * zone of the process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* "1h": so long ago; "02:55" or "02:55:10": the last time that it was so late;
 * "2026-11-23", "2026-11-23 02:55", "2026-11-23T02:55:10.5": local time, or
 * with "Z" or "+01:00" behind it that of the zone. False: none of these. */
bool moment_read(const char *text, int64_t now_ms, int64_t *ret_ms);
