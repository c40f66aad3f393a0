/* SPDX-License-Identifier: Apache-2.0 */
/* Settings: what the tool must know to reach an ensemble. */
#include "common/settings.h"

#include <string.h>

#include "common/lockctl.h"

enum kind { KIND_TEXT, KIND_FILE, KIND_DURATION, KIND_VERIFY };

static const struct {
    const char *name;
    enum kind kind;
} settings[SETTING_COUNT] = {
    [SETTING_SERVERS] = { "servers", KIND_TEXT },
    [SETTING_CHROOT] = { "chroot", KIND_TEXT },
    [SETTING_AUTH_FILE] = { "auth-file", KIND_FILE },
    [SETTING_TIMEOUT] = { "timeout", KIND_DURATION },
    [SETTING_TLS_CA] = { "tls-ca", KIND_FILE },
    [SETTING_TLS_CERT] = { "tls-cert", KIND_FILE },
    [SETTING_TLS_KEY] = { "tls-key", KIND_FILE },
    [SETTING_TLS_PASSWORD_FILE] = { "tls-password-file", KIND_FILE },
    [SETTING_TLS_VERIFY] = { "tls-verify", KIND_VERIFY },
    [SETTING_SASL_MECHANISM] = { "sasl-mechanism", KIND_TEXT },
    [SETTING_SASL_USER] = { "sasl-user", KIND_TEXT },
    [SETTING_SASL_PASSWORD_FILE] = { "sasl-password-file", KIND_FILE },
    [SETTING_SASL_REALM] = { "sasl-realm", KIND_TEXT },
    [SETTING_SASL_SERVICE] = { "sasl-service", KIND_TEXT },
    [SETTING_SASL_HOST] = { "sasl-host", KIND_TEXT },
};

const char *setting_name(enum setting setting)
{
    return settings[setting].name;
}

enum setting setting_find(const char *name, size_t len)
{
    enum setting i = 0;

    while (i < SETTING_COUNT && (strlen(settings[i].name) != len ||
                                 strncmp(settings[i].name, name, len) != 0))
        i++;
    return i;
}

bool setting_is_file(enum setting setting)
{
    return settings[setting].kind == KIND_FILE;
}

bool setting_read_verify(const char *value, uint32_t *ret_verify)
{
    static const char *const words[] = {
        [ZKR_TLS_VERIFY_NONE] = "none",
        [ZKR_TLS_VERIFY_CHAIN] = "chain",
        [ZKR_TLS_VERIFY_NAME] = "name",
    };

    for (uint32_t i = 1; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(words[i], value) == 0) {
            *ret_verify = i;
            return true;
        }
    }
    return false;
}

const char *setting_fault(enum setting setting, const char *value)
{
    uint32_t verify;
    int64_t ms;

    if (setting == SETTING_SERVERS && value[0] == '\0')
        return "is empty";
    if (settings[setting].kind == KIND_DURATION &&
        (!lockctl_parse_duration(value, &ms) || ms <= 0 || ms > INT32_MAX))
        return "is not a duration";
    if (settings[setting].kind == KIND_VERIFY &&
        !setting_read_verify(value, &verify))
        return "is none of chain, name, none";
    return NULL;
}
