/* Validating and joining ZooKeeper paths, and text that goes into nodes. Pure.
 */
#ifndef ZKR__PATH_H
#define ZKR__PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Why `path` is no valid absolute path, or NULL when it is. The client and the
 * server check different things; this is the stricter of both. */
const char *zkr__path_fault(const char *path);

/* Why `text` may not be shown to people: not UTF-8, or control characters.
 * NULL when it may. */
const char *zkr__text_fault(const char *text);

/* "/a" + "b" -> "/a/b"; "/" + "b" -> "/b". NULL when out of memory. */
char *zkr__path_join(const char *parent, const char *child);

/* A child's name as a server may send it: one component, not empty. */
bool zkr__path_is_child_name(const char *name);

/* The last component. */
const char *zkr__path_name(const char *path);

#endif
