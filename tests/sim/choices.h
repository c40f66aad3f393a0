/* SPDX-License-Identifier: Apache-2.0 */
/* Choices: everything random in a schedule, as a string of numbers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHOICES_MAX 65536

/* The numbers that were chosen, in order. Zero is always the simplest choice: a
 * string that is cut short, or has more zeros, is a simpler schedule. */
struct choices {
    uint32_t count;
    uint32_t made[CHOICES_MAX];
};

/* Choose as in `script`, and zero after its end, or NULL: anew, from `seed`;
 * and write it down. */
void choices_begin(struct choices *record, const uint32_t *script, size_t count,
                   uint64_t seed);

/* 0 to n - 1, each as likely. */
uint32_t choose(uint32_t n);
/* One of those. */
#define DRAW(type, ...)                                                        \
    ((const type[]){ __VA_ARGS__ }[choose(                                     \
        (uint32_t)(sizeof((const type[]){ __VA_ARGS__ }) / sizeof(type)))])

/* True once in n times. */
bool one_in(uint32_t n);

/* 0 seven times out of eight, else 0 to n - 1. */
uint32_t mostly_first(uint32_t n);

/* These are no choices: their values do not matter, but must repeat. */
uint64_t noise(void);
