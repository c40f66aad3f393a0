/* SPDX-License-Identifier: Apache-2.0 */
/* Many sessions in one process, which do nothing while the driver counts at the
 * servers: sessions=200 timeout_ms=10000.
 *
 * "run 0" opens them, and waits for 2 T until what that has cost is over; the
 * next one closes them. A cycle is a session timeout, T, of one session. */
#pragma once

enum { FLEET_MAX = 5000 };

struct fleet {
    void (*enter)(long number); /* session 0, 1, 2, ... */
    void (*leave)(long number);
};

void fleet_prepare(void);
void fleet_run(long n, const struct fleet *fleet);
