/* SPDX-License-Identifier: Apache-2.0 */
/* A strict parser of the text format of Prometheus. */
#include "prometheus.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const char *at;
    struct samples *samples;
    char helped[64];   /* the metric of the last HELP */
    char typed[64];    /* the metric of the last TYPE */
    char seen[32][64]; /* all that have had a TYPE */
    size_t seen_count;
};

static bool fail(struct reader *r, const char *why)
{
    (void)snprintf(r->samples->error, sizeof(r->samples->error),
                   "%s at \"%.60s\"", why, r->at);
    return false;
}

/* [a-zA-Z_][a-zA-Z0-9_]* */
static bool read_name(struct reader *r, char *name, size_t size)
{
    size_t n = 0;

    while (isalpha((unsigned char)r->at[n]) || r->at[n] == '_' ||
           (n > 0 && isdigit((unsigned char)r->at[n])))
        n++;
    if (n == 0 || n >= size)
        return fail(r, "no name");
    memcpy(name, r->at, n);
    name[n] = '\0';
    r->at += n;
    return true;
}

static bool expect(struct reader *r, const char *text)
{
    if (strncmp(r->at, text, strlen(text)) != 0)
        return fail(r, text);
    r->at += strlen(text);
    return true;
}

static bool read_value_of_label(struct reader *r, struct label *label)
{
    size_t n = 0;

    for (; *r->at != '"'; r->at++) {
        char c = *r->at;

        if (c == '\0' || c == '\n' || n + 1 >= sizeof(label->value))
            return fail(r, "a label without end");
        if (c == '\\') {
            c = *++r->at;
            if (c != '\\' && c != '"' && c != 'n')
                return fail(r, "an unknown escape");
            if (c == 'n')
                c = '\n';
        }
        label->value[n++] = c;
    }
    label->value[n] = '\0';
    r->at++;
    return true;
}

static bool read_labels(struct reader *r, struct sample *s)
{
    if (*r->at != '{')
        return true;
    do {
        struct label *label = &s->labels[s->label_count];

        r->at++;
        if (s->label_count++ == LABELS_MAX)
            return fail(r, "too many labels");
        if (!read_name(r, label->name, sizeof(label->name)) ||
            !expect(r, "=\"") || !read_value_of_label(r, label))
            return false;
    } while (*r->at == ',');
    return expect(r, "}");
}

static bool is_same(const struct sample *a, const struct sample *b)
{
    if (strcmp(a->name, b->name) != 0 || a->label_count != b->label_count)
        return false;
    for (size_t i = 0; i < a->label_count; i++) {
        if (strcmp(a->labels[i].name, b->labels[i].name) != 0 ||
            strcmp(a->labels[i].value, b->labels[i].value) != 0)
            return false;
    }
    return true;
}

static bool read_sample(struct reader *r)
{
    struct sample *s = &r->samples->items[r->samples->count];
    char *end;

    if (r->samples->count == SAMPLES_MAX)
        return fail(r, "too many samples");
    *s = (struct sample){ .label_count = 0 };
    if (!read_name(r, s->name, sizeof(s->name)) || !read_labels(r, s) ||
        !expect(r, " "))
        return false;
    if (strcmp(s->name, r->typed) != 0)
        return fail(r, "a sample apart from its TYPE");
    s->value = strtod(r->at, &end);
    if (end == r->at)
        return fail(r, "no number");
    r->at = end;
    for (size_t i = 0; i < r->samples->count; i++) {
        if (is_same(s, &r->samples->items[i]))
            return fail(r, "a sample twice");
    }
    r->samples->count++;
    return expect(r, "\n");
}

static bool read_help(struct reader *r)
{
    if (!expect(r, "# HELP ") || !read_name(r, r->helped, sizeof(r->helped)) ||
        !expect(r, " "))
        return false;
    r->at += strcspn(r->at, "\n");
    return expect(r, "\n");
}

static bool read_type(struct reader *r)
{
    if (!expect(r, "# TYPE ") || !read_name(r, r->typed, sizeof(r->typed)))
        return false;
    if (strcmp(r->typed, r->helped) != 0)
        return fail(r, "TYPE without HELP");
    for (size_t i = 0; i < r->seen_count; i++) {
        if (strcmp(r->seen[i], r->typed) == 0)
            return fail(r, "TYPE twice");
    }
    if (r->seen_count == 32)
        return fail(r, "too many metrics");
    memcpy(r->seen[r->seen_count++], r->typed, sizeof(r->typed));
    return expect(r, " gauge\n");
}

bool prometheus_read(const char *text, struct samples *samples)
{
    struct reader r = { .at = text, .samples = samples };
    bool good = true;

    samples->count = 0;
    samples->error[0] = '\0';
    while (good && *r.at != '\0') {
        if (strncmp(r.at, "# H", 3) == 0)
            good = read_help(&r);
        else if (strncmp(r.at, "#", 1) == 0)
            good = read_type(&r);
        else
            good = read_sample(&r);
    }
    return good;
}

const struct sample *prometheus_find(const struct samples *s, const char *name,
                                     const char *lock)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct sample *x = &s->items[i];

        if (strcmp(x->name, name) == 0 &&
            (lock == NULL ? x->label_count == 0
                          : x->label_count > 0 &&
                                strcmp(x->labels[0].name, "lock") == 0 &&
                                strcmp(x->labels[0].value, lock) == 0))
            return x;
    }
    return NULL;
}
