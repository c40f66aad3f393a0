/* SPDX-License-Identifier: Apache-2.0 */
/* A plain ZooKeeper client of the test's own, which serves as a second opinion.
 *
 * It shares no code with the library under test.  All calls wait, on the
 * calling thread, and return a ZooKeeper code (ZOK is 0).  A call first waits
 * up to 10 s for the connection, so it may follow a restart directly.  Reads
 * are repeated when the connection breaks under them; a write then returns
 * ZCONNECTIONLOSS, and may or may not have been done. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <zookeeper/zookeeper.h>

struct admin;

/* Connect with a session of 30 s.  ZOPERATIONTIMEOUT after 10 s without an
 * answer. */
int admin_open(const char *hosts, struct admin **ret_admin);
void admin_close(struct admin *a);

int64_t admin_session_id(const struct admin *a);

/* `data` is text, or NULL for none; nodes are persistent and open to all. */
int admin_create(struct admin *a, const char *path, const char *data);

/* `flags` is ZOO_EPHEMERAL, ZOO_CONTAINER, ... .  `out_path`, if not NULL,
 * receives the name as created and is cut at `out_len`. */
int admin_create_flags(struct admin *a, const char *path, const char *data,
                       int flags, char *out_path, int out_len);

/* The same with any bytes. */
int admin_create_bytes(struct admin *a, const char *path, const char *data,
                       size_t size, int flags);

/* Does so at any version. */
int admin_delete(struct admin *a, const char *path);
int admin_set(struct admin *a, const char *path, const char *data);
int admin_set_acl(struct admin *a, const char *path,
                  const struct ACL_vector *acl);

/* The first entry of the ACL as text, such as "world:anyone:31"; the last is
 * the sum of ZOO_PERM_*. */
int admin_get_acl(struct admin *a, const char *path, char *buf, size_t len);

/* Deletes the node with all below it. Returns ZOK also when it is missing. */
int admin_delete_tree(struct admin *a, const char *path);

/* `ret_stat` may be NULL. */
int admin_exists(struct admin *a, const char *path, struct Stat *ret_stat);

/* Copy the data into `buf` as a string, cut at `len` - 1 bytes. */
int admin_get(struct admin *a, const char *path, char *buf, int len);

/* Lists the children in the order of the sequence number at the end of their
 * names (the last ten digits); names without one come first. The list has
 * everything that was committed before the call. Free it with
 * admin_children_free(). */
int admin_children(struct admin *a, const char *path, char ***ret_names,
                   size_t *ret_count);
void admin_children_free(char **names, size_t count);
