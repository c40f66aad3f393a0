/* SPDX-License-Identifier: Apache-2.0 */
/* The parts that the benches and the trial of a lock share. */
#pragma once

#include "peer.h"
#include "rival.h"

/* The lock that the command line names, and its options. */
const struct rival *rival_chosen(struct rival_opts *ret_opts);

/* End the process if it is not RIVAL_OK. */
void rival_check(const char *what, enum rival_result result);

/* The bench "trial": obey the judge to the end, and end the process. */
void rival_trial(void);
