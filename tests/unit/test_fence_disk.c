/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the files of a fence: the order in which it writes them, for the
 * case that the machine crashes, and its reaction to the files that it finds;
 * the rule that accepts a token, and the text of its record. */
#include <sys/stat.h>

#include "fence/fence_record.h"
#include "fence_dir.h"
#include "unit.h"

/* The logged calls, "sync fence.new, rename, ...", since start_log(). */
static char calls[512];
static int calls_left = -1; /* until one fails; < 0: none does */

static bool fails(const char *what, const char *name)
{
    size_t len = strlen(calls);

    (void)snprintf(calls + len, sizeof(calls) - len, "%s%s%s",
                   len == 0 ? "" : ", ", what, name);
    if (calls_left-- != 0)
        return false;
    errno = EIO;
    return true;
}

/* "" when it is none. */
static const char *path_of(int fd)
{
    static char path[256];

    ssize_t len =
        readlink(textf("/proc/self/fd/%d", fd), path, sizeof(path) - 1);
    path[len < 0 ? 0 : len] = '\0';
    return path;
}

WRAP(int, fsync, (int fd))
{
    const char *path = path_of(fd);

    assert_has(path, dir);
    if (fails("sync ", strcmp(path, dir) == 0 ? "dir" : strrchr(path, '/') + 1))
        return -1;
    return __real_fsync(fd);
}

WRAP(int, renameat,
     (int from_dir, const char *from, int to_dir, const char *to))
{
    return fails("rename", "") ? -1
                               : __real_renameat(from_dir, from, to_dir, to);
}

static void start_log(int good)
{
    calls[0] = '\0';
    calls_left = good;
}

FIXTURE(make_dir, remove_dir)

/* A file must not have its name before its contents are on the disk. */
TEST(an_accepted_token_is_on_the_disk)
{
    AUTO(fence) f = open_fence();

    start_log(-1);
    ok(zkr_fence_accept(f, 5, 0));
    assert_string_equal(calls, "sync fence.new, rename, sync dir");
    start_log(-1);
    ok(zkr_fence_accept(f, 5, 0)); /* it is there */
    assert_string_equal(calls, "");
}

/* The writer has failed, or was killed, before the record was on the disk. A
 * fence that finds the record cannot tell. */
TEST(a_token_written_by_another_is_written_once_more)
{
    static const char written[] = "sync fence.new, rename, sync dir";
    AUTO(fence) f = open_fence();
    AUTO(fence) other = open_fence();

    start_log(2);
    gives(ZKR_ESYSTEM, zkr_fence_accept(f, 5, 0));
    assert_string_equal(calls, written);
    assert_true(highest(other) == 5);
    start_log(-1);
    ok(zkr_fence_accept(other, 5, 0));
    assert_string_equal(calls, written);
    start_log(-1);
    ok(zkr_fence_accept(f, 5, 0));
    assert_string_equal(calls, written);
    start_log(-1);
    ok(zkr_fence_accept(f, 5, 0));
    ok(zkr_fence_accept(other, 5, 0));
    assert_string_equal(calls, "");
}

/* The lock file says that there was a fence, but not before there is one. */
TEST(a_fence_is_on_the_disk_before_it_must_be_there)
{
    start_log(-1);
    AUTO(fence) f = open_fence();
    assert_string_equal(calls, "sync fence.new, rename, sync dir, "
                               "sync fence.lock, sync dir");
    start_log(-1);
    zkr_fence_free(f);
    f = open_fence();
    assert_string_equal(calls, "");
}

/* Processes of several users may share a fence. */
TEST(the_umask_says_who_may_use_its_files)
{
    mode_t mask = umask(0);
    AUTO(fence) f = open_fence();

    ok(zkr_fence_accept(f, 5, 0));
    (void)umask(mask);
    for (int i = 0; i < 2; i++) {
        struct stat there;

        ok(stat(i == 0 ? file : in_dir("fence.lock"), &there));
        assert_int_equal(there.st_mode & 0777, 0666);
    }
}

TEST(a_disk_that_fails_is_an_error)
{
    AUTO(fence) f = open_fence();

    for (int good = 0; good < 3; good++) {
        start_log(good);
        tells(zkr_fence_accept(f, 5 + good, 0), ZKR_ESYSTEM, strerror(EIO));
        assert_int_equal(access(in_dir("fence.new"), F_OK), -1);
        start_log(-1);
        /* After the rename the record may or may not survive a crash: no caller
         * was told that it was accepted. */
        assert_true(highest(f) == (good < 2 ? 0 : 7));
    }
}

TEST(a_set_up_that_fails_is_an_error)
{
    zkr_fence *f = NULL;

    for (int good = 0; good < 5; good++) {
        start_log(good);
        gives(ZKR_ESYSTEM, zkr_fence_new(OPTS(fence, .file = file), &f));
        assert_null(f);
        (void)unlink(in_dir("fence.lock"));
        (void)unlink(file);
    }
}

/* The file that a crash has left is longer than the one that is written now. */
TEST(a_new_file_that_was_left_is_overwritten)
{
    static const char text[] =
        "zkrecipes fence 1, highest 1234567890123456789, exclusive "
        "1234567890123456789, crc32 00000000\n";
    AUTO(fence) f = open_fence();

    write_file(in_dir("fence.new"), text, strlen(text));
    ok(zkr_fence_accept(f, 5, 0));
    assert_true(highest(f) == 5);
}

/* Where others may write, a link must not make us write elsewhere. */
TEST(links_are_not_followed)
{
    zkr_fence *f = open_fence();
    zkr_fence *none = NULL;
    struct stat there;

    write_file(in_dir("other"), "theirs", strlen("theirs"));
    assert_int_equal(symlink("other", in_dir("fence.new")), 0);
    gives(ZKR_ESYSTEM, zkr_fence_accept(f, 5, 0));
    assert_int_equal(stat(in_dir("other"), &there), 0);
    assert_int_equal(there.st_size, strlen("theirs"));
    zkr_fence_free(f);
    assert_int_equal(unlink(in_dir("fence.lock")), 0);
    assert_int_equal(symlink("none", in_dir("fence.lock")), 0);
    gives(ZKR_ESYSTEM, zkr_fence_new(OPTS(fence, .file = file), &none));
    assert_int_equal(access(in_dir("none"), F_OK), -1);
}

/* A program that is started in a section must not keep the lock. */
TEST(no_descriptor_is_inherited)
{
    AUTO(fence) f = open_fence();
    int seen = 0;

    for (int fd = 0; fd < 256; fd++) {
        if (strstr(path_of(fd), dir) == NULL)
            continue;
        seen++;
        assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    }
    assert_int_equal(seen, 2); /* the directory and the lock */
}

TEST(writers_never_go_back)
{
    struct zkr__fence_record r = { 0, 0, 0 };

    assert_true(zkr__fence_record_accept(&r, 5, 0, false));
    assert_true(zkr__fence_record_accept(&r, 5, 0, false));
    assert_false(zkr__fence_record_accept(&r, 4, 0, false));
    /* The counter begins again at 0 in each epoch. */
    assert_true(zkr__fence_record_accept(&r, INT64_C(0x1ffffffff), 0, false));
    assert_true(zkr__fence_record_accept(&r, INT64_C(0x200000001), 0, false));
    assert_false(zkr__fence_record_accept(&r, INT64_C(0x1ffffffff), 0, false));
    assert_false(zkr__fence_record_accept(&r, INT64_C(0x1ffffffff), 0, true));
    assert_true(zkr__fence_record_accept(&r, INT64_MAX, 0, false));
    assert_false(zkr__fence_record_accept(&r, INT64_MAX - 1, 0, false));
    assert_true(r.highest == INT64_MAX && r.exclusive == INT64_MAX);
}

/* Neighbours have the lock node, and so the token, one after the other: without
 * the count a late write of the first one overwrote that of the next. */
TEST(a_neighbour_is_older_by_its_hand_off_count)
{
    struct zkr__fence_record r = { 0, 0, 0 };

    assert_true(zkr__fence_record_accept(&r, 5, 3, false));
    assert_true(zkr__fence_record_accept(&r, 5, 3, false));
    assert_true(zkr__fence_record_accept(&r, 5, UINT64_MAX, false));
    assert_false(zkr__fence_record_accept(&r, 5, UINT64_MAX - 1, false));
    assert_false(zkr__fence_record_accept(&r, 4, UINT64_MAX, false));
    assert_true(zkr__fence_record_accept(&r, 5, 0, true)); /* downgraded */
    assert_true(zkr__fence_record_accept(&r, 6, 0, true));
    assert_true(zkr__fence_record_accept(&r, 6, 2, false));
    assert_false(zkr__fence_record_accept(&r, 6, 1, false));
    assert_true(zkr__fence_record_accept(&r, 7, 0, false)); /* counts anew */
    assert_true(r.highest == 7 && r.exclusive == 7 && r.handoff == 0);
}

TEST(the_text_is_for_people_and_for_crc32)
{
    char text[ZKR__FENCE_TEXT_MAX];
    struct zkr__fence_record r = { 123456, 42, 0 };
    size_t len = zkr__fence_record_format(&r, text);

    assert_int_equal(len, strlen(text));
    assert_string_equal(text, "zkrecipes fence 1, highest 123456, exclusive "
                              "42, crc32 c691fd30\n");
    r.handoff = 7; /* a version that older libraries refuse */
    len = zkr__fence_record_format(&r, text);
    assert_int_equal(len, strlen(text));
    assert_string_equal(text, "zkrecipes fence 2, highest 123456, exclusive "
                              "42, handoff 7, crc32 ebc2f7b6\n");
}

/* But a writer's token above the highest of all is no record of ours, even with
 * a correct checksum. */
TEST(a_written_text_is_read_unless_it_contradicts_itself)
{
    static const struct zkr__fence_record records[] = {
        { 0, 0, 0 },
        { 1, 0, 0 },
        { 9, 9, 1 },
        { INT64_MAX, INT64_MAX, 0 },
        { INT64_MAX, INT64_MAX, UINT64_MAX },
        { 1, 2, 0 }, /* contradicts itself */
        { 1, -1, 0 }
    };

    for (size_t i = 0; i < COUNT(records); i++) {
        char text[ZKR__FENCE_TEXT_MAX];
        struct zkr__fence_record r = { -1, -1, 1 };
        size_t len = zkr__fence_record_format(&records[i], text);

        assert_int_equal(zkr__fence_record_parse(text, len, &r), i < 5);
        if (i >= 5)
            continue;
        assert_true(r.highest == records[i].highest);
        assert_true(r.exclusive == records[i].exclusive);
        assert_true(r.handoff == records[i].handoff);
    }
}

TEST(anything_else_is_refused)
{
    static const char *const others[] = {
        "",
        "0\n",
        "zkrecipes fence 1, highest 0, exclusive 0, crc32 00000000\n",
        "zkrecipes fence 2, highest 0, exclusive 0, crc32 00000000\n",
        ("zkrecipes fence 1, highest 99999999999999999999, exclusive 1, crc32 "
         "00000000\n"),
    };
    struct zkr__fence_record good = { 123456789, 123456000, 12 };
    struct zkr__fence_record r = { -1, -1, 0 };
    char text[2 * ZKR__FENCE_TEXT_MAX] = "";
    size_t len = zkr__fence_record_format(&good, text);

    for (size_t i = 0; i < COUNT(others); i++)
        assert_false(zkr__fence_record_parse(others[i], strlen(others[i]), &r));
    for (size_t i = 0; i < len; i++) {
        assert_false(zkr__fence_record_parse(text, i, &r)); /* cut */
        for (int bit = 0; bit < 8; bit++) {
            text[i] = (char)(text[i] ^ 1 << bit);
            assert_false(zkr__fence_record_parse(text, len, &r));
            text[i] = (char)(text[i] ^ 1 << bit);
        }
    }
    text[len] = '\n';
    assert_false(zkr__fence_record_parse(text, len + 1, &r));
    assert_false(zkr__fence_record_parse(text, sizeof(text), &r));
    assert_true(r.highest == -1 && r.exclusive == -1);
}
