/* SPDX-License-Identifier: Apache-2.0 */
/* Error codes, and the sentence that explains the last error of a thread. */
#include "base/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

const char *zkr_version(void)
{
    return ZKR_VERSION_STRING;
}

struct code {
    int value;
    const char *text;
};

static const struct code codes[] = { { ZKR_OK, "OK: success" },
#define ZKR_X(name, value, text) { value, #name ": " text },
                                     ZKR_ERRORS(ZKR_X)
#undef ZKR_X
/* The name is that of ZooKeeper, without ours before it. */
#define ZKR_X(name, value, text) { value, &(#name ": " text)[sizeof("ZKR")] },
                                         ZKR_ZK_ERRORS(ZKR_X)
#undef ZKR_X
};

static _Thread_local char last_detail[ZKR__DETAIL_MAX];

static const struct code *find(int value)
{
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (codes[i].value == value)
            return &codes[i];
    }
    return NULL;
}

const char *zkr_strerror(int code)
{
    const struct code *c = find(code);

    return c == NULL ? "unknown error" : c->text;
}

enum zkr__outcome zkr__error_outcome(int code)
{
    switch (code) {
    case ZKR_ZNOTREADONLY:
    case ZKR_ZTHROTTLEDOP:
        return ZKR__NOT_DONE;
    case ZKR_ZSYSTEMERROR:
    case ZKR_ZRUNTIMEINCONSISTENCY:
    case ZKR_ZCONNECTIONLOSS:
    case ZKR_ZMARSHALLINGERROR:
    case ZKR_ZOPERATIONTIMEOUT:
    case ZKR_ZSSLCONNECTIONERROR:
    case ZKR_ZCLOSING:
    case ZKR_ZSESSIONMOVED:
        return ZKR__UNKNOWN;
    case ZKR_ZINVALIDSTATE:
    case ZKR_ZUNKNOWNSESSION:
    case ZKR_ZSESSIONEXPIRED:
    case ZKR_ZAUTHFAILED:
        return ZKR__OVER;
    default:
        return ZKR__DONE;
    }
}

bool zkr_error_is_transient(int code)
{
    enum zkr__outcome outcome = zkr__error_outcome(code);

    return outcome == ZKR__UNKNOWN || outcome == ZKR__NOT_DONE ||
           code == ZKR_ETIMEDOUT || code == ZKR_EBUSY || code == ZKR_EREFUSED ||
           code == ZKR_EUNREACHABLE;
}

bool zkr_error_is_session_over(int code)
{
    return zkr__error_outcome(code) == ZKR__OVER || code == ZKR_ELOST ||
           code == ZKR_ECLOSED;
}

bool zkr_error_is_unsure(int code)
{
    return zkr__error_outcome(code) == ZKR__UNKNOWN || code == ZKR_EUNSURE ||
           code == ZKR_EPENDING || code == ZKR_EUNKNOWN;
}

/* A long sentence is cut, but never the code of ZooKeeper. */
__attribute__((format(printf, 3, 0))) static void
format_detail(char detail[ZKR__DETAIL_MAX], int code, const char *format,
              va_list args)
{
    char suffix[128] = "";

    if (code < 0 && code > ZKR_EINVAL)
        (void)snprintf(suffix, sizeof(suffix), " (ZooKeeper %d, %s)", code,
                       zkr_strerror(code));
    size_t room = ZKR__DETAIL_MAX - strlen(suffix);
    (void)vsnprintf(detail, room, format, args);
    (void)strcat(detail, suffix);
}

void zkr__error_format(char detail[ZKR__DETAIL_MAX], int code,
                       const char *format, ...)
{
    va_list args;

    va_start(args, format);
    format_detail(detail, code, format, args);
    va_end(args);
}

int zkr__fail(int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    format_detail(last_detail, code, format, args);
    va_end(args);
    zkr__log(ZKR_LOG_DEBUG, "returns %d: %s", code, last_detail);
    return code;
}

int zkr__no_memory(const char *noun, const char *path)
{
    return path == NULL ? zkr__fail(ZKR_ENOMEM, "%s: out of memory", noun)
                        : zkr__fail(ZKR_ENOMEM, "%s '%.300s': out of memory",
                                    noun, path);
}

void zkr__error_set_detail(const char *detail)
{
    (void)snprintf(last_detail, sizeof(last_detail), "%s", detail);
}

void zkr__error_append(const char *text)
{
    size_t len = strlen(last_detail);

    (void)snprintf(last_detail + len, sizeof(last_detail) - len, "%s", text);
}

const char *zkr_error_detail(void)
{
    return last_detail;
}
