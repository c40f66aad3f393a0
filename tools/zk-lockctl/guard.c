/* What check, wait, revoke and break share: one lock, told in a line. */
#include "guard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "escape.h"
#include "rows.h"
#include "words.h"

static void say_one(const struct lockctl *ctl, const char *path,
                    const struct lock *lock)
{
    const struct contender *h = lock->holder;
    char who[WHO_MAX];
    char token[WORD_MAX];
    char age[WORD_MAX];

    lockctl_say(ctl, "%s is held by %s (%s), token %s, for <=%s; %zu waiting",
                path, rows_who(h, who), dialect_name(h->dialect),
                h->node->token == 0 ? "?" : word_token(h->node->token, token),
                h->age_ms < 0 ? "?" : word_age(h->age_ms, age), lock->waiters);
}

void guard_say(const struct lockctl *ctl, const struct lock *lock)
{
    char path[512];

    (void)escape_text(lock->path, strlen(lock->path), path, sizeof(path));
    if (lock->holders == 0)
        lockctl_say(ctl, "%s is free", path);
    else if (lock->holders == 1)
        say_one(ctl, path, lock);
    else
        lockctl_say(ctl, "%s is held by %zu; %zu waiting", path, lock->holders,
                    lock->waiters);
}

static bool is_for_machines(const struct lockctl *ctl)
{
    return ctl->format != FORMAT_TABLE && ctl->format != FORMAT_WIDE;
}

uint32_t guard_reads(const struct lockctl *ctl, uint32_t reads)
{
    return is_for_machines(ctl) ? SCAN_ALL : reads;
}

int guard_print(const struct lockctl *ctl, const struct lock *lock)
{
    static const struct notes none;

    if (!is_for_machines(ctl))
        return 0;
    return rows_print(ctl, lock, 1, lock->at_ms, &none);
}

bool guard_node(const struct lock *lock, const struct contender *c, char *node,
                size_t size)
{
    int len = snprintf(node, size, "%s/%s", lock->path, c->node->name);

    if (strchr(c->node->name, '/') != NULL) {
        (void)lockctl_fail(EX_DATAERR, "the name of the node is none");
        return false;
    }
    if (len > 0 && (size_t)len < size)
        return true;
    (void)lockctl_fail(EX_DATAERR, "the name of the node is too long");
    return false;
}

int64_t guard_now_ms(void)
{
    struct timespec now = { 0 };

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void guard_sleep_ms(int64_t ms)
{
    struct timespec left = { .tv_sec = ms / 1000,
                             .tv_nsec = ms % 1000 * 1000000 };

    if (ms > 0)
        (void)nanosleep(&left, NULL);
}
