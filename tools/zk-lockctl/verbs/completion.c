/* SPDX-License-Identifier: Apache-2.0 */
/* completion: prints scripts for shells, and the words that these ask for. */
#include "verbs/verbs.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/escape.h"
#include "common/now.h"
#include "model/scan.h"
#include "text/complete.h"

/* The user who pressed a key waits no longer. */
enum { BUDGET_MS = 300, FIND_MS = 200, FIND_LIMIT = 1000 };

/* --- the scripts --- */

static const char bash[] =
    "# zk-lockctl completion for bash:\n"
    "#   source <(zk-lockctl completion bash)\n"
    "_zk_lockctl()\n"
    "{\n"
    "    local words current prefix i\n"
    "    read -ra words <<<\"${COMP_LINE:0:COMP_POINT}\"\n"
    "    [[ ${COMP_LINE:0:COMP_POINT} == *[[:space:]] ]] && words+=('')\n"
    "    current=${words[-1]}\n"
    "    mapfile -t COMPREPLY < <(\"${words[0]}\" completion words -- \\\n"
    "        \"${words[@]:1}\" 2>/dev/null)\n"
    "    # bash takes what is behind the last ':' or '=' for the word\n"
    "    prefix=\n"
    "    if [[ $current == *[:=]* ]]; then\n"
    "        prefix=${current%\"${current##*[:=]}\"}\n"
    "        [[ $COMP_WORDBREAKS == *[:=]* ]] || prefix=\n"
    "    fi\n"
    "    for i in \"${!COMPREPLY[@]}\"; do\n"
    "        COMPREPLY[i]=${COMPREPLY[i]#\"$prefix\"}\n"
    "    done\n"
    "}\n"
    "complete -o bashdefault -o default -F _zk_lockctl zk-lockctl\n";

static const char zsh[] =
    "#compdef zk-lockctl\n"
    "# zk-lockctl completion for zsh: as _zk-lockctl in a directory of\n"
    "# $fpath, or  source <(zk-lockctl completion zsh)  after compinit.\n"
    "_zk_lockctl()\n"
    "{\n"
    "    local -a found\n"
    "    found=(${(f)\"$(\"${words[1]}\" completion words -- \\\n"
    "        \"${(@Q)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
    "    if (( ${#found} )); then\n"
    "        compadd -- \"${found[@]}\"\n"
    "    else\n"
    "        _files\n"
    "    fi\n"
    "}\n"
    "if [[ $funcstack[1] == _zk-lockctl ]]; then\n"
    "    _zk_lockctl \"$@\"\n"
    "else\n"
    "    compdef _zk_lockctl zk-lockctl\n"
    "fi\n";

static const char fish[] =
    "# zk-lockctl completion for fish:\n"
    "#   zk-lockctl completion fish | source\n"
    "function __zk_lockctl\n"
    "    set -l words (commandline -opc)\n"
    "    set -l program $words[1]\n"
    "    set -l current (commandline -ct)\n"
    "    # in quotes it is one word, also when nothing was typed\n"
    "    set -l found ($program completion words -- $words[2..-1] \\\n"
    "        \"$current\" 2>/dev/null)\n"
    "    if test (count $found) -gt 0\n"
    "        printf '%s\\n' $found\n"
    "    else\n"
    "        __fish_complete_path \"$current\"\n"
    "    end\n"
    "end\n"
    "complete -c zk-lockctl -f -a '(__zk_lockctl)'\n";

static const char *const scripts[] = { bash, zsh, fish };
static const char *const shells[] = { "bash", "zsh", "fish", NULL };

/* --- the words --- */

/* "--option=", which stands before each word that is offered: shells complete
 * all of what was typed. */
static char before[64];

static void offer(const char *current, const char *word, size_t len)
{
    if (strlen(current) <= len && strncmp(word, current, strlen(current)) == 0)
        (void)printf("%s%.*s\n", before, (int)len, word);
}

static void offer_all(const char *current, const char *const *words)
{
    for (; *words != NULL; words++)
        offer(current, *words, strlen(*words));
}

static void offer_verbs(const char *current)
{
    for (const struct verb *const *v = verbs; *v != NULL; v++)
        offer(current, (*v)->name, strlen((*v)->name));
}

static void offer_options(const char *current, const struct opt *options)
{
    char word[64];

    for (; options != NULL && options->name != NULL; options++) {
        int len = snprintf(word, sizeof(word), "--%s", options->name);

        offer(current, word, (size_t)len);
    }
}

static const char usual_root[] = "/locks";

/* The directory below which to look for locks that begin with this text. */
static void root_of(const char *current, char *root, size_t size)
{
    bool whole = current[0] == '\0' || current[0] == '/';
    char *slash;

    (void)snprintf(root, size, "%s%s%s", whole ? "" : usual_root,
                   whole ? "" : "/", current);
    slash = strrchr(root, '/');
    if (slash == NULL || slash == root)
        (void)strcpy(root, "/");
    else
        *slash = '\0';
}

static bool is_usual(const char *path)
{
    size_t len = strlen(usual_root);

    return strncmp(path, usual_root, len) == 0 &&
           (path[len] == '/' || path[len] == '\0');
}

/* Names are data of others: only names without a meaning to a shell are
 * offered.
 */
static void offer_lock(const char *current, const char *path)
{
    static const char locks[] = "/locks/";
    bool is_short =
        current[0] != '/' && strncmp(path, locks, strlen(locks)) == 0;
    const char *name = is_short ? path + strlen(locks) : path;

    char plain[ZKR_PATH_MAX * 4 + 1];

    if (complete_is_plain(name) &&
        strcmp(plain_text(name, plain, sizeof(plain)), name) == 0)
        offer(current, name, strlen(name));
}

static void end_now(int sig)
{
    (void)sig;
    _exit(0);
}

/* Servers may be silent in more than one way, and closing takes time, too. */
static void limit_time(void)
{
    struct itimerval timer = { .it_value = { .tv_usec = BUDGET_MS * 1000 } };

    (void)signal(SIGALRM, end_now);
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

/* Offers the locks that are found until `end_ms`, but those that were offered
 * before. */
static void offer_below(const struct lockctl *ctl, const char *root,
                        const char *current, int64_t end_ms, bool but_usual)
{
    int64_t left_ms = end_ms - clock_now_ms();
    struct scan_opts opts = { .limit = FIND_LIMIT, .reads = SCAN_HOLDERS };
    char detail[SCAN_DETAIL_MAX];
    struct scan found;

    if (left_ms <= 0)
        return;
    opts.timeout_ms = left_ms;
    if (locks_list(ctl, &root, 1, true, &opts, &found, detail) != ZKR_OK)
        return;
    for (size_t i = 0; i < found.count; i++) {
        if (!but_usual || !is_usual(found.locks[i].path))
            offer_lock(current, found.locks[i].path);
    }
    scan_done(&found);
    (void)fflush(stdout);
}

/* What the line says of it goes before what the environment says. */
static void take_ensemble(struct lockctl *ctl, const struct complete *c)
{
    for (enum setting i = 0; i < SETTING_COUNT; i++) {
        if (c->settings[i] != NULL)
            ctl->settings[i] = c->settings[i];
    }
    if (c->context != NULL)
        ctl->context = c->context;
}

static void offer_contexts(const char *current)
{
    struct contexts all;

    if (contexts_read(&all) != 0)
        return;
    for (size_t i = 0; i < all.count; i++)
        offer(current, all.items[i].name, strlen(all.items[i].name));
    contexts_done(&all);
}

/* Looks first in the usual directory of locks, because elsewhere there may be
 * too much for the time. */
static void offer_locks(struct lockctl *ctl, const struct complete *c,
                        const char *current)
{
    bool usual = strncmp(usual_root, current, strlen(current)) == 0;
    char root[ZKR_PATH_MAX + 1];
    int64_t end_ms;

    limit_time();
    take_ensemble(ctl, c);
    if (lockctl_settle(ctl) != 0)
        return;
    ctl->timeout_ms = BUDGET_MS;
    ctl->session_timeout_ms = 1000; /* what is left behind goes soon */
    if (strlen(current) + sizeof("/locks/") > sizeof(root) ||
        lockctl_connect(ctl) != 0)
        return;
    root_of(current, root, sizeof(root));
    end_ms = clock_now_ms() + FIND_MS;
    if (usual)
        offer_below(ctl, usual_root, current, end_ms, false);
    offer_below(ctl, root, current, end_ms, usual);
}

static int offer_words(struct lockctl *ctl, int count, char **words)
{
    struct complete c = complete_find(verbs, count, words);
    char *current = count > 0 ? words[count - 1] : "";

    if (c.before < sizeof(before))
        (void)snprintf(before, c.before + 1, "%s", current);
    current += c.before;
    switch (c.kind) {
    case COMPLETE_NOTHING:
        break;
    case COMPLETE_VERB:
        offer_verbs(current);
        break;
    case COMPLETE_OPTION:
        if (c.verb != NULL)
            offer_options(current, c.verb->options);
        offer_options(current, setting_options);
        offer_options(current, common_options);
        break;
    case COMPLETE_VALUE:
        offer_all(current, c.values);
        break;
    case COMPLETE_TOPIC:
        offer_verbs(current);
        offer_all(current, c.values);
        break;
    case COMPLETE_LOCK:
        offer_locks(ctl, &c, current);
        break;
    case COMPLETE_CONTEXT:
        offer_contexts(current);
        break;
    }
    return 0;
}

static int completion(struct lockctl *ctl, int argc, char **argv)
{
    /* getopt has taken no "--" before `words` */
    if (argc >= 2 && strcmp(argv[0], "words") == 0 &&
        strcmp(argv[1], "--") == 0)
        return offer_words(ctl, argc - 2, argv + 2);
    for (size_t i = 0; argc == 1 && shells[i] != NULL; i++) {
        if (strcmp(argv[0], shells[i]) != 0)
            continue;
        (void)fputs(scripts[i], stdout);
        return 0;
    }
    return lockctl_fail(EX_USAGE, "completion: for bash, zsh or fish?");
}

const struct verb verb_completion = {
    .name = "completion",
    .usage = "bash | zsh | fish",
    .summary = "Print a script that completes command lines",
    .help = "Verbs, options and their values, and the names of contexts and\n"
            "locks: for locks the servers are asked, for 300 ms at most, and "
            "below\n"
            "/locks first. Names that mean something to a shell are not\n"
            "offered. Where zk-lockctl is installed the scripts are as well;\n"
            "else:\n"
            "\n"
            "  bash:  source <(zk-lockctl completion bash)\n"
            "  zsh:   source <(zk-lockctl completion zsh)\n"
            "  fish:  zk-lockctl completion fish | source\n"
            "\n"
            "The scripts call: zk-lockctl completion words -- WORD...\n",
    .words = shells,
    .ends_at_argument = true,
    .run = completion,
};
