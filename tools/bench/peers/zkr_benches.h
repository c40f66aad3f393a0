/* SPDX-License-Identifier: Apache-2.0 */
/* The benches of zkr_peer.c: each has a file with its name. */
#pragma once

/* One lock, nobody else there: recipe=mutex where=again|first ahead=25. */
void uncontended_prepare(void);
void uncontended_run(long n);
void uncontended_finish(void);

/* Threads that take a lock in turn: recipe=mutex sessions=1 threads=8
 * writers=0 (percent; of a read/write lock), tolerant=0 (errors are expected),
 * seconds=0 (1: "run N" is for N seconds). */
void contended_prepare(void);
void contended_run(long n);
void contended_finish(void);

/* Threads, each with a session of its own: recipe=semaphore (limit=1
 * permits=1), counter, leader, barrier (sessions=2) or double-barrier (all are
 * its members), sessions=1. */
void family_prepare(void);
void family_run(long n);
void family_finish(void);

/* Locks of one session, taken and given back without waiting: locks=10000. */
void many_prepare(void);
void many_run(long n);
void many_finish(void);

/* N claims wait for one lock, and then get it one after the other:
 * sessions=1. */
void line_prepare(void);
void line_run(long n);
void line_finish(void);

/* Calls of acquire_async while claims=2000 wait; moving=1: while they are
 * granted. */
void calls_run(long n);

/* Nothing but waiting, for N seconds: claims=1000. */
void waiting_prepare(void);
void waiting_run(long n);

/* N waits that end at once, by their timeouts: locks=1000. */
void give_up_prepare(void);
void give_up_run(long n);
void give_up_finish(void);

/* The holder, another process, is killed. */
void killed_prepare(void);
void killed_run(long n);
void killed_finish(void);

/* The other process of it. */
void holder_prepare(void);

/* N acquires of N locks, or N releases: step=acquire|release. "run 0" makes
 * ready for the next one. */
void steps_prepare(void);
void steps_run(long n);
void steps_finish(void);

/* Sessions that do nothing; hold=1: that hold a lock each. See fleet.h. */
void fleet_of_zkr_run(long n);
