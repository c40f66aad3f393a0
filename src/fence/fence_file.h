/* The file of a fence: locked, read, and replaced as a whole. */
#ifndef ZKR__FENCE_FILE_H
#define ZKR__FENCE_FILE_H

#include "fence/fence_record.h"

struct zkr__fence_file;

int zkr__fence_file_open(const char *path, struct zkr__fence_file **ret_file);
void zkr__fence_file_close(struct zkr__fence_file *file);

/* By the clock for waiting; one that has passed tries once. ZKR_ETIMEDOUT. */
int zkr__fence_file_lock(struct zkr__fence_file *file, int64_t deadline);
void zkr__fence_file_unlock(struct zkr__fence_file *file);

/* Locked, to be the latest. */
int zkr__fence_file_read(struct zkr__fence_file *file,
                         struct zkr__fence_record *ret_record);
/* Locked: on the disk when it returns ZKR_OK. */
int zkr__fence_file_write(struct zkr__fence_file *file,
                          const struct zkr__fence_record *record);

#endif
