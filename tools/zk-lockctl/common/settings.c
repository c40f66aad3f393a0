/* SPDX-License-Identifier: Apache-2.0 */
/* Settings: what the tool must know to reach an ensemble. */
#include "common/settings.h"

#include <string.h>

#include "common/lockctl.h"

static const char *const verifies[] = { "name", "chain", NULL };
static const char *const mechanisms[] = { "DIGEST-MD5", "GSSAPI", NULL };

/* clang-format off */
#define INTO(member) .type = OPT_SETTING, .at = offsetof(struct zkr_session_opts, member)
const struct opt setting_options[SETTING_COUNT + 1] = {
    [SETTING_SERVERS] = { "servers", .value = "HOST:PORT,...", .type = OPT_SETTING,
      .help = "the ensemble (default $ZK_SERVERS, or that of the current context, or 127.0.0.1:2181); with /PATH behind it, all paths are below that" },
    [SETTING_AUTH_FILE] = { "auth-file", .value = "FILE", .type = OPT_SETTING,
      .help = "a line \"scheme:credentials\"" },
    [SETTING_TIMEOUT] = { "timeout", .value = "DURATION", .type = OPT_SETTING,
      .help = "for connecting and for each answer (5s)" },
    [SETTING_TLS_CA] = { "tls-ca", .value = "FILE", INTO(tls_ca),
      .help = "with the next two: TLS. PEM: whom to trust" },
    [SETTING_TLS_CERT] = { "tls-cert", .value = "FILE", INTO(tls_cert), .help = "our certificate" },
    [SETTING_TLS_KEY] = { "tls-key", .value = "FILE", INTO(tls_key), .help = "its private key" },
    [SETTING_TLS_PASSWORD_FILE] = { "tls-password-file", .value = "FILE", .type = OPT_SETTING,
      .help = "a line: the password of the key" },
    [SETTING_TLS_VERIFY] = { "tls-verify", .value = "WHAT", .type = OPT_SETTING, .words = verifies,
      .help = "a server's certificate is for its name, or any of the authority: chain (name)" },
    [SETTING_SASL_MECHANISM] = { "sasl-mechanism", .value = "NAME", INTO(sasl_mechanism), .words = mechanisms,
      .help = "such as DIGEST-MD5" },
    [SETTING_SASL_USER] = { "sasl-user", .value = "NAME", INTO(sasl_user), .help = "who we are" },
    [SETTING_SASL_PASSWORD_FILE] = { "sasl-password-file", .value = "FILE", .type = OPT_SETTING,
      .help = "a line: the password" },
    [SETTING_SASL_REALM] = { "sasl-realm", .value = "NAME", INTO(sasl_realm), .help = "where we are known" },
    [SETTING_SASL_SERVICE] = { "sasl-service", .value = "NAME", INTO(sasl_service),
      .help = "the service of the servers (zookeeper)" },
    [SETTING_SASL_HOST] = { "sasl-host", .value = "NAME", INTO(sasl_host),
      .help = "what the servers call themselves" },
};
#undef INTO
/* clang-format on */

enum setting setting_find(const char *name, size_t len)
{
    enum setting i = 0;

    while (i < SETTING_COUNT &&
           (strlen(setting_options[i].name) != len ||
            strncmp(setting_options[i].name, name, len) != 0))
        i++;
    return i;
}

const char *setting_fault(enum setting setting, const char *value)
{
    int64_t ms;

    if (setting == SETTING_SERVERS && value[0] == '\0')
        return "is empty";
    if (setting == SETTING_TIMEOUT &&
        (!lockctl_parse_duration(value, &ms) || ms <= 0 || ms > INT32_MAX))
        return "is not a duration";
    if (setting == SETTING_TLS_VERIFY && strcmp(value, verifies[0]) != 0 &&
        strcmp(value, verifies[1]) != 0)
        return "is not name or chain";
    return NULL;
}
