/* SPDX-License-Identifier: Apache-2.0 */
#include "text/fields.h"

#include <stdio.h>
#include <string.h>

#include "common/escape.h"
#include "common/words.h"
#include "text/envelope.h"

bool field_is_end(const struct field *f)
{
    return f->column == NULL && f->key == NULL && f->kind == NULL;
}

static const void *place_of(const struct field *f, const void *item)
{
    return f->in == 0 ? item
                      : *(const void *const *)((const char *)item + f->in);
}

static const char *error_at(const struct field *f, const void *place)
{
    int error = *(const int *)((const char *)place + f->at);

    return error == ZKR_OK ? NULL : zkr_strerror(error);
}

static const char *text_at(const struct field *f, const void *item)
{
    const void *place = place_of(f, item);
    const char *text;

    if (f->word != NULL)
        text = f->word(item);
    else if (place == NULL)
        text = NULL;
    else if (f->type == FIELD_ERROR)
        text = error_at(f, place);
    else if (f->type == FIELD_CHARS)
        text = (const char *)place + f->at;
    else
        text = *(const char *const *)((const char *)place + f->at);
    return text == NULL ? "" : text;
}

static int64_t number_at(const struct field *f, const void *place)
{
    const char *at = (const char *)place + f->at;

    if (f->type == FIELD_BOOL)
        return *(const bool *)at;
    if (f->type == FIELD_COUNT)
        return (int64_t) * (const size_t *)at;
    return *(const int64_t *)at;
}

/* --- text --- */

static const char *number_text(const struct field *f, int64_t number,
                               char *room)
{
    if (f->type == FIELD_BOOL)
        return number != 0 ? "yes" : "no";
    if (f->type == FIELD_MS)
        return number < 0 ? "" : word_age(number, room);
    if (f->type == FIELD_TIME)
        return number <= 0 ? "" : word_time(number, room);
    if (f->type == FIELD_SESSION)
        return number == 0 ? "" : word_id(number, room);
    if (f->type == FIELD_TOKEN && number == 0)
        return "";
    return word_token(number, room);
}

const char *field_text(const struct field *f, const void *item,
                       char room[FIELD_ROOM])
{
    const void *place = place_of(f, item);

    if (place == NULL)
        return "";
    if (f->text != NULL) {
        const char *text = f->text(item, room);

        return text == NULL ? "" : text;
    }
    if (f->type == FIELD_WORD || f->type == FIELD_ERROR)
        return text_at(f, item);
    if (f->type < FIELD_WORD)
        return escape_string(text_at(f, item), room, FIELD_ROOM);
    return number_text(f, number_at(f, place), room);
}

void fields_print_line(const struct lockctl *ctl, const struct field *fields,
                       const void *item)
{
    char room[FIELD_ROOM];

    for (const struct field *f = fields; !field_is_end(f); f++) {
        const char *text = "";

        if (f->column != NULL && (!f->wide || ctl->format == FORMAT_WIDE))
            text = field_text(f, item, room);
        if (text[0] != '\0')
            (void)printf("%s%s%s", f == fields ? "" : " ", f->column, text);
    }
    (void)putchar('\n');
}

/* --- the order --- */

int64_t field_number(const struct field *f, const void *item)
{
    const void *place = place_of(f, item);

    return place == NULL ? INT64_MIN : number_at(f, place);
}

int field_compare(const struct field *f, const void *a, const void *b)
{
    int64_t x, y;

    if (f->type <= FIELD_ERROR)
        return strcmp(text_at(f, a), text_at(f, b));
    x = field_number(f, a);
    y = field_number(f, b);
    return (x < y) - (x > y);
}

/* --- JSON --- */

static json_t *number_json(const struct field *f, int64_t number)
{
    char room[WORD_MAX];

    if (f->type == FIELD_BOOL)
        return json_boolean(number != 0);
    if (f->type == FIELD_MS && number < 0)
        return json_null();
    if (f->type < FIELD_TIME)
        return json_integer((json_int_t)number);
    const char *text = number_text(f, number, room);
    return text[0] == '\0' ? json_null() : json_string(text);
}

static json_t *value_of(const struct field *f, const void *item,
                        const void *place)
{
    if (place == NULL)
        return json_null();
    if (f->json != NULL)
        return f->json(item);
    if (f->type == FIELD_OBJECT)
        return fields_json(f->kind->fields, place);
    if (f->type > FIELD_ERROR)
        return number_json(f, number_at(f, place));
    const char *text = text_at(f, item);
    return text[0] == '\0' ? json_null() : json_text(text, strlen(text));
}

static void add_fields(json_t *all, const struct field *fields,
                       const void *item)
{
    for (const struct field *f = fields; !field_is_end(f); f++) {
        const void *place = place_of(f, item);

        if (f->lacking && (place == NULL || (f->type == FIELD_ERROR &&
                                             error_at(f, place) == NULL)))
            continue;
        if (f->key != NULL)
            (void)json_object_set_new(all, f->key, value_of(f, item, place));
        else if (f->kind != NULL)
            add_fields(all, f->kind->fields, place);
    }
}

json_t *fields_json(const struct field *fields, const void *item)
{
    json_t *all = item == NULL ? json_null() : json_object();

    if (item != NULL)
        add_fields(all, fields, item);
    return all;
}

json_t *fields_list(const struct field *fields, const void *items, size_t count,
                    size_t size)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        (void)json_array_append_new(
            list, fields_json(fields, (const char *)items + i * size));
    return list;
}
