/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the members of an event that watch has told in JSON. Pure. */
#include "model/told_event.h"

#include <string.h>

#include "common/moment.h"
#include "common/words.h"

const char *told_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text == NULL ? "" : text;
}

int64_t told_time(const json_t *object, const char *key)
{
    int64_t ms;

    return moment_read(told_text(object, key), 0, &ms) && ms > 0 ? ms : 0;
}

int64_t told_token(const json_t *object, const char *key)
{
    int64_t token;

    return word_read_token(told_text(object, key), &token) ? token : 0;
}

int64_t told_ms(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) && json_integer_value(value) >= 0
               ? json_integer_value(value)
               : -1;
}

char *told_data(const json_t *contender)
{
    const json_t *owner = json_object_get(contender, "owner");

    return json_is_object(owner) ? json_dumps(owner, JSON_COMPACT)
                                 : strdup(told_text(contender, "data"));
}

bool told_contender(const json_t *event)
{
    return told_text(event, "path")[0] == '/' &&
           told_text(json_object_get(event, "contender"), "node")[0] != '\0';
}

bool told_to_watch(const json_t *event, const char *root)
{
    const json_t *paths = json_object_get(event, "paths");
    const json_t *path;
    size_t i;

    json_array_foreach(paths, i, path)
    {
        const char *text = json_string_value(path);

        if (text != NULL && strcmp(text, root) == 0)
            return true;
    }
    return json_is_null(paths);
}
