/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes paths and text, against jansson's idea of UTF-8 and a walk by
 * components. */
#include "base/path.h"
#include "safe.h"

static bool is_clean(const char *text)
{
    bool clean = is_utf8(text);

    while (clean && *text != '\0') {
        uint32_t c = utf8_next(&text);

        clean = !(c < 0x20 || (c >= 0x7f && c < 0xa0) ||
                  (c >= 0xe000 && c < 0xf900) || (c >= 0xfff0 && c < 0x10000));
    }
    return clean;
}

static bool has_good_components(const char *path)
{
    for (const char *part = path; *part != '\0';) {
        size_t len = strcspn(++part, "/");
        size_t dots = strspn(part, ".");

        if (len == 0 || (dots == len && dots <= 2))
            return false;
        part += len;
    }
    return true;
}

static bool is_good(const char *path)
{
    if (path[0] != '/' || !is_clean(path))
        return false;
    if (strcmp(path, "/") == 0)
        return true;
    for (const char *p = path; *p != '\0';) {
        if (utf8_next(&p) > 0xffff)
            return false;
    }
    return has_good_components(path);
}

static void check_join(const char *parent, const char *child)
{
    char *path = zkr__path_join(parent, child);
    bool is_name = zkr__path_is_child_name(child);

    CHECK(path != NULL);
    CHECK(is_name == (strchr(child, '/') == NULL && child[0] != '\0' &&
                      strcmp(child, ".") != 0 && strcmp(child, "..") != 0));
    CHECK(!is_name || strcmp(zkr__path_name(path), child) == 0);
    CHECK(!is_name || strncmp(path, parent, strlen(parent)) == 0);
    CHECK(strlen(path) ==
          strlen(parent) + strlen(child) + (strcmp(parent, "/") != 0));
    if (is_good(parent) && is_name)
        CHECK((zkr__path_fault(path) == NULL) == is_good(path));
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    size_t first = strlen(text);
    char *child = first < size ? fuzz_text(data + first + 1, size - first - 1)
                               : strdup("child");

    CHECK(child != NULL);
    CHECK((zkr__text_fault(text) == NULL) == is_clean(text));
    CHECK((zkr__path_fault(text) == NULL) == is_good(text));
    CHECK(strchr(zkr__path_name(text), '/') == NULL);
    check_join(text, child);
    check_join("/", text);
    check_join("/locks", text);
    free(text);
    free(child);
    return 0;
}
