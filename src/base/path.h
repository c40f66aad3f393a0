/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and joins ZooKeeper paths, and checks text that goes into nodes.
 * Pure. */
#pragma once

#include <stdbool.h>

/* Returns why `path` is not a valid absolute path, or NULL when it is. The
 * client and the server check different things; this function checks both. */
const char *zkr__path_fault(const char *path);

/* Returns why `text` may not be shown to people (not UTF-8, or control
 * characters), or NULL when it may. */
const char *zkr__text_fault(const char *text);

/* "/a" + "b" -> "/a/b"; "/" + "b" -> "/b". NULL when out of memory. */
char *zkr__path_join(const char *parent, const char *child);

/* Tells whether `name` is one component and not empty, as the name of a child
 * from a server must be. */
bool zkr__path_is_child_name(const char *name);

/* Tells whether `path` is `root`, or below it. */
bool zkr__path_is_within(const char *path, const char *root);

/* Returns the last component. */
const char *zkr__path_name(const char *path);
