/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of all recipes that give a grant. */
#include "faults/table.h"

/* The same lock in its plain form, which belongs to no thread and does not
 * stay: "mutex" for "reentrant mutex that stays". */
static const struct adapter *rival_of(const struct adapter *recipe)
{
    const char *name = recipe->name;

    if ((recipe->traits & THREAD_OWNED) != 0)
        name += strlen("reentrant ");
    size_t len = (recipe->traits & SHARES) != 0
                     ? (size_t)(strstr(name, " that ") - name)
                     : strlen(name);
    for (size_t i = 0; i < adapter_count; i++) {
        if (strlen(adapters[i].name) == len &&
            strncmp(adapters[i].name, name, len) == 0)
            return &adapters[i];
    }
    return recipe;
}

static void make(struct scene *s)
{
    must(s, "a lock", adapter_make(s->recipe, s->ours, s->path, 0, &s->object));
    must(s, "their lock",
         adapter_make(rival_of(s->recipe), s->theirs, s->path, 0,
                      &s->their_object));
}

static void end(struct scene *s)
{
    const struct adapter *rival = rival_of(s->recipe);

    if (s->grant != NULL)
        s->recipe->forget(s->object, s->grant);
    s->recipe->free(s->object);
    if (s->their_grant != NULL)
        rival->forget(s->their_object, s->their_grant);
    rival->free(s->their_object);
}

/* Our nodes. That of a lock that stays goes later, so there it is none. */
static int count(struct scene *s)
{
    int nodes = nodes_in(s, s->dir) - (s->their_grant != NULL);

    if ((s->recipe->traits & STAYS) == STAYS && nodes == 1)
        return 0;
    return nodes;
}

static int acquire_it(struct scene *s)
{
    int rc = s->recipe->acquire(s->object, s->timeout_ms, &s->grant);

    if (rc != ZKR_OK && s->grant != NULL)
        wrong(s, "it gives a grant, and %s", zkr_strerror(rc));
    if (rc == ZKR_OK)
        must_unless_over(s, "a check", zkr_grant_check(s->grant));
    return rc;
}

static void give_back(struct scene *s, int rc)
{
    if (rc != ZKR_OK)
        return;
    must_unless_over(s, "a release", s->recipe->release(s->object, s->grant));
    s->recipe->forget(s->object, s->grant);
    s->grant = NULL;
}

static void others_hold_it(struct scene *s)
{
    must(s, "their acquire",
         rival_of(s->recipe)->acquire(s->their_object, PATIENT_MS,
                                      &s->their_grant));
}

static void others_give_it_back(struct scene *s)
{
    const struct adapter *rival = rival_of(s->recipe);
    zkr_grant *g = s->their_grant;

    if (g == NULL)
        return;
    s->their_grant = NULL;
    must(s, "their release", rival->release(s->their_object, g));
    rival->forget(s->their_object, g);
}

/* The directory is there, as others have used it. */
static void others_came_before(struct scene *s)
{
    if (s->number++ > 0)
        return;
    others_hold_it(s);
    others_give_it_back(s);
}

static void we_and_others_give_back(struct scene *s, int rc)
{
    others_give_it_back(s);
    give_back(s, rc);
}

static int give_up(struct scene *s)
{
    s->timeout_ms = 150;
    return acquire_it(s);
}

static int try(struct scene *s)
{
    s->timeout_ms = 0;
    return acquire_it(s);
}

static void hold(struct scene *s)
{
    proxy_reset_counts(s->proxy);
    must(s, "an acquire", s->recipe->acquire(s->object, PATIENT_MS, &s->grant));
    listen_and_be_watched(s);
}

static int release_it(struct scene *s)
{
    unsigned frees_it = REENTRANT | KEEPS_GRANTS;
    zkr_grant *g = s->grant;

    if ((s->recipe->traits & frees_it) == frees_it)
        s->grant = NULL;
    return s->recipe->release(s->object, g);
}

static void forget(struct scene *s, int rc)
{
    if (s->grant != NULL && zkr_grant_check(s->grant) != ZKR_ENOTHELD)
        wrong(s, "it is released, and held");
    if (s->grant != NULL)
        s->recipe->forget(s->object, s->grant);
    s->grant = NULL;
}

/* clang-format off */
#define OF_LOCK .make = make, .count = count, .end = end

const struct call lock_calls[] = {
    { .name = "first acquire", .run = acquire_it, .change = 1, OF_LOCK,
      .undo = give_back, .not_its = LATER },
    { .name = "acquire", .run = acquire_it, .change = 1, OF_LOCK,
      .ready = others_came_before, .undo = give_back, .not_its = LATER },
    { .name = "wait", .run = acquire_it, .change = 1, OF_LOCK,
      .ready = others_hold_it, .meanwhile = others_give_it_back,
      .undo = we_and_others_give_back, .not_its = "@(get [2-9]|sync *)" },
    { .name = "give up", .run = give_up, .ends_with = ZKR_ETIMEDOUT, OF_LOCK,
      .ready = others_hold_it, .undo = we_and_others_give_back, .not_its = "@(get [2-9]|sync *)" },
    { .name = "try", .run = try, .change = 1, OF_LOCK,
      .ready = others_came_before, .undo = give_back, .not_its = LATER },
    { .name = "try in vain", .run = try, .ends_with = ZKR_EBUSY, OF_LOCK,
      .ready = others_hold_it, .undo = we_and_others_give_back, .not_its = LATER },
    { .name = "release", .run = release_it, .change = -1, OF_LOCK,
      .ready = hold, .undo = forget, .not_its = LATER,
      .not_for = STAYS }, /* it sends nothing */
};
/* clang-format on */

const size_t lock_call_count = COUNT(lock_calls);
