/* Settings: what the tool must know to reach an ensemble. */
#include "common/settings.h"

#include <string.h>

#include "common/lockctl.h"

enum kind { KIND_TEXT, KIND_FILE, KIND_DURATION };

static const struct {
    const char *name;
    enum kind kind;
} settings[SETTING_COUNT] = {
    [SETTING_SERVERS] = { "servers", KIND_TEXT },
    [SETTING_CHROOT] = { "chroot", KIND_TEXT },
    [SETTING_AUTH_FILE] = { "auth-file", KIND_FILE },
    [SETTING_TIMEOUT] = { "timeout", KIND_DURATION },
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

const char *setting_fault(enum setting setting, const char *value)
{
    int64_t ms;

    if (settings[setting].kind == KIND_DURATION &&
        (!lockctl_parse_duration(value, &ms) || ms <= 0 || ms > INT32_MAX))
        return "is not a duration";
    return NULL;
}
