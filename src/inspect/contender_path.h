/* Paths of nodes that contend, given by those who look on. */
#ifndef ZKR__CONTENDER_PATH_H
#define ZKR__CONTENDER_PATH_H

struct zkr_session;

/* ZKR_OK, or the error of a call that does `noun` to this node. */
int zkr__contender_path_check(const struct zkr_session *s, const char *noun,
                              const char *node);

#endif
