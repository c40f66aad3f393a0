/* SPDX-License-Identifier: Apache-2.0 */
/* Copies for the program: of what it asks for, and of what is answered. */
#include "request/copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "session/session.h"

/* The digits of a sequential node. */
#define NUMBER_LEN 10

const char *zkr__copy_verb(enum zkr__zk_type type)
{
    static const char *const verbs[ZKR__ZK_TYPES] = {
        [ZKR__ZK_CREATE] = "create", [ZKR__ZK_DELETE] = "delete",
        [ZKR__ZK_EXISTS] = "exists", [ZKR__ZK_GET] = "get",
        [ZKR__ZK_SET] = "set",       [ZKR__ZK_CHILDREN] = "children",
        [ZKR__ZK_SYNC] = "sync",     [ZKR__ZK_CHECK] = "check",
    };

    return verbs[type];
}

/* The servers do not tell which version the node has. */
const char *zkr__copy_reason(const struct zkr__copy *o, int rc, const char *why,
                             char text[ZKR__REASON_MAX])
{
    size_t len = (size_t)(strrchr(o->path, '/') - o->path);

    if (rc == ZKR_ZNONODE && o->request.type == ZKR__ZK_CREATE)
        (void)snprintf(text, ZKR__REASON_MAX,
                       "its parent '%.*s' does not exist",
                       len == 0    ? 1
                       : len > 150 ? 150
                                   : (int)len,
                       o->path);
    else if (rc == ZKR_ZBADVERSION)
        (void)snprintf(text, ZKR__REASON_MAX,
                       "expected version %d, found another",
                       (int)o->request.version);
    else
        return why;
    return text;
}

static bool is_sequential(enum zkr_create_mode mode)
{
    return mode == ZKR_CREATE_PERSISTENT_SEQUENTIAL ||
           mode == ZKR_CREATE_EPHEMERAL_SEQUENTIAL ||
           mode == ZKR_CREATE_TTL_SEQUENTIAL;
}

static int check_opts(const struct zkr_create_opts *o)
{
    bool has_ttl =
        o->mode == ZKR_CREATE_TTL || o->mode == ZKR_CREATE_TTL_SEQUENTIAL;

    if ((unsigned)o->mode > ZKR_CREATE_TTL_SEQUENTIAL)
        return zkr__fail(ZKR_EINVAL, "create options: unknown mode %d",
                         (int)o->mode);
    if (o->reserved != 0)
        return zkr__fail(ZKR_EINVAL, "create options: reserved is not 0");
    if (has_ttl ? o->ttl_ms < 1 || o->ttl_ms > ZKR_TTL_MAX_MS : o->ttl_ms != 0)
        return zkr__fail(ZKR_EINVAL,
                         "create options: ttl_ms %lld does not fit the mode",
                         (long long)o->ttl_ms);
    return ZKR_OK;
}

/* A lock may have a path of ZKR_PATH_MAX, and its nodes are below it. */
static size_t longest(const struct zkr__zk_request *asked,
                      enum zkr_create_mode mode)
{
    bool reads = asked->type == ZKR__ZK_GET || asked->type == ZKR__ZK_EXISTS ||
                 asked->type == ZKR__ZK_CHILDREN;

    return reads                 ? 2 * ZKR_PATH_MAX
           : is_sequential(mode) ? ZKR_PATH_MAX - NUMBER_LEN
                                 : ZKR_PATH_MAX;
}

static int check(const struct zkr_session *s,
                 const struct zkr__zk_request *asked, enum zkr_create_mode mode)
{
    const char *verb = zkr__copy_verb(asked->type);
    int rc = zkr__session_check_path(s, verb, "path", asked->path,
                                     longest(asked, mode));

    if (rc != ZKR_OK)
        return rc;
    if (asked->data == NULL && asked->data_len > 0)
        return zkr__fail(ZKR_EINVAL, "%s '%.300s': data is NULL", verb,
                         asked->path);
    if (asked->data_len > ZKR_DATA_MAX)
        return zkr__fail(ZKR_ETOOLONG, "%s '%.300s': %zu bytes, at most %d",
                         verb, asked->path, asked->data_len, ZKR_DATA_MAX);
    return ZKR_OK;
}

static int copy(struct zkr__copy *o, const struct zkr_session *s,
                const struct zkr__zk_request *asked)
{
    char *data = malloc(asked->data_len + 1);

    o->path = strdup(asked->path);
    o->request = *asked;
    o->request.data = data;
    o->request.path = zkr__session_full_path(s, asked->path);
    if (o->path == NULL || data == NULL || o->request.path == NULL)
        return zkr__no_memory(zkr__copy_verb(asked->type), asked->path);
    if (asked->data_len > 0)
        memcpy(data, asked->data, asked->data_len);
    return ZKR_OK;
}

static int copy_opts(struct zkr__copy *o, const struct zkr_create_opts *opts)
{
    o->request.mode = (enum zkr_create_mode)opts->mode;
    o->request.special = &o->special;
    o->special.ttl_ms = opts->ttl_ms;
    if (opts->acl == NULL)
        return ZKR_OK;
    o->special.acl = &o->acl;
    return zkr__acl_parse(&o->acl, opts->acl);
}

int zkr__copy_init(struct zkr__copy *o, const struct zkr_session *s,
                   const struct zkr__zk_request *asked,
                   const struct zkr_create_opts *opts)
{
    struct zkr_create_opts checked;
    int rc = zkr__opts_load(&checked, sizeof(checked), sizeof(checked), opts,
                            "create options");

    *o = (struct zkr__copy){ 0 };
    if (rc == ZKR_OK)
        rc = check_opts(&checked);
    if (rc == ZKR_OK)
        rc = check(s, asked, checked.mode);
    if (rc == ZKR_OK)
        rc = copy(o, s, asked);
    if (rc == ZKR_OK && asked->type == ZKR__ZK_CREATE)
        rc = copy_opts(o, &checked);
    if (rc != ZKR_OK)
        zkr__copy_done(o);
    return rc;
}

void zkr__copy_done(struct zkr__copy *o)
{
    free(o->path);
    free((char *)(uintptr_t)o->request.path);
    free((char *)(uintptr_t)o->request.data);
    zkr__acl_done(&o->acl);
    *o = (struct zkr__copy){ 0 };
}

/* -- of replies ------------------------------------------------------------ */

/* A path that is shorter than the chroot is none of ours. */
static const char *without_chroot(const char *path, size_t chroot_len)
{
    if (path == NULL || strlen(path) < chroot_len)
        return NULL;
    return path[chroot_len] == '\0' ? "/" : path + chroot_len;
}

/* Copies `len` bytes and a NUL to *end, and moves that. */
static const char *append(char **end, const char *bytes, size_t len)
{
    char *begin = *end;

    memcpy(begin, bytes, len);
    begin[len] = '\0';
    *end += len + 1;
    return begin;
}

static size_t size_of_names(const struct zkr__zk_reply *from)
{
    size_t size = from->name_count * sizeof(char *);

    for (size_t i = 0; i < from->name_count; i++)
        size += strlen(from->names[i]) + 1;
    return size;
}

struct zkr_reply *zkr__reply_copy(const struct zkr__zk_reply *from,
                                  size_t chroot_len)
{
    const char *path = without_chroot(from->path, chroot_len);
    size_t len = from->data == NULL ? 0 : from->data_len;
    struct zkr_reply *to =
        calloc(1, sizeof(*to) + size_of_names(from) + len + 1 +
                      (path == NULL ? 0 : strlen(path) + 1));

    if (to == NULL)
        return NULL;
    const char **names = (const char **)(to + 1);
    char *end = (char *)(names + from->name_count);
    for (size_t i = 0; i < from->name_count; i++)
        names[i] = append(&end, from->names[i], strlen(from->names[i]));
    to->names = from->name_count == 0 ? NULL : names;
    to->count = from->name_count;
    to->data = from->data == NULL ? NULL : append(&end, from->data, len);
    to->len = len;
    to->path = path == NULL ? NULL : append(&end, path, strlen(path));
    to->stat = from->stat;
    return to;
}

void zkr_reply_free(struct zkr_reply *reply)
{
    free(reply);
}
