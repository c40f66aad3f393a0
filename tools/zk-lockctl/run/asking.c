/* SPDX-License-Identifier: Apache-2.0 */
/* Asks, and is asked, through a socket in the abstract namespace: it has no
 * file that would be left behind. Its name may be seen, and taken, by others,
 * so that both sides look at the user of the other. */
#include "run/asking.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/lockctl.h"

/* A client writes as soon as it is connected. */
enum { QUESTION_MS = 200 };

static const char *const words[] = {
    [ASKED_CHECK] = "check",
    [ASKED_RELEASE] = "release",
    [ASKED_NOTE] = "note",
    [ASKED_NOTED] = "noted",
};

/* A release may wait for servers; others are answered at once. */
enum { SILENCE_S = 2, RELEASE_SILENCE_S = 60 };

static socklen_t make_address(struct sockaddr_un *address, const char *id)
{
    int len;

    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    len = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
                   "zk-lockctl-hold-%s", id);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                       (size_t)len);
}

int asking_listen(const char *id)
{
    struct sockaddr_un address;
    socklen_t size = make_address(&address, id);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    if (bind(fd, (const struct sockaddr *)&address, size) == 0 &&
        listen(fd, 16) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

static bool is_same_user(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

/* "WORD" or "WORD PATH". */
static bool read_question(int fd, struct question *q)
{
    struct timeval limit = { .tv_usec = QUESTION_MS * 1000 };
    char text[ZKR_PATH_MAX + 32];
    ssize_t n;

    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    n = recv(fd, text, sizeof(text) - 1, 0);
    if (n <= 0)
        return false;
    text[n] = '\0';
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t len = strlen(words[i]);

        if (strncmp(text, words[i], len) != 0 ||
            (text[len] != ' ' && text[len] != '\0'))
            continue;
        q->what = (enum asked)i;
        (void)snprintf(q->about, sizeof(q->about), "%.*s", ZKR_PATH_MAX,
                       text[len] == '\0' ? "" : text + len + 1);
        return true;
    }
    return false;
}

int asking_next(int fd, struct question *ret_question)
{
    int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

    if (peer < 0)
        return -1;
    if (is_same_user(peer) && read_question(peer, ret_question))
        return peer;
    (void)close(peer);
    return -1;
}

/* "CODE" or "CODE SENTENCE". */
void asking_answer(int fd, const struct answer *answer)
{
    char text[sizeof(answer->text) + 16];
    int len = snprintf(text, sizeof(text), "%d %s", answer->code,
                       answer->code == 0 ? "" : answer->text);

    (void)send(fd, text, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)close(fd);
}

/* -1: nobody, or somebody else. */
static int reach(const char *id, int silence_s)
{
    struct timeval limit = { .tv_sec = silence_s };
    struct sockaddr_un address;
    socklen_t size = make_address(&address, id);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (connect(fd, (const struct sockaddr *)&address, size) == 0 &&
        is_same_user(fd))
        return fd;
    (void)close(fd);
    return -1;
}

bool asking_is_there(const char *id)
{
    int fd = reach(id, SILENCE_S);

    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

bool asking_ask(const char *id, const struct question *question,
                struct answer *ret_answer)
{
    char text[sizeof(ret_answer->text) + 16];
    int fd = reach(id, question->what == ASKED_RELEASE ? RELEASE_SILENCE_S
                                                       : SILENCE_S);
    ssize_t n = -1;
    bool silent;
    char *end;
    int len;

    if (fd < 0)
        return false;
    len = snprintf(text, sizeof(text), "%s%s%s", words[question->what],
                   question->about[0] == '\0' ? "" : " ", question->about);
    if (send(fd, text, (size_t)len, MSG_NOSIGNAL) == len)
        n = recv(fd, text, sizeof(text) - 1, 0);
    silent = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    (void)close(fd);
    if (silent)
        *ret_answer = (struct answer){
            EX_LOST, "the process that keeps the lock does not answer"
        };
    if (n <= 0)
        return silent;
    text[n] = '\0';
    ret_answer->code = (int)strtol(text, &end, 10);
    (void)snprintf(ret_answer->text, sizeof(ret_answer->text), "%.4000s",
                   *end == ' ' ? end + 1 : end);
    return true;
}
