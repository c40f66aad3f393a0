/* SPDX-License-Identifier: Apache-2.0 */
/* Parses one transaction of a ZooKeeper server: its header, and the nodes that
 * it creates, deletes or writes. Pure: the bytes may be anything. */
#include "model/transaction.h"

#include <string.h>

bool txn_read(struct txn *txn, struct bytes bytes)
{
    struct wire w = wire_of(bytes);

    txn->session = wire_long(&w);
    txn->cxid = wire_int(&w);
    txn->zxid = wire_long(&w);
    txn->time_ms = wire_long(&w);
    txn->type = wire_int(&w);
    txn->body = (struct bytes){ (const char *)w.at, w.left };
    return !w.failed;
}

struct reading {
    const struct txn *txn;
    change_fn *fn;
    void *user;
};

/* False: no server has a node of that path. */
static bool tell(const struct reading *r, const struct change *change)
{
    if (change->path.size == 0 || change->path.at[0] != '/' ||
        memchr(change->path.at, '\0', change->path.size) != NULL)
        return false;
    r->fn(r->txn, change, r->user);
    return true;
}

static void skip_acls(struct wire *w)
{
    int32_t count = wire_int(w);

    for (int32_t i = 0; i < count && !w->failed; i++) {
        (void)wire_int(w);
        (void)wire_bytes(w);
        (void)wire_bytes(w);
    }
}

/* The records that change a node: the fields in their front, of path, data,
 * ACLs, and whether it is ephemeral. A container, and a node with a time to
 * live, belong to no session. */
static const struct form {
    int32_t type;
    enum change_kind kind;
    const char *fields;
} forms[] = {
    { TXN_CREATE, CHANGE_CREATE, "pdae" },
    { TXN_CREATE2, CHANGE_CREATE, "pdae" },
    { TXN_CREATE_CONTAINER, CHANGE_CREATE, "pda" },
    { TXN_CREATE_TTL, CHANGE_CREATE, "pda" },
    { TXN_DELETE, CHANGE_DELETE, "p" },
    { TXN_DELETE_CONTAINER, CHANGE_DELETE, "p" },
    { TXN_SET_DATA, CHANGE_WRITE, "pd" },
    { TXN_RECONFIG, CHANGE_WRITE, "pd" },
};

static bool read_form(const struct reading *r, const struct form *form,
                      struct wire *w)
{
    struct change c = { .kind = form->kind };

    for (const char *field = form->fields; *field != '\0'; field++) {
        if (*field == 'p')
            c.path = wire_bytes(w);
        else if (*field == 'd')
            c.data = wire_bytes(w);
        else if (*field == 'a')
            skip_acls(w);
        else
            c.ephemeral = wire_number(w, 1) != 0;
    }
    return !w->failed && tell(r, &c);
}

/* Servers before 3.6 do not list the nodes; then what follows may be
 * anything. */
static bool read_close(const struct reading *r, struct wire *w)
{
    struct change c = { .kind = CHANGE_CLOSE };
    struct wire list = *w;
    int32_t count = wire_int(&list);

    for (int32_t i = 0; i < count && !list.failed; i++) {
        c.path = wire_bytes(&list);
        if (!list.failed)
            (void)tell(r, &c);
    }
    c.path = (struct bytes){ "", 0 };
    r->fn(r->txn, &c, r->user);
    return true;
}

static bool read_one(const struct reading *r, int32_t type, struct wire *w)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (forms[i].type == type)
            return read_form(r, &forms[i], w);
    }
    if (type == TXN_CLOSE_SESSION)
        return read_close(r, w);
    return type == TXN_CREATE_SESSION || type == TXN_SET_ACL ||
           type == TXN_CHECK || type == TXN_ERROR;
}

/* Each part is a type and a record. A multi that has failed has errors for
 * parts. */
static bool read_multi(const struct reading *r, struct wire *w)
{
    int32_t count = wire_int(w);
    bool known = count >= 0;

    for (int32_t i = 0; i < count && !w->failed; i++) {
        int32_t type = wire_int(w);
        struct bytes body = wire_bytes(w);
        struct wire part = wire_of(body);

        if (!w->failed)
            known = read_one(r, type, &part) && known;
    }
    return known && !w->failed;
}

bool txn_changes(const struct txn *txn, change_fn *fn, void *user)
{
    const struct reading r = { txn, fn, user };
    struct wire w = wire_of(txn->body);

    return txn->type == TXN_MULTI ? read_multi(&r, &w)
                                  : read_one(&r, txn->type, &w);
}
