/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the strongly connected components of the graph of who waits for whom:
 * two contenders are in the same one if each waits, through others, for the
 * other. Pure. */
#ifndef MODEL_COMPONENTS_H
#define MODEL_COMPONENTS_H

#include "model/wait_graph.h"

/* Writes the number of its component, from 1, for each vertex. False: out of
 * memory. */
bool components_find(const struct wait_graph *graph, size_t *component);

#endif
