/* SPDX-License-Identifier: Apache-2.0 */
/* Settings: what the tool must know to reach an ensemble. */
#include "common/settings.h"

#include <string.h>

#include "common/lockctl.h"

static const char *const mechanisms[] = { "DIGEST-MD5", "GSSAPI", NULL };

/* clang-format off */
#define ROW(setting) .type = OPT_SETTING, .min = (setting)
const struct opt setting_options[SETTING_COUNT + 1] = {
    [SETTING_SERVERS] = { "servers", .value = "HOST:PORT,...", ROW(SETTING_SERVERS),
      .help = "the ensemble (default $ZK_SERVERS, or that of the current context, or 127.0.0.1:2181); with /PATH behind it, all paths are below that" },
    [SETTING_AUTH_FILE] = { "auth-file", .value = "FILE", ROW(SETTING_AUTH_FILE),
      .help = "a line \"scheme:credentials\"" },
    [SETTING_TIMEOUT] = { "timeout", .value = "DURATION", ROW(SETTING_TIMEOUT),
      .help = "for connecting and for each answer (5s)" },
    [SETTING_TLS_CA] = { "tls-ca", .value = "FILE", ROW(SETTING_TLS_CA),
      .help = "with the next two: TLS. PEM: whom to trust" },
    [SETTING_TLS_CERT] = { "tls-cert", .value = "FILE", ROW(SETTING_TLS_CERT), .help = "our certificate" },
    [SETTING_TLS_KEY] = { "tls-key", .value = "FILE", ROW(SETTING_TLS_KEY), .help = "its private key" },
    [SETTING_TLS_PASSWORD_FILE] = { "tls-password-file", .value = "FILE", ROW(SETTING_TLS_PASSWORD_FILE),
      .help = "a line: the password of the key" },
    [SETTING_SASL_MECHANISM] = { "sasl-mechanism", .value = "NAME", ROW(SETTING_SASL_MECHANISM), .words = mechanisms,
      .help = "such as DIGEST-MD5" },
    [SETTING_SASL_USER] = { "sasl-user", .value = "NAME", ROW(SETTING_SASL_USER), .help = "who we are" },
    [SETTING_SASL_PASSWORD_FILE] = { "sasl-password-file", .value = "FILE", ROW(SETTING_SASL_PASSWORD_FILE),
      .help = "a line: the password" },
    [SETTING_SASL_REALM] = { "sasl-realm", .value = "NAME", ROW(SETTING_SASL_REALM), .help = "where we are known" },
    [SETTING_SASL_SERVICE] = { "sasl-service", .value = "NAME", ROW(SETTING_SASL_SERVICE),
      .help = "the service of the servers (zookeeper)" },
    [SETTING_SASL_HOST] = { "sasl-host", .value = "NAME", ROW(SETTING_SASL_HOST),
      .help = "what the servers call themselves" },
};
#undef ROW
/* clang-format on */

const char *setting_name(enum setting setting)
{
    return setting_options[setting].name;
}

enum setting setting_find(const char *name, size_t len)
{
    enum setting i = 0;

    while (i < SETTING_COUNT &&
           (strlen(setting_options[i].name) != len ||
            strncmp(setting_options[i].name, name, len) != 0))
        i++;
    return i;
}

bool setting_is_file(enum setting setting)
{
    return strcmp(setting_options[setting].value, "FILE") == 0;
}

const char *setting_fault(enum setting setting, const char *value)
{
    int64_t ms;

    if (setting == SETTING_SERVERS && value[0] == '\0')
        return "is empty";
    if (setting == SETTING_TIMEOUT &&
        (!lockctl_parse_duration(value, &ms) || ms <= 0 || ms > INT32_MAX))
        return "is not a duration";
    return NULL;
}
