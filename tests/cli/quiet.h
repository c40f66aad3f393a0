/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what the tool asks through a proxy, and waits until it asks no more.
 */
#pragma once

#include <stdint.h>

#include "proxy.h"

/* The requests of the tool since the counts were reset, besides the pings of
 * its session. */
long quiet_requests(struct proxy *p);

/* Waits until there was no request for so long: requests that follow a change
 * may still be under way. */
void quiet_wait(struct proxy *p, int64_t idle_ms);
