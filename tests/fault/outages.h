/* SPDX-License-Identifier: Apache-2.0 */
/* Outages: the ways in which one server or another is not available. */
#pragma once

#include "cluster.h"

struct outage {
    const char *name;
    const char *(*hosts)(void); /* the servers that the calls use */
    void (*strike)(void);
    void (*heal)(void);
};

extern const struct outage outages[];
extern const size_t outage_count;

/* With the_server of the fixture running. */
bool outages_prepare(struct cluster *cluster);
void outages_done(void);
