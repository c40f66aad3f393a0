/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome: computes a verdict from journals and resources. */
#pragma once

#include "report.h"

/* Reads the journals of the crew and of the test from the directory of the
 * crew. Without `truth` (NULL) it judges only what can be judged without the
 * logs of the servers. */
void outcome_find(const struct crew *crew, const struct truth *truth,
                  struct outcome *o);

int64_t real_ms(void); /* CLOCK_REALTIME */
