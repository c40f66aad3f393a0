/* The outcome: computes a verdict from journals and resources. */
#ifndef SOAK_OUTCOME_H
#define SOAK_OUTCOME_H

#include "crew.h"
#include "report.h"
#include "truth.h"

/* What a crew wrote down, and the test with it, is in its directory. Without
 * `truth` only what needs no log is judged. */
void outcome_find(const struct crew *crew, const struct truth *truth,
                  struct outcome *o);

int64_t real_ms(void); /* CLOCK_REALTIME */

#endif
