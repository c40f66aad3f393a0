/* SPDX-License-Identifier: Apache-2.0 */
/* The number of this process: a child that was forked has another one, also
 * when its process id is the same.
 *
 * A child in a new pid namespace may have the process id of its parent. So the
 * number is in a page that the kernel clears in each child, however that was
 * made; nothing of ours has to run there, nor to be in memory. Where there is
 * no such page (Linux before 4.14, some sandboxes) fork() clears the number,
 * and clone() does not. The page is never given back: threads may look at it
 * while the process ends. */
#include "base/process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_uint without_page;
static atomic_uint *current = &without_page; /* 0: not asked for yet */
static atomic_uint numbers; /* the last one, of all our ancestors, too */

static void clear(void)
{
    atomic_store(&without_page, 0);
}

static void find_page(void)
{
    size_t size = sizeof(*current); /* a page at least */
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page != MAP_FAILED && madvise(page, size, MADV_WIPEONFORK) == 0)
        current = page;
    else
        (void)pthread_atfork(NULL, NULL, clear);
}

unsigned zkr__process_number(void)
{
    unsigned number = 0;

    (void)pthread_once(&once, find_page);
    if (atomic_load(current) != 0)
        return atomic_load(current);
    unsigned next = atomic_fetch_add(&numbers, 1) + 1;
    return atomic_compare_exchange_strong(current, &number, next) ? next
                                                                  : number;
}

bool zkr__process_is(unsigned number)
{
    return atomic_load_explicit(current, memory_order_relaxed) == number;
}
