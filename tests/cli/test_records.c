/* SPDX-License-Identifier: Apache-2.0 */
/* log tells of the events that watch has printed: stays, gaps, and the moments
 * that are known. There are no servers. */
#include <inttypes.h>
#include <stdarg.h>
#include <unistd.h>

#include "common/lockctl.h"
#include "model/records.h"
#include "texts.h"
#include "unit.h"

/* 2026-11-23T02:00:00Z; a time below is so many seconds later. */
#define ZERO INT64_C(1795399200000)

/* An event is a line, "TIME KIND" and
 *   of begin    the path that is watched, "*" for all; "-": not the first look,
 *   of resync   the time of the last look,
 *   of missed   the path,
 *   of others   "PATH NODE TOKEN SESSION QUEUED", and of an end how many
 *               seconds it held at most.
 * "/" begins the next run in another file. Every other text is a line
 * itself. */
struct row {
    const char *name;
    const char *events;
    const char *said;
};

static char file_name[] = "/tmp/zkrecipes-records-XXXXXX";
static struct records *records;
static char said[4096];

static int teardown(void)
{
    records_free(records);
    records = NULL;
    said[0] = '\0';
    (void)strcpy(strrchr(file_name, '-'), "-XXXXXX");
    return 0;
}

FIXTURE(NULL, teardown)

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    size_t length = strlen(said);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(said + length, sizeof(said) - length, format, args);
    va_end(args);
}

/* --- writing --- */

static const char *time_of(int64_t s, char text[40])
{
    (void)snprintf(text, 40, "2026-11-23T02:00:%02" PRId64 ".000Z", s);
    return text;
}

static void write_contender(FILE *file, const char *line)
{
    char path[40], node[40], time[40];
    int64_t token, session, queued, held = -1;

    assert_true(
        sscanf(line, "%39s %39s %" SCNd64 " %" SCNx64 " %" SCNd64 " %" SCNd64,
               path, node, &token, (uint64_t *)&session, &queued, &held) >= 5);
    (void)fprintf(file,
                  ",\"path\":\"%s\",\"contender\":{\"node\":\"%s\",\"token\":"
                  "\"%" PRId64 "\",\"session\":\"0x%" PRIx64
                  "\",\"queued_at\":\"%s\",\"owner\":null,\"data\":\"d\"}",
                  path, node, token, (uint64_t)session, time_of(queued, time));
    if (held >= 0)
        (void)fprintf(file, ",\"held_ms_max\":%" PRId64, held * 1000);
}

static void write_begin(FILE *file, const char *what)
{
    if (what[0] == '/')
        (void)fprintf(file, ",\"paths\":[\"/x\",\"%s\"]", what);
    else
        (void)fputs(",\"paths\":null", file);
    (void)fprintf(file, ",\"initial\":%s", what[0] == '-' ? "false" : "true");
}

static void write_event(FILE *file, const char *line)
{
    char kind[16], what[40] = "", time[40];
    int64_t at;
    int end;

    if (sscanf(line, "%" SCNd64 " %15s%n", &at, kind, &end) != 2) {
        (void)fprintf(file, "%s\n", line);
        return;
    }
    (void)sscanf(line + end, "%39s", what);
    (void)fprintf(file, "{\"at\":\"%s\",\"event\":\"%s\"", time_of(at, time),
                  kind);
    if (strcmp(kind, "begin") == 0)
        write_begin(file, what);
    else if (strcmp(kind, "resync") == 0)
        (void)fprintf(file, ",\"last_look\":\"%s\"", time_of(atoi(what), time));
    else if (strcmp(kind, "missed") == 0)
        (void)fprintf(file, ",\"path\":\"%s\"", what);
    else if (what[0] != '\0')
        write_contender(file, line + end);
    (void)fputs("}\n", file);
}

/* --- reading --- */

static int64_t seconds(int64_t ms)
{
    return ms == 0 ? 0 : (ms - ZERO) / 1000;
}

static void take_stay(struct stay *s, void *user)
{
    (void)user;
    say("%s/%s queued %" PRId64 " seen %" PRId64, s->lock, s->name,
        seconds(s->queued_ms), seconds(s->seen_ms));
    if (s->held_ms != 0)
        say(" %s %" PRId64, s->held_before ? "before" : "held",
            seconds(s->held_ms));
    if (s->held_max_ms >= 0)
        say(" max %" PRId64, s->held_max_ms / 1000);
    if (s->asked_ms != 0)
        say(" asked %" PRId64, seconds(s->asked_ms));
    say(" %s %" PRId64 "%s%s\n", ending_name(s->ending), seconds(s->ended_ms),
        s->ended_late ? " late" : "", s->is_claim ? " claim" : "");
    stay_free(s);
}

static void take_gap(const struct gap *gap, void *user)
{
    (void)user;
    say("gap %" PRId64 " %" PRId64 "\n", seconds(gap->from_ms),
        seconds(gap->until_ms));
}

/* Prints for each second, from the first to the last, what is known of it. */
static void say_known(void)
{
    int64_t begin = seconds(records_begin_ms(records));
    int64_t end = seconds(records_end_ms(records));

    say("%" PRId64 " to %" PRId64 ":", begin, end);
    for (int64_t s = begin - 1; s <= end + 1; s++)
        say("%s", records_knows(records, ZERO + s * 1000) ? "+" : "-");
    say(" %zu%s %zu\n", records_contenders(records),
        records_missed(records) ? " missed" : "", records_strange(records));
}

static int play(const char *events)
{
    char line[400];
    int fd = mkstemp(file_name);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    int code;

    assert_non_null(file);
    while (*events != '\0' && strncmp(events, "/\n", 2) != 0) {
        size_t size = strcspn(events, "\n");

        PRINT(line, "%.*s", (int)size, events);
        write_event(file, line);
        events += size + (events[size] == '\n');
    }
    assert_ok(fclose(file));
    code = records_play(records, file_name);
    assert_ok(unlink(file_name));
    (void)strcpy(strrchr(file_name, '-'), "-XXXXXX");
    return code == 0 && *events != '\0' ? play(events + 2) : code;
}

#define A  "lock-0000000000"
#define B  "lock-0000000001"
#define R0 "_c_a-__READ__0000000000"
#define R1 "_c_b-__READ__0000000001"

static const struct row rows[] = {
    { "one after the other",
      "10 begin *\n"
      "11 queued /l " A " 5 1 11\n"
      "12 acquired /l " A " 5 1 11\n"
      "13 queued /l " B " 6 2 12\n"
      "14 revoked /l " A " 5 1 11\n"
      "15 revoked /l " A " 5 1 11\n"
      "16 gone /l " A " 5 1 11 3\n"
      "16 acquired /l " B " 6 2 12\n"
      "17 gone /l " B " 6 2 12 1\n",
      "/l/" A " queued 11 seen 11 held 12 max 3 asked 14 gone 16 late\n"
      "/l/" B " queued 12 seen 13 held 16 max 1 gone 17 late\n"
      "10 to 17:-++++++++- 2 0\n" },
    { "who was there",
      "10 begin *\n"
      "10 holding /l " A " 5 1 3\n"
      "10 waiting /l " B " 6 2 4\n"
      "12 left /l " B " 6 2 4\n",
      "/l/" B " queued 4 seen 10 gone 12 late\n"
      "/l/" A " queued 3 seen 10 before 10 present 0\n"
      "10 to 12:-+++- 2 0\n" },
    { "another path is watched", "10 begin /m\n11 queued /l " A " 5 1 11\n",
      "/l/" A " queued 11 seen 11 present 0\n"
      "10 to 11:---- 1 0\n" },
    { "this path, and another one", "10 begin /l\n11 queued /l " A " 5 1 11\n",
      "/l/" A " queued 11 seen 11 present 0\n"
      "10 to 11:-++- 1 0\n" },
    { "below the path, and beside it",
      "10 begin *\n11 queued /l/m " A " 5 1 11\n11 queued /lm " A " 5 1 11\n",
      "/l/m/" A " queued 11 seen 11 present 0\n"
      "10 to 11:-++- 1 0\n" },
    { "not from the first look on",
      "10 begin -\n"
      "11 queued /l " A " 5 1 11\n"
      "13 acquired /l " A " 5 1 11\n"
      "15 gone /l " A " 5 1 11 2\n",
      "/l/" A " queued 11 seen 11 held 13 max 2 gone 15 late\n"
      "10 to 15:----+++- 1 0\n" },
    { "who shares tells nothing of others",
      "10 begin -\n"
      "13 acquired /l " R0 " 5 1 11\n"
      "15 gone /l " R0 " 5 1 11 2\n",
      "/l/" R0 " queued 11 seen 13 held 13 max 2 gone 15 late\n"
      "10 to 15:-------- 1 0\n" },
    { "a connection is lost",
      "10 begin *\n"
      "11 acquired /l " A " 5 1 11\n"
      "16 resync 12\n"
      "17 gone /l " A " 5 1 11 6\n",
      "gap 12 16\n"
      "/l/" A " queued 11 seen 11 held 11 max 6 gone 17 late\n"
      "10 to 17:-+++---++- 1 0\n" },
    { "a connection is lost before all are known",
      "10 begin -\n16 resync 12\n17 queued /l " A " 5 1 11\n",
      "gap 12 16\n"
      "/l/" A " queued 11 seen 17 present 0\n"
      "10 to 17:---------- 1 0\n" },
    { "a clock that goes back",
      "10 begin *\n20 resync 30\n21 queued /l " A " 5 1 11\n",
      "/l/" A " queued 11 seen 21 present 0\n"
      "10 to 21:-+---------++- 1 0\n" },
    { "two runs, and who was there in both",
      "10 begin *\n"
      "10 holding /l " A " 5 1 3\n"
      "11 queued /l " B " 6 2 11\n"
      "/\n"
      "14 begin *\n"
      "14 holding /l " A " 5 1 3\n"
      "16 queued /x " A " 5 1 3\n",
      "gap 11 14\n"
      "/l/" B " queued 11 seen 11 unknown 11\n"
      "/l/" A " queued 3 seen 10 before 10 present 0\n"
      "10 to 16:-++--+++- 2 0\n" },
    { "a run without its beginning",
      "10 begin *\n10 holding /l " A " 5 1 3\n/\n14 queued /l " B " 6 2 14\n",
      "gap 10 14\n"
      "/l/" B " queued 14 seen 14 present 0\n"
      "/l/" A " queued 3 seen 10 before 10 unknown 10\n"
      "10 to 14:-+----- 2 0\n" },
    { "two runs of one moment", "10 begin *\n/\n10 begin *\n11 missed /x\n",
      "gap 10 10\n"
      "10 to 11:-++- 0 0\n" },
    { "the name of one who went while nobody watched",
      "10 begin *\n"
      "10 holding /l " A " 5 1 3\n"
      "12 holding /l " A " 9 2 11\n",
      "/l/" A " queued 3 seen 10 before 10 unknown 10\n"
      "/l/" A " queued 11 seen 12 before 12 present 0\n"
      "10 to 12:-+++- 2 0\n" },
    { "without tokens a name is the same node",
      "10 begin *\n"
      "10 holding /l " A " 0 1 3\n"
      "12 gone /l " A " 9 1 3 9\n",
      "/l/" A " queued 3 seen 10 before 10 max 9 gone 12 late\n"
      "10 to 12:-+++- 1 0\n" },
    { "a holder beside a new one has gone",
      "10 begin -\n"
      "10 holding /l " A " 5 1 3\n"
      "12 acquired /l " B " 6 2 11\n",
      "/l/" A " queued 3 seen 10 before 10 unknown 10\n"
      "/l/" B " queued 11 seen 12 held 12 present 0\n"
      "10 to 12:---+- 2 0\n" },
    { "a downgrade, and readers",
      "10 begin -\n"
      "10 holding /l " A " 5 1 3\n"
      "11 acquired /l " B " 6 1 11\n"
      "12 holding /l/m " R0 " 7 1 3\n"
      "13 acquired /l/m " R1 " 8 2 11\n",
      "/l/" B " queued 11 seen 11 held 11 present 0\n"
      "/l/" A " queued 3 seen 10 before 10 present 0\n"
      "/l/m/" R1 " queued 11 seen 13 held 13 present 0\n"
      "/l/m/" R0 " queued 3 seen 12 before 12 present 0\n"
      "10 to 13:--+++- 4 0\n" },
    { "a permit",
      "10 begin *\n"
      "10 queued /l locks/" A " 5 1 10\n"
      "11 queued /l locks/" B " 6 1 11\n"
      "12 acquired /l leases/lease-0000000000 7 1 12\n"
      "13 gone /l leases/lease-0000000000 7 1 12 1\n",
      "/l/locks/" A " queued 10 seen 10 gone 12 late claim\n"
      "/l/leases/lease-0000000000 queued 10 seen 12 held 12 max 1 gone 13 "
      "late\n"
      "/l/locks/" B " queued 11 seen 11 present 0\n"
      "10 to 13:-++++- 3 0\n" },
    { "a permit of another session, and an older one",
      "10 begin *\n"
      "11 queued /l locks/" A " 5 1 11\n"
      "12 acquired /l leases/lease-0000000000 7 2 12\n"
      "12 acquired /l leases/lease-0000000001 4 1 12\n",
      "/l/leases/lease-0000000001 queued 12 seen 12 held 12 present 0\n"
      "/l/leases/lease-0000000000 queued 12 seen 12 held 12 present 0\n"
      "/l/locks/" A " queued 11 seen 11 present 0\n"
      "10 to 12:-+++- 3 0\n" },
    { "who is told only when it has gone",
      "10 begin *\n12 gone /l " A " 5 1 3 9\n13 left /l " B " 6 2 4\n",
      "/l/" A " queued 3 seen 12 before 12 max 9 gone 12 late\n"
      "/l/" B " queued 4 seen 13 gone 13 late\n"
      "10 to 13:-++++- 2 0\n" },
    { "missed elsewhere", "10 begin *\n11 missed /m\n", "10 to 11:-++- 0 0\n" },
    { "missed here", "10 begin *\n11 missed /l\n",
      "10 to 11:-++- 0 missed 0\n" },
    { "lines that are no events",
      "10 begin *\n\n{\"warnings\":[]}\n{\"error\":{}}\nnonsense\n{}\n"
      "11 another\n12 queued\n"
      "{\"at\":\"never\",\"event\":\"begin\"}\n",
      "10 to 12:-+++- 0 5\n" },
    { "another file", "nonsense\n10 begin *\n", "66" },
    { "blank lines, and then another file", "  \t\n\nnonsense\n", "66" },
};

TEST_ROWS(records_tell, rows, row)
{
    static const struct history_fns fns = { take_stay, take_gap, NULL };
    int code;

    records = records_new("/l", &fns);
    assert_non_null(records);
    code = play(row->events);
    records_end(records);
    if (code == 0)
        say_known();
    else
        say("%d", code);
    assert_string_equal(said, row->said);
}
