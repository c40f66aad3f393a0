/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the members of an event that watch has told in JSON. Anything may be
 * missing, or of another type. Pure. */
#ifndef MODEL_TOLD_EVENT_H
#define MODEL_TOLD_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* "": there is none. */
const char *told_text(const json_t *object, const char *key);
/* Since 1970; 0: none. */
int64_t told_time(const json_t *object, const char *key);
/* A token or a session; 0: none. */
int64_t told_token(const json_t *object, const char *key);
/* A duration; -1: none. */
int64_t told_ms(const json_t *object, const char *key);

/* The data of the node: the record of its owner, or what others wrote. To be
 * freed; NULL: out of memory. */
char *told_data(const json_t *contender);
/* It is of a contender of a lock. */
bool told_contender(const json_t *event);
/* A run of watch that begins with this event watches the locks at that path. A
 * run that was told to watch some locks does not watch those below them. */
bool told_to_watch(const json_t *event, const char *root);

#endif
