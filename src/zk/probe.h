/* The probe: finds out why no server answered, by one TCP connection per
 * server, for the error text. */
#ifndef ZKR__PROBE_H
#define ZKR__PROBE_H

/* Sets the detail and returns ZKR_EREFUSED, ZKR_ENOTZK or ZKR_EUNREACHABLE. */
int zkr__probe(const char *servers, int timeout_ms);

#endif
