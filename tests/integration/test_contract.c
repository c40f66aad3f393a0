/* SPDX-License-Identifier: Apache-2.0 */
/* The contract: every exclusive recipe makes it true.
 *
 *   test-contract [SUBJECT]
 *
 * Each file of contract/ states a subject; adapters.c there has the recipes. */
#include "contract/stage.h"

/* NULL: all subjects. Returns whether there is anything. */
static bool register_subject(const char *subject)
{
    static struct trial trials[1024];
    static struct test_case tests[COUNT(trials)];
    size_t count = 0;
    bool found = false;

    for (size_t i = 0; i < adapter_count; i++) {
        recipe = &adapters[i];
        for (struct statement *s = statements; s != NULL; s = s->next) {
            if (subject != NULL && strcmp(subject, s->subject) != 0)
                continue;
            found = true;
            if (!has(s->for_those) || (s->not_for != 0 && has(s->not_for)) ||
                (s->nor_for != 0 && has(s->nor_for)))
                continue;
            if (count == COUNT(trials))
                abort();
            trials[count] = (struct trial){ .recipe = recipe, .statement = s };
            tests[count] = (struct test_case){ .name = recipe->name,
                                               .row = s->name,
                                               .run = play,
                                               .arg = &trials[count],
                                               .setup = stage_set_up,
                                               .teardown = stage_tear_down };
            test_register(&tests[count++]);
        }
    }
    return found;
}

int main(int argc, char **argv)
{
    if (!register_subject(argc < 2 ? NULL : argv[1])) {
        (void)fprintf(stderr, "test-contract: no subject %s\n", argv[1]);
        return 2;
    }
    return run_with_server(NULL, test_run_all);
}
