/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that takes the place of libFuzzer for compilers other than clang: it
 * runs every seed, and then seeds with random changes, the same in each run. It
 * knows the options -runs=N, -max_total_time=SECONDS, -seed=N and
 * -max_len=N. */
#include <dirent.h>
#include <inttypes.h>
#include <time.h>

#include "fuzz.h"

enum { SEEDS = 256, LEN = 4096 };

static struct input {
    uint8_t data[LEN];
    size_t size;
} seeds[SEEDS];

static size_t seed_count = 1; /* the first is empty */
static long runs = -1;
static long seconds;
static size_t max_len = LEN;
static uint64_t state = 1;

/* Source: Marsaglia, "Xorshift RNGs" (2003). The state must not be 0. */
static size_t below(size_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state % n);
}

/* Seeds are sorted by name, because readdir() gives no order. */
static void load_all(const char *dir)
{
    struct dirent **entries = NULL;
    int n = scandir(dir, &entries, NULL, alphasort);

    for (int i = 0; i < n; i++) {
        char path[4096];

        (void)snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
        FILE *f = entries[i]->d_name[0] == '.' || seed_count == SEEDS
                      ? NULL
                      : fopen(path, "re");
        free(entries[i]);
        if (f == NULL)
            continue;
        seeds[seed_count].size = fread(seeds[seed_count].data, 1, max_len, f);
        seed_count++;
        (void)fclose(f);
    }
    free(entries);
}

static void insert(struct input *in, const struct input *other)
{
    size_t from = below(other->size + 1);
    size_t n = below(other->size - from + 1);
    size_t at = below(in->size + 1);

    if (n > max_len - in->size)
        n = max_len - in->size;
    (void)memmove(in->data + at + n, in->data + at, in->size - at);
    (void)memcpy(in->data + at, other->data + from, n);
    in->size += n;
}

static void erase(struct input *in)
{
    size_t at = below(in->size + 1);
    size_t n = below(in->size - at + 1);

    (void)memmove(in->data + at, in->data + at + n, in->size - at - n);
    in->size -= n;
}

static void change(struct input *in)
{
    static const char bytes[] = "\0\n\t/-_.,:0123456789lockREADWRIT\\\"{}\xff";
    struct input one = { .size = 1 };
    size_t at = below(in->size > 0 ? in->size : 1);

    one.data[0] = below(2) == 0 ? (uint8_t)below(256)
                                : (uint8_t)bytes[below(sizeof(bytes) - 1)];
    switch (below(5)) {
    case 0:
        insert(in, &seeds[below(seed_count)]);
        break;
    case 1:
        erase(in);
        break;
    case 2:
        in->data[at] ^= (uint8_t)(1u << below(8));
        break;
    case 3:
        in->data[at] = one.data[0];
        break;
    default:
        insert(in, &one);
    }
}

static void run_one(long i)
{
    static struct input in;
    size_t changes = below(8) + 1;
    bool is_seed = (size_t)i < seed_count;

    in = seeds[is_seed ? (size_t)i : below(seed_count)];
    for (; !is_seed && changes > 0; changes--)
        change(&in);
    (void)LLVMFuzzerTestOneInput(in.data, in.size);
}

int main(int argc, char **argv)
{
    time_t start = time(NULL);
    long i = 0;

    for (int k = 1; k < argc; k++) {
        if (sscanf(argv[k], "-runs=%ld", &runs) != 1 &&
            sscanf(argv[k], "-max_total_time=%ld", &seconds) != 1 &&
            sscanf(argv[k], "-seed=%" SCNu64, &state) != 1 &&
            sscanf(argv[k], "-max_len=%zu", &max_len) != 1 && argv[k][0] != '-')
            load_all(argv[k]);
    }
    while ((runs < 0 || i < runs) &&
           (seconds == 0 || time(NULL) < start + seconds))
        run_one(i++);
    (void)fprintf(stderr, "Done %ld runs in %ld second(s)\n", i,
                  (long)(time(NULL) - start));
    return 0;
}
