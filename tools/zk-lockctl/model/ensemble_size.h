/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out of how many servers the ensemble is. */
#ifndef MODEL_ENSEMBLE_SIZE_H
#define MODEL_ENSEMBLE_SIZE_H

#include <stddef.h>

#include "common/lockctl.h"

/* The node in which servers since 3.5 say which servers there are. */
#define ENSEMBLE_CONFIG "/zookeeper/config"

/* `hosts` are those of --servers. 0: the ensemble does not tell. */
size_t ensemble_size(const struct lockctl *ctl, const struct zkr_hosts *hosts);

#endif
