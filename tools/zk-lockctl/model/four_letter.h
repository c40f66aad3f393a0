/* SPDX-License-Identifier: Apache-2.0 */
/* Asks one server one four letter word, over a connection of its own. */
#ifndef MODEL_FOUR_LETTER_H
#define MODEL_FOUR_LETTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PEER_MAX = 72 };

struct four_letter {
    char *text; /* what the server has answered, any bytes; the caller frees */
    size_t size;
    bool is_refused;     /* the word is not in its white list; then no text */
    char peer[PEER_MAX]; /* the address and port of the server; "": unknown */
};

/* `deadline` is of the clock of now.h. False when the server does not answer,
 * or not until then; there is no text then. */
bool four_letter_ask(const char *host, const char *port, const char *word,
                     int64_t deadline, struct four_letter *ret_answer);

#endif
