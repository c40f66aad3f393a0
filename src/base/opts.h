/* Reads option structs, whose size tells the version of the caller, so that
 * older and newer callers work. */
#ifndef ZKR__OPTS_H
#define ZKR__OPTS_H

#include <stddef.h>

/* Copies the caller's options over ours. NULL is all defaults; a shorter struct
 * of an older caller leaves the rest zero; a longer one of a newer caller is
 * accepted when the members that we do not know are zero. `what` names the
 * struct in the error. */
int zkr__opts_load(void *dst, size_t dst_size, size_t v1_size, const void *src,
                   const char *what);

#endif
