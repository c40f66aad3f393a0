/* SPDX-License-Identifier: Apache-2.0 */
/* The contract: every exclusive recipe makes it true.
 *
 *   test-contract [SUBJECT]
 *
 * Each file of contract/ states a subject; contract/adapters.c has the recipes.
 */
#include "contract/stage.h"

#include <stdio.h>
#include <string.h>

enum { MAX_STATEMENTS = 64 };

static const struct subject *const subjects[] = {
    &taking_turns,       &waits_that_end, &releases, &lost_requests,
    &broken_connections, &losses,         &claims,
};

static const char *wanted; /* NULL: all subjects */

/* cmocka keeps the names. */
static char names[MAX_STATEMENTS][128];

static bool is_for(const struct statement *s)
{
    return has(s->for_those) && (s->not_for == 0 || !has(s->not_for)) &&
           (s->nor_for == 0 || !has(s->nor_for));
}

static size_t list_tests(const struct adapter *adapter,
                         const struct subject *subject,
                         struct CMUnitTest tests[MAX_STATEMENTS])
{
    size_t count = 0;

    recipe = adapter;
    for (size_t i = 0; i < subject->count; i++) {
        const struct statement *s = &subject->statements[i];

        if (!is_for(s))
            continue;
        (void)snprintf(names[count], sizeof(names[count]), "%s: %s",
                       adapter->name, s->name);
        tests[count] = (struct CMUnitTest){
            .name = names[count],
            .test_func = s->test,
            .setup_func = stage_set_up,
            .teardown_func = stage_tear_down,
            .initial_state = (void *)adapter,
        };
        count++;
    }
    return count;
}

static int run_subject(const struct subject *subject)
{
    struct CMUnitTest tests[MAX_STATEMENTS];
    int failed = 0;

    for (size_t i = 0; i < adapter_count; i++) {
        size_t count = list_tests(&adapters[i], subject, tests);

        failed +=
            _cmocka_run_group_tests(adapters[i].name, tests, count, NULL, NULL);
    }
    return failed;
}

static int run_group(void)
{
    int failed = 0;

    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
        if (wanted == NULL || strcmp(wanted, subjects[i]->name) == 0)
            failed += run_subject(subjects[i]);
    }
    return failed;
}

static bool is_subject(const char *name)
{
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
        if (strcmp(name, subjects[i]->name) == 0)
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !is_subject(argv[1])) {
        (void)fprintf(stderr, "test-contract: no subject %s\n", argv[1]);
        return 2;
    }
    wanted = argc > 1 ? argv[1] : NULL;
    return run_with_server(NULL, run_group);
}
