/* SPDX-License-Identifier: Apache-2.0 */
/* A test registers itself: TEST(name) { ... } in any file of a program is all
 * that it takes. The tests of a file run in the order in which they stand.
 *
 *     FIXTURE(setup, teardown)     for the tests below it; NULL: none
 *     TEST(name) { ... }
 *     TEST_WITH(name, setup, teardown) { ... }  with a fixture of its own
 *     TEST_ROWS(name, rows, row) { ... }        once for each row of an array;
 *                                               row->name names the test
 *
 * A program without a main() runs its tests and needs no more; one with a
 * main() of its own calls test_run_all(). ZKR_TEST_ONLY=PATTERN (with * and ?)
 * runs those whose names match. A watchdog ends a program whose test takes
 * longer than test_patience_s, and names the test. */
#pragma once

#include <pthread.h>

/* cmocka wants these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A call that returns another number than 0, or than that code, fails the test,
 * with the sentence of the library, where the program has it. */
#define gave(code, rc, call) test_gives(code, rc, call, __FILE__, __LINE__)
#define gives(code, call)    gave(code, (call), #call)
#define ok(call)             gave(0, (call), #call)
void test_gives(int code, int rc, const char *call, const char *file, int line);

/* The call ends with that code, and the sentence of the error has that part. */
#define tells(call, code, part)                                                \
    do {                                                                       \
        gives(code, call);                                                     \
        assert_has(zkr_error_detail(), part);                                  \
    } while (0)

/* A text that is there until the test ends. */
const char *textf(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Prints a text into a buffer. */
#define PRINT(buffer, ...) (void)snprintf(buffer, sizeof(buffer), __VA_ARGS__)

/* A part is in a text, or is not. */
#define assert_has(text, part)   test_has(text, part, 1, __FILE__, __LINE__)
#define assert_lacks(text, part) test_has(text, part, 0, __FILE__, __LINE__)
void test_has(const char *text, const char *part, int wanted, const char *file,
              int line);

/* A number of the environment, or the other when it has none. */
long test_number(const char *variable, long otherwise);

/* A thread of a test, and its end. The test fails when there is none. */
pthread_t thread_start(void *(*run)(void *), void *arg);
void *thread_join(pthread_t thread);

/* Returns 0, or the test fails. */
typedef int test_step(void);

struct test_case {
    const char *name;
    const char *row; /* NULL: the test has no rows */
    void (*run)(const void *arg);
    const void *arg;
    test_step *setup;
    test_step *teardown;
    struct test_case *next;
};

/* The fixture of the file that includes this. */
static test_step *test_setup __attribute__((unused));
static test_step *test_teardown __attribute__((unused));

/* 0 means no watchdog. */
extern unsigned test_patience_s; /* 240: less than meson waits */

/* The test that runs, from its setup to its teardown. */
extern const struct test_case *test_current;

/* The caller keeps `test`. */
void test_register(struct test_case *test);

/* Runs all tests that are registered. Returns how many failed. */
int test_run_all(void);
/* The same, with what begins and ends them all; NULL: nothing. */
int test_run_between(test_step *setup, test_step *teardown);

#define FIXTURE(set_up_step, tear_down_step)                                   \
    __attribute__((constructor)) static void test_fixture(void)                \
    {                                                                          \
        test_setup = (set_up_step);                                            \
        test_teardown = (tear_down_step);                                      \
    }

#define TEST(test) TEST_WITH(test, test_setup, test_teardown)

#define TEST_WITH(test, set_up_step, tear_down_step)                           \
    static void test(void);                                                    \
    static void run_##test(const void *arg)                                    \
    {                                                                          \
        (void)arg;                                                             \
        test();                                                                \
    }                                                                          \
    __attribute__((constructor)) static void register_##test(void)             \
    {                                                                          \
        static struct test_case test_case = { .name = #test,                   \
                                              .run = run_##test };             \
                                                                               \
        test_case.setup = (set_up_step);                                       \
        test_case.teardown = (tear_down_step);                                 \
        test_register(&test_case);                                             \
    }                                                                          \
    static void test(void)

#define TEST_ROWS(test, rows, each)                                            \
    static void test(const __typeof__((rows)[0]) *each);                       \
    static void run_##test(const void *arg)                                    \
    {                                                                          \
        test(arg);                                                             \
    }                                                                          \
    __attribute__((constructor)) static void register_##test(void)             \
    {                                                                          \
        static struct test_case cases[COUNT(rows)];                            \
                                                                               \
        for (size_t i = 0; i < COUNT(rows); i++) {                             \
            cases[i] = (struct test_case){ .name = #test,                      \
                                           .row = (rows)[i].name,              \
                                           .run = run_##test,                  \
                                           .arg = &(rows)[i],                  \
                                           .setup = test_setup,                \
                                           .teardown = test_teardown };        \
            test_register(&cases[i]);                                          \
        }                                                                      \
    }                                                                          \
    static void test(const __typeof__((rows)[0]) *each)
