/* SPDX-License-Identifier: Apache-2.0 */
/* The contract: every exclusive recipe makes it true.
 *
 *   test-contract [SUBJECT]
 *
 * Each file of contract/ states a subject; contract/adapters.c has the recipes.
 */
#include "contract/stage.h"

static const struct subject *const subjects[] = {
    &taking_turns,       &waits_that_end, &releases, &lost_requests,
    &broken_connections, &losses,         &claims,
};

static bool is_for(const struct statement *s)
{
    return has(s->for_those) && (s->not_for == 0 || !has(s->not_for)) &&
           (s->nor_for == 0 || !has(s->nor_for));
}

static void run_trial(const void *trial)
{
    play(((const struct trial *)trial)->statement->test);
}

static void register_trial(const struct statement *s)
{
    static struct trial trials[1024];
    static struct test_case tests[COUNT(trials)];
    static size_t count;

    if (count == COUNT(trials))
        abort();
    trials[count] = (struct trial){ .recipe = recipe, .statement = s };
    tests[count] = (struct test_case){ .name = recipe->name,
                                       .row = s->name,
                                       .run = run_trial,
                                       .arg = &trials[count],
                                       .setup = stage_set_up,
                                       .teardown = stage_tear_down };
    test_register(&tests[count++]);
}

static void register_subject(const struct subject *subject)
{
    for (size_t i = 0; i < adapter_count; i++) {
        recipe = &adapters[i];
        for (size_t j = 0; j < subject->count; j++) {
            if (is_for(&subject->statements[j]))
                register_trial(&subject->statements[j]);
        }
    }
}

int main(int argc, char **argv)
{
    bool found = argc < 2;

    for (size_t i = 0; i < COUNT(subjects); i++) {
        if (argc < 2 || strcmp(argv[1], subjects[i]->name) == 0) {
            register_subject(subjects[i]);
            found = true;
        }
    }
    if (!found) {
        (void)fprintf(stderr, "test-contract: no subject %s\n", argv[1]);
        return 2;
    }
    return run_with_server(NULL, test_run_all);
}
