/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a fence: locked, read, and replaced as a whole. */
#pragma once

#include "fence/fence_record.h"

struct zkr__fence_file;

int zkr__fence_file_open(const char *path, struct zkr__fence_file **ret_file);
void zkr__fence_file_close(struct zkr__fence_file *file);

/* Locks the file. `deadline` is on the clock for waiting; one that has passed
 * tries once. Errors: ZKR_ETIMEDOUT. */
int zkr__fence_file_lock(struct zkr__fence_file *file, int64_t deadline);
void zkr__fence_file_unlock(struct zkr__fence_file *file);

/* Reads the record. The file must be locked for it to be the latest. */
int zkr__fence_file_read(struct zkr__fence_file *file,
                         struct zkr__fence_record *ret_record);
/* Writes the record. The file must be locked. The record is on the disk when
 * the call returns ZKR_OK. */
int zkr__fence_file_write(struct zkr__fence_file *file,
                          const struct zkr__fence_record *record);
