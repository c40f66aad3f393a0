/* SPDX-License-Identifier: Apache-2.0 */
/* Settings: what the tool must know to reach an ensemble. Each is an option of
 * every verb, and a key of a context, of the same name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum setting {
    SETTING_SERVERS,
    SETTING_AUTH_FILE,
    SETTING_TIMEOUT,
    SETTING_TLS_CA,
    SETTING_TLS_CERT,
    SETTING_TLS_KEY,
    SETTING_TLS_PASSWORD_FILE,
    SETTING_TLS_VERIFY,
    SETTING_SASL_MECHANISM,
    SETTING_SASL_USER,
    SETTING_SASL_PASSWORD_FILE,
    SETTING_SASL_REALM,
    SETTING_SASL_SERVICE,
    SETTING_SASL_HOST,
    SETTING_COUNT,
};

/* The setting of that name; SETTING_COUNT: there is none. */
enum setting setting_find(const char *name, size_t len);
/* What is wrong with that value, such as "is not a duration"; NULL: nothing. */
const char *setting_fault(enum setting setting, const char *value);
