# SPDX-License-Identifier: Apache-2.0
# To the readers of records that Rcc generates: a record is empty until it is
# read, so that what is not read is no garbage to be freed; a vector that cannot
# be allocated has no elements; and an error in one is not forgotten at its end.
s/^#include <stdlib\.h>$/&\n#include <string.h>/
s/^    rc = in->start_record(in, tag);$/&\n    memset(v, 0, sizeof(*v));/
s/^    v->data = calloc(v->count, sizeof(\*v->data));$/&\n    if (v->data == NULL) {\n        v->count = 0;\n        rc = -1;\n    }/
s/^    rc = in->end_vector(in, tag);$/    rc = rc ? rc : in->end_vector(in, tag);/
