/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the descriptors that we were started with: the command gets no
 * others. */
#pragma once

struct fds;

/* A socket must not become our stdin, stdout or stderr. The command finds them
 * closed as we did. */
void fds_fill_standard(void);

/* Note what is open now. NULL, with errno, on failure. */
struct fds *fds_note(void);
void fds_free(struct fds *fds);

/* Close those that are noted, from 3 up. */
void fds_close(const struct fds *fds);

/* All others from 3 up are closed by the next exec. For a child: only
 * async-signal-safe calls. -1 with errno on failure. */
int fds_close_others_on_exec(const struct fds *fds);
