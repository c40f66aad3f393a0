/* What a recipe is, to the core: names, and whom to wait for. */
#ifndef ZKR__RECIPE_H
#define ZKR__RECIPE_H

#include "queue.h"

struct zkr__recipe {
    const char *noun;            /* for people: "mutex" */
    const char *marker[2];       /* of our own nodes, by enum zkr__layout */
    struct zkr__markers markers; /* of all who contend */
    /* Index of the contender to wait for, or ZKR__NOBODY. Pure. */
    size_t (*waits_for)(const struct zkr__queue *queue);
    /* What an owner of one grant cannot have besides it (it would wait for
     * itself), and what it has at once, beside that grant; NULL without. */
    const struct zkr__recipe *deadlocks_with;
    const struct zkr__recipe *granted_beside;
};

#endif
