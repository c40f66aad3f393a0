/* SPDX-License-Identifier: Apache-2.0 */
/* completion: prints scripts for shells, made of the tables of verbs and
 * options. They ask nobody. */
#include "verbs/verbs.h"

#include <stdio.h>
#include <string.h>

static void print_words(const char *const *words)
{
    for (; words != NULL && *words != NULL; words++)
        (void)printf("%s ", *words);
}

static void print_verbs(const char *between)
{
    for (const struct verb *const *v = verbs; *v != NULL; v++)
        (void)printf("%s%s", v == verbs ? "" : between, (*v)->name);
}

/* --- bash, and zsh, which reads what is for bash --- */

static void print_names(const struct opt *o)
{
    for (; o != NULL && o->name != NULL; o++)
        (void)printf("--%s ", o->name);
}

/* One branch for each option that has known values. */
static void print_values(const char *verb, const struct opt *o)
{
    for (; o != NULL && o->name != NULL; o++) {
        if (o->words == NULL)
            continue;
        (void)printf("    %s,--%s", verb, o->name);
        if (o->letter != '\0')
            (void)printf("|%s,-%c", verb, o->letter);
        (void)printf(") offers='");
        print_words(o->words);
        (void)puts("' ;;");
    }
}

static const char bash_start[] =
    "_zk_lockctl()\n"
    "{\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} option= verb= offers= i=\n"
    "    option=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    # bash takes '=' for a word of its own\n"
    "    [[ $current == = ]] && current=\n"
    "    [[ $option == = ]] && option=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    case $current in\n"
    "    --*=*) option=${current%%=*} i=$option= current=${current#*=} ;;\n"
    "    esac\n"
    "    local before=$i\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        case ${COMP_WORDS[i]} in\n";

static void print_bash(void)
{
    (void)fputs(bash_start, stdout);
    (void)fputs("        ", stdout);
    print_verbs("|");
    (void)puts(") verb=${COMP_WORDS[i]}; break ;;\n"
               "        esac\n"
               "    done\n"
               "    case $verb,$option in");
    for (const struct verb *const *v = verbs; *v != NULL; v++)
        print_values((*v)->name, (*v)->options);
    print_values("*", setting_options);
    print_values("*", common_options);
    (void)puts("    *) case $verb,$current in");
    for (const struct verb *const *v = verbs; *v != NULL; v++) {
        (void)printf("    %s,-*) offers='", (*v)->name);
        print_names((*v)->options);
        (void)printf("' ;;\n    %s,*) offers='", (*v)->name);
        print_words((*v)->words);
        if ((*v)->overview != NULL)
            print_verbs(" ");
        (void)puts("' ;;");
    }
    (void)fputs("    ,[!-]*|,) offers='", stdout);
    print_verbs(" ");
    (void)fputs("' ;;\n"
                "    esac\n"
                "    case $current in -*) offers+=' ",
                stdout);
    print_names(setting_options);
    print_names(common_options);
    (void)puts("' ;; esac ;;\n"
               "    esac\n"
               "    COMPREPLY=()\n"
               "    for i in $(compgen -W \"$offers\" -- \"$current\"); do\n"
               "        COMPREPLY+=(\"$before$i\")\n"
               "    done\n"
               "}\n"
               "complete -o bashdefault -o default -F _zk_lockctl zk-lockctl");
}

static void print_zsh(void)
{
    (void)puts("#compdef zk-lockctl\n"
               "autoload -U +X bashcompinit && bashcompinit");
    print_bash();
    (void)puts("# as a file of $fpath it is called for the first completion\n"
               "[[ $funcstack[1] != _zk-lockctl ]] ||\n"
               "    _bash_complete -o bashdefault -o default -F _zk_lockctl");
}

/* --- fish --- */

static void print_fish_options(const char *when, const struct opt *o)
{
    for (; o != NULL && o->name != NULL; o++) {
        (void)printf("complete -c zk-lockctl%s -l %s", when, o->name);
        if (o->letter != '\0')
            (void)printf(" -s %c", o->letter);
        if (o->words != NULL) {
            (void)printf(" -x -a '");
            print_words(o->words);
            (void)putchar('\'');
        } else if (o->value != NULL) {
            (void)printf(" -r");
        }
        (void)putchar('\n');
    }
}

static void print_fish(void)
{
    char when[80];

    for (const struct verb *const *v = verbs; *v != NULL; v++) {
        (void)printf("complete -c zk-lockctl -f -n __fish_use_subcommand -a %s "
                     "-d '%s'\n",
                     (*v)->name, (*v)->summary);
        (void)snprintf(when, sizeof(when),
                       " -n '__fish_seen_subcommand_from %s'", (*v)->name);
        print_fish_options(when, (*v)->options);
        if ((*v)->words == NULL)
            continue;
        (void)printf("complete -c zk-lockctl -f%s -a '", when);
        print_words((*v)->words);
        if ((*v)->overview != NULL)
            print_verbs(" ");
        (void)puts("'");
    }
    print_fish_options("", setting_options);
    print_fish_options("", common_options);
}

static const char *const shells[] = { "bash", "zsh", "fish", NULL };

static int completion(struct lockctl *ctl, int argc, char **argv)
{
    static void (*const scripts[])(void) = { print_bash, print_zsh,
                                             print_fish };

    (void)ctl;
    for (size_t i = 0; argc == 1 && shells[i] != NULL; i++) {
        if (strcmp(argv[0], shells[i]) != 0)
            continue;
        scripts[i]();
        return 0;
    }
    return lockctl_fail(EX_USAGE, "completion: for bash, zsh or fish?");
}

const struct verb verb_completion = {
    .name = "completion",
    .usage = "bash | zsh | fish",
    .summary = "Print a script that completes command lines",
    .help = "Where zk-lockctl is installed the scripts are as well; else:\n"
            "\n"
            "  bash:  source <(zk-lockctl completion bash), zsh likewise\n"
            "  fish:  zk-lockctl completion fish | source\n",
    .words = shells,
    .run = completion,
};
