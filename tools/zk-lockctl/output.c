/* Writing the answer to stdout: tables, CSV, and the envelope of JSON. */
#include "output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libsmartcols/libsmartcols.h>

#include "escape.h"
#include "plain.h"
#include "words.h"

enum {
    COLUMNS_MAX = 32,
    CELL_MAX = 4 * 4 * ZKR_PATH_MAX + 1, /* a path, escaped, twice */
};

struct table {
    const struct column *columns;
    size_t chosen[COLUMNS_MAX]; /* which of them, in this order */
    size_t count;
    bool csv;
    bool colored;
    bool any;
    struct libscols_table *scols; /* NULL for CSV */
};

/* --- which columns --- */

static size_t find_column(const struct column *columns, size_t count,
                          const char *name, size_t len)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(columns[i].name) == len &&
            strncasecmp(columns[i].name, name, len) == 0)
            return i;
    }
    return SIZE_MAX;
}

static int fail_column(const struct column *columns, size_t count)
{
    char names[512] = "";
    size_t used = 0;

    for (size_t i = 0; i < count && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
                                 i == 0 ? "" : ",", columns[i].name);
    return lockctl_fail(EX_USAGE, "--columns: choose from %s", names);
}

/* "A,B", or "+A,B": these too. */
static int choose(struct table *t, const char *list, size_t count)
{
    if (list != NULL && list[0] == '+')
        list++;
    else if (list != NULL)
        t->count = 0;
    while (list != NULL && *list != '\0') {
        size_t len = strcspn(list, ",");
        size_t i = find_column(t->columns, count, list, len);

        if (i == SIZE_MAX || t->count == COLUMNS_MAX)
            return fail_column(t->columns, count);
        t->chosen[t->count++] = i;
        list += len + (list[len] == ',');
    }
    return t->count > 0 ? 0 : fail_column(t->columns, count);
}

bool output_wants_color(const struct lockctl *ctl)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    if (ctl->color != COLOR_AUTO)
        return ctl->color == COLOR_ALWAYS;
    return isatty(STDOUT_FILENO) == 1 &&
           (no_color == NULL || no_color[0] == '\0') && term != NULL &&
           strcmp(term, "dumb") != 0;
}

/* --- CSV (RFC 4180) --- */

static void print_csv_cell(const char *text)
{
    if (text[strcspn(text, ",\"\r\n")] == '\0') {
        (void)fputs(text, stdout);
        return;
    }
    (void)putchar('"');
    for (; *text != '\0'; text++)
        (void)printf("%s%c", *text == '"' ? "\"" : "", *text);
    (void)putchar('"');
}

static void print_csv_names(const struct table *t)
{
    for (size_t i = 0; i < t->count; i++)
        (void)printf("%s%s", i == 0 ? "" : ",", t->columns[t->chosen[i]].name);
    (void)fputs("\r\n", stdout);
}

static void print_csv_row(const struct table *t, const char *const *cells)
{
    for (size_t i = 0; i < t->count; i++) {
        const char *cell = cells[t->chosen[i]];
        char plain[CELL_MAX];

        if (i > 0)
            (void)putchar(',');
        print_csv_cell(cell == NULL ? ""
                                    : plain_text(cell, plain, sizeof(plain)));
    }
    (void)fputs("\r\n", stdout);
}

/* --- tables --- */

static bool add_columns(struct table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct column *c = &t->columns[t->chosen[i]];
        int flags = (c->right ? SCOLS_FL_RIGHT : 0) |
                    (c->cuttable ? SCOLS_FL_TRUNC : 0);

        if (scols_table_new_column(t->scols, c->name, c->cuttable ? 0.1 : 1,
                                   flags) == NULL)
            return false;
    }
    return true;
}

/* What is in the cells is escaped already: smartcols must not do it again. */
static bool make_scols(struct table *t)
{
    t->scols = scols_new_table();
    return t->scols != NULL &&
           scols_table_enable_noencoding(t->scols, 1) == 0 &&
           scols_table_enable_colors(t->scols, t->colored) == 0 &&
           add_columns(t);
}

static void free_table(struct table *t)
{
    scols_unref_table(t->scols);
    free(t);
}

int table_new(const struct lockctl *ctl, const struct column *columns,
              size_t count, struct table **ret_table)
{
    struct table *t = calloc(1, sizeof(*t));
    int code;

    if (ctl->format == FORMAT_DOT) {
        free(t);
        return lockctl_fail(EX_USAGE, "-o dot is for graph and deadlocks");
    }
    if (t == NULL)
        return lockctl_fail_error(ZKR_ENOMEM, "");
    t->columns = columns;
    t->csv = ctl->format == FORMAT_CSV;
    t->colored = output_wants_color(ctl);
    for (size_t i = 0; i < count && i < COLUMNS_MAX; i++) {
        if (!columns[i].wide || ctl->format != FORMAT_TABLE)
            t->chosen[t->count++] = i;
    }
    code = choose(t, ctl->columns, count);
    if (code == 0 && !t->csv && !make_scols(t))
        code = lockctl_fail_error(ZKR_ENOMEM, "");
    if (code != 0) {
        free_table(t);
        return code;
    }
    if (t->csv)
        print_csv_names(t);
    *ret_table = t;
    return 0;
}

bool table_row(struct table *t, const char *const *cells, enum look look)
{
    static const char *const colors[] = {
        [LOOK_PLAIN] = NULL,
        [LOOK_DIM] = "\033[2m",
        [LOOK_GOOD] = "green",
        [LOOK_BAD] = "red",
    };
    char plain[CELL_MAX];
    struct libscols_line *line;

    if (t->csv) {
        print_csv_row(t, cells);
        return true;
    }
    line = scols_table_new_line(t->scols, NULL);
    if (line == NULL ||
        (t->colored && scols_line_set_color(line, colors[look]) != 0))
        return false;
    t->any = true;
    for (size_t i = 0; i < t->count; i++) {
        const char *cell = cells[t->chosen[i]];

        if (cell == NULL || cell[0] == '\0')
            cell = "-";
        if (scols_line_set_data(line, i,
                                plain_text(cell, plain, sizeof(plain))) != 0)
            return false;
    }
    return true;
}

int table_end(struct table *t)
{
    bool done = t->csv || !t->any || scols_print_table(t->scols) == 0;

    free_table(t);
    return done ? 0 : lockctl_fail(EX_IOERR, "cannot write the output");
}

/* --- JSON --- */

bool output_is_json(const struct lockctl *ctl)
{
    return ctl->format == FORMAT_JSON || ctl->format == FORMAT_JSONL;
}

/* All but ASCII is written as \uXXXX: nothing in it can do a terminal harm. */
#define DUMP_FLAGS (JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15))

static int dump(json_t *value, size_t flags)
{
    bool done = value != NULL &&
                json_dumpf(value, stdout, DUMP_FLAGS | flags) == 0 &&
                putchar('\n') != EOF;

    json_decref(value);
    return done ? 0 : lockctl_fail(EX_IOERR, "cannot write the output");
}

static json_t *texts_of(const struct notes *notes)
{
    json_t *texts = json_array();

    for (size_t i = 0; i < notes->count; i++)
        (void)json_array_append_new(
            texts, json_text(notes->texts[i], strlen(notes->texts[i])));
    return texts;
}

static int dump_lines(json_t *items, const struct notes *notes)
{
    json_t *item;
    size_t i;
    int code = 0;

    json_array_foreach(items, i, item)
    {
        if (code == 0)
            code = dump(json_incref(item), JSON_COMPACT);
    }
    json_decref(items);
    if (code == 0 && notes->count > 0)
        code =
            dump(json_pack("{s:o}", "warnings", texts_of(notes)), JSON_COMPACT);
    return code;
}

int output_json(const struct lockctl *ctl, const char *kind, int64_t at_ms,
                json_t *items, const struct notes *notes)
{
    if (ctl->format == FORMAT_JSONL)
        return dump_lines(items, notes);
    return dump(json_pack("{s:s, s:s, s:o, s:o, s:o}", "apiVersion",
                          "zkrecipes/v1", "kind", kind, "at", json_time(at_ms),
                          "items", items, "warnings", texts_of(notes)),
                JSON_INDENT(2));
}

json_t *json_text(const char *bytes, size_t size)
{
    json_t *value = NULL;
    char *text;

    if (memchr(bytes, 0x7f, size) == NULL)
        value = json_stringn(bytes, size); /* NULL when it is not UTF-8 */
    if (value != NULL)
        return value;
    text = malloc(size * 4 + 1);
    if (text == NULL)
        return NULL;
    (void)escape_text(bytes, size, text, size * 4 + 1);
    value = json_string(text);
    free(text);
    return value;
}

json_t *json_time(int64_t ms)
{
    char word[WORD_MAX];

    return ms <= 0 || word_time(ms, word)[0] == '\0' ? json_null()
                                                     : json_string(word);
}

json_t *json_token(int64_t token)
{
    char word[WORD_MAX];

    if (token == 0)
        return json_null();
    return json_string(word_token(token, word));
}

json_t *json_session(int64_t session_id)
{
    char word[WORD_MAX];

    return session_id == 0 ? json_null()
                           : json_string(word_id(session_id, word));
}
