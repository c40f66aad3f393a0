/* SPDX-License-Identifier: Apache-2.0 */
/* The exit codes: their sentences in help, and their names in JSON. */
#pragma once

/* On stdout, one on each line. */
void exit_codes_print(void);

/* "unavailable"; "other" for a code that is not in the table. */
const char *exit_code_name(int code);
