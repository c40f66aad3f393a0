/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the JSON Schema of all that -o json writes, out of the fields. */
#include "text/fields.h"

#include <string.h>

#include "text/envelope.h"

/* What is no item: the envelope, and the types. */
/* clang-format off */
#define JSON(...) #__VA_ARGS__
static const char fixed[] = JSON({
  "document": {"anyOf": [{"$ref": "#/$defs/answer"}, {"$ref": "#/$defs/failure"}]},
  "failure": {"type": "object", "required": ["apiVersion", "kind", "at", "error"], "properties": {
    "apiVersion": {"const": "zkrecipes/v1"}, "kind": {"const": "Error"},
    "at": {"$ref": "#/$defs/time"}, "error": {"$ref": "#/$defs/error"}}},
  "error": {"type": "object", "required": ["code", "name", "cause", "message"], "properties": {
    "code": {"type": "integer", "minimum": 1},
    "name": {"enum": ["usage", "not_a_lock", "not_readable", "unavailable", "internal", "not_acquired", "forbidden", "configuration", "lost", "other"]},
    "cause": {"$ref": "#/$defs/text_or_null"}, "message": {"type": "string", "pattern": "."}}},
  "answer": {"type": "object", "required": ["apiVersion", "kind", "at", "items", "warnings"], "properties": {
    "apiVersion": {"const": "zkrecipes/v1"}, "kind": {"type": "string"}, "at": {"$ref": "#/$defs/time"},
    "items": {"type": "array"}, "warnings": {"$ref": "#/$defs/texts"}}, "anyOf": []},
  "line": {"type": "object", "anyOf": [
    {"required": ["warnings"], "properties": {"warnings": {"$ref": "#/$defs/texts"}}},
    {"required": ["error"], "properties": {"error": {"$ref": "#/$defs/error"}}}]},
  "time": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z$"},
  "time_or_null": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/time"}]},
  "text_or_null": {"type": ["string", "null"]},
  "texts": {"type": "array", "items": {"type": "string"}},
  "path": {"type": "string", "pattern": "^/"},
  "word": {"type": "string", "pattern": "."},
  "boolean": {"type": "boolean"},
  "boolean_or_null": {"type": ["boolean", "null"]},
  "integer": {"type": "integer"},
  "integer_or_null": {"type": ["integer", "null"]},
  "count": {"type": "integer", "minimum": 0},
  "count_or_null": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/count"}]},
  "token": {"type": ["string", "null"], "pattern": "^-?[0-9]+$"},
  "session": {"type": ["string", "null"], "pattern": "^0x[0-9a-f]+$"}
});
/* clang-format on */

static json_t *reference(const char *name)
{
    return json_pack("{s:s+}", "$ref", "#/$defs/", name);
}

static json_t *one_of(const char *words)
{
    json_t *all = json_array();

    while (*words != '\0') {
        size_t len = strcspn(words, " ");

        (void)json_array_append_new(all, json_stringn(words, len));
        words += len + (words[len] == ' ');
    }
    return json_pack("{s:o}", "enum", all);
}

static void define(json_t *defs, const struct kind *kind);

/* A kind is defined where it is needed first. */
static json_t *reference_to(json_t *defs, const struct kind *kind)
{
    if (json_object_get(defs, kind->name) == NULL)
        define(defs, kind);
    return reference(kind->name);
}

/* The value that `json` makes may be null, where that at `at` never is. */
static json_t *type_of(json_t *defs, const struct field *f)
{
    static const char *const names[][2] = {
        [FIELD_TEXT] = { "text_or_null", "text_or_null" },
        [FIELD_CHARS] = { "text_or_null", "text_or_null" },
        [FIELD_PATH] = { "path", "path" },
        [FIELD_WORD] = { "word", "word" },
        [FIELD_ERROR] = { "word", "word" },
        [FIELD_BOOL] = { "boolean", "boolean_or_null" },
        [FIELD_COUNT] = { "count", "count_or_null" },
        [FIELD_NUMBER] = { "integer", "integer_or_null" },
        [FIELD_MS] = { "count_or_null", "count_or_null" },
        [FIELD_TIME] = { "time_or_null", "time_or_null" },
        [FIELD_TOKEN] = { "token", "token" },
        [FIELD_SESSION] = { "session", "session" },
    };

    if (f->words != NULL)
        return one_of(f->words);
    if (f->type == FIELD_OBJECT)
        return json_pack("{s:[{s:s}, o]}", "anyOf", "type", "null",
                         reference_to(defs, f->kind));
    if (f->type == FIELD_LIST)
        return json_pack("{s:[s,s], s:o}", "type", "array", "null", "items",
                         f->kind == NULL ? reference("path")
                                         : reference_to(defs, f->kind));
    return reference(names[f->type][f->json != NULL]);
}

static void define(json_t *defs, const struct kind *kind)
{
    json_t *properties = json_object();
    json_t *required = json_array();
    json_t *schema = json_pack("{s:s, s:o, s:o}", "type", "object", "required",
                               required, "properties", properties);

    (void)json_object_set_new(defs, kind->name, schema);
    for (const struct field *f = kind->fields; !field_is_end(f); f++) {
        if (f->key == NULL && f->kind != NULL)
            (void)json_object_update_new(schema, reference_to(defs, f->kind));
        if (f->key == NULL)
            continue;
        (void)json_object_set_new(properties, f->key, type_of(defs, f));
        if (!f->lacking)
            (void)json_array_append_new(required, json_string(f->key));
    }
}

/* It is one of the answers, and of the lines. */
static void list(json_t *defs, const struct kind *kind)
{
    json_t *answers = json_object_get(json_object_get(defs, "answer"), "anyOf");
    json_t *lines = json_object_get(json_object_get(defs, "line"), "anyOf");

    if (kind->list[0] != '\0')
        (void)json_array_append_new(
            answers,
            json_pack("{s:{s:{s:s}, s:{s:o}}}", "properties", "kind", "const",
                      kind->list, "items", "items", reference(kind->name)));
    (void)json_array_append_new(lines, reference_to(defs, kind));
}

int schema_print(const struct verb *const *verbs)
{
    json_t *defs = json_loads(fixed, 0, NULL);

    for (; *verbs != NULL; verbs++) {
        const struct kind *const *kind = (*verbs)->kinds;

        for (; kind != NULL && *kind != NULL; kind++)
            list(defs, *kind);
    }
    return output_dump(json_pack(
        "{s:s, s:s, s:s, s:o}", "$schema",
        "https://json-schema.org/draft/2020-12/schema", "title",
        "What zk-lockctl writes with -o json. A line of -o jsonl is one of "
        "line",
        "$ref", "#/$defs/document", "$defs", defs));
}
