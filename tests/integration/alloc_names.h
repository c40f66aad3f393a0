/* Included first by every file of the library, for test_alloc.c: what allocates
 * gets another name, and only what the library itself calls. A thread and a
 * descriptor count as well. */
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
