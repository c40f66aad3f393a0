/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and splits the list of servers, which session.h of the public headers
 * describes. Pure. */
#pragma once

#include <stddef.h>

struct zkr__hosts {
    char *servers; /* "host:port,[::1]:port", for people; each has a port */
    char *plain;   /* "host:port,::1:port", as the client wants them */
    char *chroot;  /* "" or "/app" */
};

/* The chroot is given as `chroot` (may be NULL) or behind the hosts, not
 * both. */
int zkr__hosts_parse(struct zkr__hosts *hosts, const char *text,
                     const char *chroot);

void zkr__hosts_done(struct zkr__hosts *hosts);

/* Returns how many servers such a list has. */
size_t zkr__servers_count(const char *servers);
