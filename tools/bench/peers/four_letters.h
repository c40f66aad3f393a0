/* SPDX-License-Identifier: Apache-2.0 */
/* The four-letter words: a ZooKeeper server tells of itself. */
#pragma once

/* How many ephemeral nodes the first server of `hosts` has. */
long ephemeral_nodes(const char *hosts);
