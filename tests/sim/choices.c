/* SPDX-License-Identifier: Apache-2.0 */
/* Choices: everything random in a schedule, as a string of numbers. */
#include "choices.h"

static struct choices *record;
static const uint32_t *script;
static size_t script_count;
static uint64_t state;
static uint64_t noise_state;

/* Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators"
 * (2014). */
static uint64_t next(uint64_t *s)
{
    uint64_t z = *s += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void choices_begin(struct choices *to, const uint32_t *from, size_t count,
                   uint64_t seed)
{
    record = to;
    record->count = 0;
    script = from;
    script_count = count;
    state = seed;
    noise_state = ~seed;
}

static uint32_t note(uint32_t made)
{
    if (record->count < CHOICES_MAX)
        record->made[record->count++] = made;
    return made;
}

static bool from_script(uint32_t n, uint32_t *ret_made)
{
    if (script == NULL)
        return false;
    *ret_made = record->count < script_count ? script[record->count] % n : 0;
    return true;
}

uint32_t choose(uint32_t n)
{
    uint32_t made;

    if (n <= 1)
        return 0;
    if (!from_script(n, &made))
        made = (uint32_t)(next(&state) % n);
    return note(made);
}

bool one_in(uint32_t n)
{
    uint32_t made;

    if (!from_script(2, &made))
        made = next(&state) % n == 0;
    return note(made) != 0;
}

uint32_t mostly_first(uint32_t n)
{
    uint32_t made;

    if (n <= 1)
        return 0;
    if (!from_script(n, &made))
        made = next(&state) % 8 == 0 ? (uint32_t)(next(&state) % n) : 0;
    return note(made);
}

uint64_t noise(void)
{
    return next(&noise_state);
}
