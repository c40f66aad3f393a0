/* SPDX-License-Identifier: Apache-2.0 */
/* The list of tests that registered themselves, and the watchdog. */
#include "test.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

unsigned test_patience_s = 240;
const struct test_case *test_current;

static struct test_case *first;
static struct test_case **last = &first;
static size_t total;
static char hangs[256]; /* the line that the watchdog writes */

/* Programs without the library have neither. */
const char *zkr_strerror(int code) __attribute__((weak));
const char *zkr_error_detail(void) __attribute__((weak));

void test_gives(int code, int rc, const char *call, const char *file, int line)
{
    if (rc == code)
        return;
    print_error("%s returns %d, not %d", call, rc, code);
    if (zkr_strerror != NULL && zkr_error_detail != NULL)
        print_error(", %s: %s", zkr_strerror(rc), zkr_error_detail());
    print_error("\n");
    _fail(file, line);
}

struct kept_text {
    struct kept_text *next;
    char text[];
};

static struct kept_text *kept_texts;
static pthread_mutex_t texts_lock = PTHREAD_MUTEX_INITIALIZER;

void test_has(const char *text, const char *part, int wanted, const char *file,
              int line)
{
    if (text != NULL && (strstr(text, part) != NULL) == wanted)
        return;
    print_error("%s'%s' in: %.9000s\n", wanted ? "no " : "", part,
                text == NULL ? "(no text)" : text);
    _fail(file, line);
}

const char *textf(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    size_t size = (size_t)vsnprintf(NULL, 0, format, args) + 1;
    va_end(args);
    struct kept_text *kept = malloc(sizeof(*kept) + size);
    if (kept == NULL)
        abort();
    va_start(args, format);
    (void)vsnprintf(kept->text, size, format, args);
    va_end(args);
    (void)pthread_mutex_lock(&texts_lock);
    kept->next = kept_texts;
    kept_texts = kept;
    (void)pthread_mutex_unlock(&texts_lock);
    return kept->text;
}

long test_number(const char *variable, long otherwise)
{
    const char *text = getenv(variable);

    return text != NULL ? strtol(text, NULL, 0) : otherwise;
}

pthread_t thread_start(void *(*main)(void *), void *arg)
{
    pthread_t thread;

    ok(pthread_create(&thread, NULL, main, arg));
    return thread;
}

void *thread_join(pthread_t thread)
{
    void *result = NULL;

    ok(pthread_join(thread, &result));
    return result;
}

void test_register(struct test_case *test)
{
    *last = test;
    last = &test->next;
    total++;
}

static void on_alarm(int signal_number)
{
    (void)!write(STDERR_FILENO, hangs, strlen(hangs));
    abort();
}

static char *name_of(const struct test_case *test)
{
    char *name = NULL;

    if (asprintf(&name, "%s%s%s", test->name, test->row != NULL ? ": " : "",
                 test->row != NULL ? test->row : "") < 0)
        abort();
    return name;
}

static int begin(void **state)
{
    const struct test_case *test = *state;
    char *name = name_of(test);

    test_current = test;
    if (getenv("ZKR_TEST_NAME") != NULL) /* tests/mutants/chosen.h asks */
        (void)setenv("ZKR_TEST_NAME", name, 1);
    (void)snprintf(hangs, sizeof(hangs), "%s hangs: it takes over %u s\n", name,
                   test_patience_s);
    free(name);
    (void)signal(SIGALRM, on_alarm);
    (void)alarm(test_patience_s);
    return test->setup != NULL ? test->setup() : 0;
}

static void run(void **state)
{
    const struct test_case *test = *state;

    test->run(test->arg);
}

static int end(void **state)
{
    const struct test_case *test = *state;
    int rc = test->teardown != NULL ? test->teardown() : 0;

    (void)alarm(0);
    for (struct kept_text *kept; (kept = kept_texts) != NULL; free(kept))
        kept_texts = kept->next;
    return rc;
}

int test_run_between(test_step *setup, test_step *teardown)
{
    struct CMUnitTest *tests = calloc(total, sizeof(*tests));
    size_t n = 0;

    if (tests == NULL)
        abort();
    (void)setenv("TZ", "NPT-5:45", 0); /* local time is not what is written */
    for (struct test_case *t = first; t != NULL; t = t->next)
        tests[n++] = (struct CMUnitTest){ .name = name_of(t),
                                          .test_func = run,
                                          .setup_func = begin,
                                          .teardown_func = end,
                                          .initial_state = t };
    cmocka_set_test_filter(getenv("ZKR_TEST_ONLY"));
    bool ready = setup == NULL || setup() == 0;
    int failed = !ready ? 1
                        : _cmocka_run_group_tests(program_invocation_short_name,
                                                  tests, n, NULL, NULL);
    if (!ready) /* tools/test.sh tries it again, as after an ERROR of cmocka */
        (void)fprintf(stderr, "[  ERROR   ] the setup before all tests\n");
    else if (teardown != NULL && teardown() != 0)
        failed++;
    while (n > 0)
        free((char *)(uintptr_t)tests[--n].name);
    free(tests);
    return failed;
}

int test_run_all(void)
{
    return test_run_between(NULL, NULL);
}

/* Of programs that have none. */
__attribute__((weak)) int main(void)
{
    return test_run_all();
}
