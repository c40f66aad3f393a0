/* A thread that looks at all locks again and again, one look at a time, so that
 * nobody else waits for the servers. */
#ifndef TOP_LOOKER_H
#define TOP_LOOKER_H

#include "common/lockctl.h"
#include "model/scan.h"

struct top_looker;

/* One look. */
struct top_look_result {
    int error; /* ZKR_OK: then there is */
    struct scan scan;
    char detail[SCAN_DETAIL_MAX]; /* of the error, not escaped */
    int64_t took_ms;
};

/* Takes the session of `ctl`; that and `root` must live as long as it. It has
 * all signals blocked. False: out of memory. */
bool top_looker_start(struct lockctl *ctl, const char *root,
                      int64_t interval_ms, struct top_looker **ret_looker);

/* Readable when there is a look. */
int top_looker_fd(const struct top_looker *looker);
/* The caller has it from here on. False: there is none. */
bool top_looker_take(struct top_looker *looker, struct top_look_result *ret);

void top_looker_now(struct top_looker *looker);
void top_looker_every(struct top_looker *looker, int64_t interval_ms);

/* End it, and the session. False: servers have been silent for too long, and
 * what is left must end with the process. */
bool top_looker_end(struct top_looker *looker, int64_t patience_ms);

/* One look, by whoever calls. */
void top_look_once(const struct lockctl *ctl, const char *root,
                   struct top_look_result *ret);

#endif
