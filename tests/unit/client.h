/* A client in place of libzookeeper_mt: connects and answers at once, from a
 * thread of its own. It knows one lock node. For what needs a session, and no
 * server. */
#ifndef UNIT_CLIENT_H
#define UNIT_CLIENT_H

#include <stdint.h>

/* For the next session. */
void client_grants_timeout(uint32_t timeout_ms);

/* How deletes are answered from here on. */
void client_answers_deletes(int rc);

#endif
