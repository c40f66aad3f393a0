/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes data of a node, which anybody may write, as the tool reads it. */
#include "model/lock_state.h"
#include "safe.h"

static bool is_field(const json_t *record, const char *key, const char *text,
                     size_t size)
{
    const char *value = json_string_value(json_object_get(record, key));

    if (value == NULL)
        return text[0] == '\0';
    return strlen(text) < size && strncmp(text, value, strlen(text)) == 0 &&
           (strlen(value) == strlen(text) || strlen(text) == size - 1);
}

#define IS_FIELD(record, owner, name)                                          \
    is_field(record, #name, (owner)->name, sizeof((owner)->name))

static void check_record(const struct zkr__known_owner *owner, const char *data,
                         size_t size)
{
    json_t *record = json_loadb(data, size, 0, NULL);

    CHECK(json_is_object(record));
    CHECK(IS_FIELD(record, owner, host));
    CHECK(IS_FIELD(record, owner, thread));
    CHECK(IS_FIELD(record, owner, program));
    CHECK(IS_FIELD(record, owner, label));
    CHECK(IS_FIELD(record, owner, library));
    CHECK(IS_FIELD(record, owner, start));
    CHECK(strncmp(owner->library, "zkrecipes", 9) == 0);
    CHECK(owner->pid == json_integer_value(json_object_get(record, "pid")));
    CHECK(owner->tid == json_integer_value(json_object_get(record, "tid")));
    json_decref(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t rooms[] = { 1, 40, 2000 };
    char *copy = fuzz_bytes(data, size);
    struct zkr__known_owner owner;

    zkr__owner_read(&owner, copy, size);
    /* The word alone, or with a reason behind it. */
    bool asks = size >= 10 && memcmp(copy, "__REVOKE__", 10) == 0 &&
                (size == 10 || (size > 12 && memcmp(copy + 10, ": ", 2) == 0));
    CHECK(owner.is_record || owner.is_asked == asks);
    if (owner.is_record)
        check_record(&owner, copy, size);
    for (const size_t *room = rooms; room < rooms + 3; room++) {
        char *word = malloc(*room);

        CHECK(word != NULL);
        owner_word(&owner, copy, size, word, *room);
        CHECK(strlen(word) < *room && is_safe(word));
        free(word);
    }
    free(copy);
    return 0;
}
