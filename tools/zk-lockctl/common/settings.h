/* Settings: what the tool must know to reach an ensemble. Each is an option of
 * every verb, and a key of a context, of the same name. */
#ifndef COMMON_SETTINGS_H
#define COMMON_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

enum setting {
    SETTING_SERVERS,
    SETTING_CHROOT,
    SETTING_AUTH_FILE,
    SETTING_TIMEOUT,
    SETTING_COUNT,
};

/* "auth-file". */
const char *setting_name(enum setting setting);
/* The setting of that name; SETTING_COUNT: there is none. */
enum setting setting_find(const char *name, size_t len);
/* Tells whether its value names a file. */
bool setting_is_file(enum setting setting);
/* What is wrong with that value, such as "is not a duration"; NULL: nothing. */
const char *setting_fault(enum setting setting, const char *value);

#endif
