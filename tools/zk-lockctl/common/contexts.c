/* SPDX-License-Identifier: Apache-2.0 */
#include "common/contexts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/grow.h"
#include "common/lockctl.h"

enum { TEXT_MAX = 64 * 1024 };

static const char blanks[] = " \t\r";
static const char name_chars[] = "abcdefghijklmnopqrstuvwxyz"
                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789_.-";

struct reader {
    struct contexts *contexts;
    struct context *context; /* NULL before the first */
    size_t line;             /* from 1 */
    size_t begun;            /* the line of its name */
};

static int fail(const struct reader *r, const char *what, const char *word)
{
    const char *quote = word[0] == '\0' ? "" : "'";

    return lockctl_fail(EX_CONFIG, "%s:%zu: %s%s%s%.200s%s", r->contexts->file,
                        r->line, what, word[0] == '\0' ? "" : " ", quote, word,
                        quote);
}

/* A context ends: has it all that it must have? */
static int end_context(struct reader *r)
{
    if (r->context == NULL || r->context->settings[SETTING_SERVERS] != NULL)
        return 0;
    r->line = r->begun;
    return fail(r, "no servers in the context", r->context->name);
}

/* A name is a word for shells and terminals, and no option. */
static int begin_context(struct reader *r, const char *name)
{
    struct contexts *all = r->contexts;

    if (name[0] == '\0' || name[0] == '-' ||
        name[strspn(name, name_chars)] != '\0')
        return fail(r,
                    "a name of a context has only letters, digits and "
                    "'_', '.', '-'",
                    "");
    for (size_t i = 0; i < all->count; i++) {
        if (strcmp(all->items[i].name, name) == 0)
            return fail(r, "a second context", name);
    }
    r->context = GROW(all);
    r->context->name = enough(strdup(name));
    r->begun = r->line;
    return 0;
}

/* Beside the file of contexts, unless it is absolute. */
static char *path_of(const struct contexts *all, const char *value)
{
    const char *slash = strrchr(all->file, '/');
    size_t dir =
        value[0] == '/' || slash == NULL ? 0 : (size_t)(slash + 1 - all->file);
    char *path = enough(malloc(dir + strlen(value) + 1));

    (void)strcpy((char *)mempcpy(path, all->file, dir), value);
    return path;
}

static int set(struct reader *r, const char *key, char *value, char **to)
{
    if (*to != NULL) {
        free(value);
        return fail(r, "a second", key);
    }
    *to = value;
    return 0;
}

static int read_key(struct reader *r, const char *key, const char *value)
{
    enum setting setting = 0;

    if (value[0] == '\0')
        return fail(r, "no value of", key);
    if (r->context == NULL && strcmp(key, "current") == 0)
        return set(r, key, enough(strdup(value)), &r->contexts->current);
    if (r->context == NULL)
        return fail(r, "before the first [CONTEXT] there is only 'current', no",
                    key);
    while (setting < SETTING_COUNT &&
           strcmp(setting_options[setting].name, key) != 0)
        setting++;
    if (setting == SETTING_COUNT)
        return fail(r, "a context has no", key);
    char *copy = strcmp(setting_options[setting].value, "FILE") == 0
                     ? path_of(r->contexts, value)
                     : enough(strdup(value));
    const char *fault = setting_fault(setting, copy);
    if (fault != NULL) {
        free(copy);
        return lockctl_fail(EX_CONFIG, "%s:%zu: the value of %s %s",
                            r->contexts->file, r->line, key, fault);
    }
    return set(r, key, copy, &r->context->settings[setting]);
}

/* Without the blanks around it. */
static char *trim(char *text)
{
    char *end = text + strlen(text);

    while (end > text && strchr(blanks, end[-1]) != NULL)
        *--end = '\0';
    return text + strspn(text, blanks);
}

static int read_line(struct reader *r, char *text)
{
    int code;

    for (const char *c = text; *c != '\0'; c++) {
        if (iscntrl((unsigned char)*c) != 0 && strchr(blanks, *c) == NULL)
            return fail(r, "a control character", "");
    }
    text = trim(text);
    if (text[0] == '\0' || text[0] == '#')
        return 0;
    char *equals = strchr(text, '=');
    if (text[0] == '[' && text[strlen(text) - 1] == ']') {
        text[strlen(text) - 1] = '\0';
        code = end_context(r);
        return code == 0 ? begin_context(r, trim(text + 1)) : code;
    }
    if (text[0] == '[' || equals == NULL)
        return fail(r, "neither [CONTEXT] nor KEY = VALUE", "");
    *equals = '\0';
    return read_key(r, trim(text), trim(equals + 1));
}

static int read_text(struct contexts *contexts, char *text)
{
    struct reader r = { .contexts = contexts };
    char *line;
    int code = 0;

    while (code == 0 && (line = strsep(&text, "\n")) != NULL) {
        r.line++;
        code = read_line(&r, line);
    }
    return code == 0 ? end_context(&r) : code;
}

/* --- where it is --- */

/* False: there is no file. XDG_CONFIG_HOME counts only when it is absolute (XDG
 * Base Directory Specification). */
static bool find_file(char file[PATH_MAX])
{
    const char *config = lockctl_env("ZK_LOCKCTL_CONFIG");
    const char *xdg = getenv("XDG_CONFIG_HOME");
    const char *home = lockctl_env("HOME");
    int len = 0;

    if (config != NULL) {
        (void)snprintf(file, PATH_MAX, "%s", config);
        return true;
    }
    if (xdg != NULL && xdg[0] == '/')
        len = snprintf(file, PATH_MAX, "%s/zk-lockctl/config", xdg);
    else if (home != NULL)
        len = snprintf(file, PATH_MAX, "%s/.config/zk-lockctl/config", home);
    if (len <= 0 || len >= PATH_MAX)
        file[0] = '\0';
    return file[0] != '\0' &&
           (access(file, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR));
}

int contexts_read(struct contexts *contexts)
{
    *contexts = (struct contexts){ .count = 0 };
    if (!find_file(contexts->file))
        return 0;
    char *text = enough(malloc(TEXT_MAX));
    const char *fault =
        private_file_read(contexts->file, PRIVATE_WRITE, text, TEXT_MAX);
    int code = fault == NULL
                   ? read_text(contexts, text)
                   : lockctl_fail(EX_CONFIG, "%s: %s", contexts->file, fault);
    free(text);
    if (code != 0)
        contexts_done(contexts);
    return code;
}

void contexts_done(struct contexts *contexts)
{
    for (size_t i = 0; i < contexts->count; i++) {
        for (size_t k = 0; k < SETTING_COUNT; k++)
            free(contexts->items[i].settings[k]);
        free(contexts->items[i].name);
    }
    free(contexts->items);
    free(contexts->current);
    contexts->items = NULL;
    contexts->current = NULL;
    contexts->count = 0;
}

const struct context *contexts_find(const struct contexts *contexts,
                                    const char *name)
{
    for (size_t i = 0; i < contexts->count; i++) {
        if (strcmp(contexts->items[i].name, name) == 0)
            return &contexts->items[i];
    }
    (void)lockctl_fail(EX_CONFIG, "there is no context '%s'%s%s", name,
                       contexts->file[0] == '\0' ? ": HOME is not set" : " in ",
                       contexts->file);
    return NULL;
}

static const char *const verifies[] = { "name", "chain", NULL };
static const char *const mechanisms[] = { "DIGEST-MD5", "GSSAPI", NULL };

/* clang-format off */
const struct opt setting_options[SETTING_COUNT + 1] = {
    [SETTING_SERVERS] = { "servers", .value = "HOST:PORT,...", .type = OPT_SETTING,
      .help = "the ensemble (default $ZK_SERVERS, or that of the current context, or 127.0.0.1:2181); with /PATH behind it, all paths are below that" },
    [SETTING_AUTH_FILE] = { "auth-file", .value = "FILE", .type = OPT_SECRET, .at = AT(zkr_session_opts, auth),
      .help = "a line \"scheme:credentials\"" },
    [SETTING_TIMEOUT] = { "timeout", .value = "DURATION", .type = OPT_SETTING,
      .help = "for connecting and for each answer (5s)" },
    [SETTING_TLS_CA] = { "tls-ca", .value = "FILE", .type = OPT_SETTING, .at = AT(zkr_session_opts, tls_ca),
      .help = "with the next two: TLS. PEM: whom to trust" },
    [SETTING_TLS_CERT] = { "tls-cert", .value = "FILE", .type = OPT_SETTING, .at = AT(zkr_session_opts, tls_cert), .help = "our certificate" },
    [SETTING_TLS_KEY] = { "tls-key", .value = "FILE", .type = OPT_SETTING, .at = AT(zkr_session_opts, tls_key), .help = "its private key" },
    [SETTING_TLS_PASSWORD_FILE] = { "tls-password-file", .value = "FILE", .type = OPT_SECRET, .at = AT(zkr_session_opts, tls_password),
      .help = "a line: the password of the key" },
    [SETTING_TLS_VERIFY] = { "tls-verify", .value = "WHAT", .type = OPT_SETTING, .words = verifies,
      .help = "a server's certificate is for its name, or any of the authority: chain (name)" },
    [SETTING_SASL_MECHANISM] = { "sasl-mechanism", .value = "NAME", .type = OPT_SETTING, .at = AT(zkr_session_opts, sasl_mechanism), .words = mechanisms,
      .help = "such as DIGEST-MD5" },
    [SETTING_SASL_USER] = { "sasl-user", .value = "NAME", .type = OPT_SETTING, .at = AT(zkr_session_opts, sasl_user), .help = "who we are" },
    [SETTING_SASL_PASSWORD_FILE] = { "sasl-password-file", .value = "FILE", .type = OPT_SECRET, .at = AT(zkr_session_opts, sasl_password),
      .help = "a line: the password" },
    [SETTING_SASL_REALM] = { "sasl-realm", .value = "NAME", .type = OPT_SETTING, .at = AT(zkr_session_opts, sasl_realm), .help = "where we are known" },
    [SETTING_SASL_SERVICE] = { "sasl-service", .value = "NAME", .type = OPT_SETTING, .at = AT(zkr_session_opts, sasl_service),
      .help = "the service of the servers (zookeeper)" },
    [SETTING_SASL_HOST] = { "sasl-host", .value = "NAME", .type = OPT_SETTING, .at = AT(zkr_session_opts, sasl_host),
      .help = "what the servers call themselves" },
};
/* clang-format on */

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

/* --- private files --- */

/* NULL, or what is wrong with it. The owner could change the mode. */
static const char *find_fault(int fd, enum private_from from)
{
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0)
        return strerror(errno);
    if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
        return "neither a file nor a pipe";
    if (S_ISFIFO(st.st_mode) && from == PRIVATE_READ)
        return NULL;
    if (from == PRIVATE_READ && (st.st_mode & 077) != 0)
        return "others may read it; chmod 600";
    if ((st.st_mode & 022) != 0)
        return "others may write it; chmod go-w";
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return "it belongs to somebody else";
    return NULL;
}

static const char *read_all(int fd, char *text, size_t size)
{
    size_t used = 0;
    ssize_t n = 1;

    while (n > 0 && used < size) {
        n = read(fd, text + used, size - used);
        used += n > 0 ? (size_t)n : 0;
    }
    if (n < 0)
        return strerror(errno);
    if (used == size)
        return "it is too long";
    text[used] = '\0';
    return strlen(text) == used ? NULL : "it has a byte 0";
}

const char *private_file_read(const char *path, enum private_from from,
                              char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    const char *fault = find_fault(fd, from);

    if (fault == NULL)
        fault = read_all(fd, text, size);
    if (fd >= 0)
        (void)close(fd);
    if (fault != NULL)
        explicit_bzero(text, size);
    return fault;
}
