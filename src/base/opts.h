/* Size-versioned option structs: older and newer callers than ourselves. */
#ifndef ZKR__OPTS_H
#define ZKR__OPTS_H

#include <stddef.h>

/* Copy the caller's options over ours. NULL is all defaults; a shorter struct
 * of an older caller leaves the rest zero; a longer one of a newer caller is
 * accepted when what we do not know is zero. `what` names it in the error. */
int zkr__opts_load(void *dst, size_t dst_size, size_t v1_size, const void *src,
                   const char *what);

#endif
