/* SPDX-License-Identifier: Apache-2.0 */
/* The synchronous calls of libzookeeper_mt, made bearable for tests. */
#include "admin.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wait.h"

enum {
    SESSION_MS = 30000,
    /* A server that is starting may forget a client that connects at that time;
     * the client then waits in vain for two thirds of its session timeout. */
    CONNECT_WAIT_MS = 2 * SESSION_MS,
    ANY_VERSION = -1,
    READ_TRIES = 3
};

struct admin {
    zhandle_t *zh;
};

static void ignore_log(const char *line)
{
}

/* Without this, every call just after a restart would be ZCONNECTIONLOSS. */
static int await_connection(struct admin *a)
{
    if (a == NULL) /* a test before this one has lost it */
        return ZINVALIDSTATE;
    if (!COMES(zoo_state(a->zh) == ZOO_CONNECTED_STATE ||
                   is_unrecoverable(a->zh) != ZOK,
               CONNECT_WAIT_MS))
        return ZOPERATIONTIMEOUT;
    return zoo_state(a->zh) == ZOO_CONNECTED_STATE ? ZOK : ZSESSIONEXPIRED;
}

/* The code of a call that is made when there is a connection; and of a read,
 * which is made again when that breaks. */
#define CONNECTED(a, call)                                                     \
    __extension__({                                                            \
        int its_code = await_connection(a);                                    \
        its_code != ZOK ? its_code : (call);                                   \
    })
#define READ_AGAIN(a, read)                                                    \
    __extension__({                                                            \
        int code, tries = READ_TRIES;                                          \
                                                                               \
        do                                                                     \
            code = CONNECTED(a, read);                                         \
        while (code == ZCONNECTIONLOSS && --tries > 0);                        \
        code;                                                                  \
    })

int admin_open(const char *hosts, struct admin **ret_admin)
{
    struct admin *a = calloc(1, sizeof(*a));

    if (a == NULL)
        return ZSYSTEMERROR;
    a->zh = zookeeper_init2(hosts, NULL, SESSION_MS, NULL, NULL,
                            ZOO_NO_LOG_CLIENTENV, ignore_log);
    if (a->zh == NULL) {
        free(a);
        return ZSYSTEMERROR;
    }
    int rc = await_connection(a);
    if (rc == ZOK)
        *ret_admin = a;
    else
        admin_close(a);
    return rc;
}

void admin_close(struct admin *a)
{
    if (a == NULL)
        return;
    zookeeper_close(a->zh);
    free(a);
}

int64_t admin_session_id(const struct admin *a)
{
    return zoo_client_id(a->zh)->client_id;
}

/* ZooKeeper's length of "no data" is -1. */
static int data_length(const char *data)
{
    return data == NULL ? -1 : (int)strlen(data);
}

int admin_create_flags(struct admin *a, const char *path, const char *data,
                       int flags, char *out_path, int out_len)
{
    return CONNECTED(a, zoo_create(a->zh, path, data, data_length(data),
                                   &ZOO_OPEN_ACL_UNSAFE, flags, out_path,
                                   out_len));
}

int admin_create_bytes(struct admin *a, const char *path, const char *data,
                       size_t size, int flags)
{
    return CONNECTED(a, zoo_create(a->zh, path, data, (int)size,
                                   &ZOO_OPEN_ACL_UNSAFE, flags, NULL, 0));
}

int admin_create(struct admin *a, const char *path, const char *data)
{
    return admin_create_flags(a, path, data, 0, NULL, 0);
}

int admin_delete(struct admin *a, const char *path)
{
    return CONNECTED(a, zoo_delete(a->zh, path, ANY_VERSION));
}

int admin_set(struct admin *a, const char *path, const char *data)
{
    return CONNECTED(
        a, zoo_set(a->zh, path, data, data_length(data), ANY_VERSION));
}

int admin_set_acl(struct admin *a, const char *path,
                  const struct ACL_vector *acl)
{
    return CONNECTED(a, zoo_set_acl(a->zh, path, ANY_VERSION, acl));
}

int admin_get_acl(struct admin *a, const char *path, char *buf, size_t len)
{
    struct ACL_vector acl = { 0, NULL };
    int rc = READ_AGAIN(a, zoo_get_acl(a->zh, path, &acl, NULL));

    if (rc == ZOK && acl.count > 0)
        (void)snprintf(buf, len, "%s:%s:%d", acl.data[0].id.scheme,
                       acl.data[0].id.id, (int)acl.data[0].perms);
    else if (rc == ZOK)
        rc = ZSYSTEMERROR;
    deallocate_ACL_vector(&acl);
    return rc;
}

int admin_exists(struct admin *a, const char *path, struct Stat *ret_stat)
{
    return READ_AGAIN(a, zoo_exists(a->zh, path, 0, ret_stat));
}

int admin_get(struct admin *a, const char *path, char *buf, int len)
{
    int size;
    int rc = READ_AGAIN(
        a, (size = len - 1, zoo_get(a->zh, path, 0, buf, &size, NULL)));

    if (rc == ZOK)
        buf[size < 0 ? 0 : size] = '\0';
    return rc;
}

/* The digits at the end of a name, ten at most; -1 if there are none. */
static long long sequence_of(const char *name)
{
    size_t end = strlen(name);
    size_t begin = end;

    while (begin > 0 && end - begin < 10 &&
           isdigit((unsigned char)name[begin - 1]))
        begin--;
    return begin == end ? -1 : strtoll(name + begin, NULL, 10);
}

static int compare_names(const void *left, const void *right)
{
    const char *a = *(char *const *)left;
    const char *b = *(char *const *)right;
    long long x = sequence_of(a);
    long long y = sequence_of(b);

    if (x != y)
        return x < y ? -1 : 1;
    return strcmp(a, b);
}

static void ignore_answer(int rc, const char *value, const void *data)
{
}

/* A follower may lag behind. */
static int list_after_sync(zhandle_t *zh, const char *path,
                           struct String_vector *list)
{
    int rc = zoo_async(zh, path, ignore_answer, NULL);

    return rc != ZOK ? rc : zoo_get_children(zh, path, 0, list);
}

int admin_children(struct admin *a, const char *path, char ***ret_names,
                   size_t *ret_count)
{
    struct String_vector list;
    int rc = READ_AGAIN(a, list_after_sync(a->zh, path, &list));

    if (rc != ZOK)
        return rc;
    /* The caller takes over the strings of the vector. */
    *ret_names = list.data;
    *ret_count = (size_t)list.count;
    if (list.count > 0)
        qsort(list.data, *ret_count, sizeof(list.data[0]), compare_names);
    return ZOK;
}

void admin_children_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

int admin_delete_tree(struct admin *a, const char *path)
{
    char **names;
    size_t count;
    int rc = admin_children(a, path, &names, &count);

    if (rc != ZOK)
        return rc == ZNONODE ? ZOK : rc;
    for (size_t i = 0; i < count && rc == ZOK; i++) {
        char *child;

        if (asprintf(&child, "%s/%s", path, names[i]) < 0)
            abort();
        rc = admin_delete_tree(a, child);
        free(child);
    }
    admin_children_free(names, count);
    if (rc == ZOK)
        rc = admin_delete(a, path);
    return rc == ZNONODE ? ZOK : rc;
}
