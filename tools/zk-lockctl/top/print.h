/* What top says where there is no screen: tables, one after the other, or
 * lines for programs. */
#ifndef TOP_PRINT_H
#define TOP_PRINT_H

#include "text/table.h"
#include "top/model.h"

struct top_printer {
    const struct lockctl *ctl;
    struct table *csv; /* one table of all looks */
    size_t looks;
};

/* 0, or an exit code after an error was said; so the others. */
int top_print_start(struct top_printer *printer, const struct lockctl *ctl);
/* The last look, in the order of `shown`. */
int top_print(struct top_printer *printer, const struct top_model *model);
int top_print_end(struct top_printer *printer);

#endif
