/* SPDX-License-Identifier: Apache-2.0 */
/* The benches of raw-peer that stand in files of their own. */
#pragma once

/* raw_line.c */
void line_prepare(void);
void line_run(long n);
void calls_run(long n);
void line_finish(void);

/* raw_turns.c */
void turns_prepare(void);
void turns_run(long n);
void turns_finish(void);

/* raw_fleet.c */
void fleet_of_raw_run(long n);
