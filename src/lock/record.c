/* SPDX-License-Identifier: Apache-2.0 */
/* Records: what claims write into their nodes, one for all claims that would
 * write the same. */
#include "lock/record.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/thread.h"
#include "protocol/owner.h"

struct zkr__record *zkr__record_of(const void *data, size_t size)
{
    struct zkr__record *record = malloc(sizeof(*record) + size + 1);

    if (record == NULL)
        return NULL;
    record->len = size;
    memcpy(record->data, data, size);
    record->data[size] = '\0';
    return record;
}

/* It calls the system, where a thread could be cancelled. */
static struct zkr__record *make(const struct zkr__owner *owner)
{
    struct zkr__record *record = NULL;
    char data[ZKR__OWNER_MAX + 1];
    size_t len;
    ZKR__NOT_CANCELLED;

    if (zkr__owner_write(owner, data, &len) == ZKR_OK)
        record = zkr__record_of(data, len);
    return record;
}

struct zkr__record *zkr__record_get(const struct zkr__owner *owner,
                                    struct zkr__record *_Atomic *shared)
{
    struct zkr__record *first = NULL;

    if (owner->thread != NULL || owner->claim != NULL)
        return make(owner);
    if (atomic_load(shared) != NULL)
        return atomic_load(shared);
    struct zkr__record *record = make(owner);
    if (record == NULL ||
        atomic_compare_exchange_strong(shared, &first, record))
        return record;
    free(record); /* another thread was faster */
    return first;
}

void zkr__record_put(struct zkr__record *record,
                     struct zkr__record *_Atomic *shared)
{
    if (record != atomic_load(shared))
        free(record);
}
