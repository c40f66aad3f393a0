/* SPDX-License-Identifier: Apache-2.0 */
/* Renames functions that allocate, in the library's own calls only, for
 * test_alloc.c. Every file of the library includes it first. Threads and
 * descriptors count as allocations, too. */
#ifndef ALLOC_NAMES_H
#define ALLOC_NAMES_H

#define malloc              faulty_malloc
#define calloc              faulty_calloc
#define realloc             faulty_realloc
#define strdup              faulty_strdup
#define strndup             faulty_strndup
#define fopen               faulty_fopen
#define eventfd             faulty_eventfd
#define pthread_create      faulty_pthread_create
#define allocate_ACL_vector faulty_allocate_ACL_vector

#endif
