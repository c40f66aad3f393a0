/* A machine on which kill() takes long, for zk-lockctl: preloaded. Whatever the
 * signal brings about happens while the tool is still busy with sending it. */
#include <signal.h>
#include <time.h>

#include <sys/syscall.h>
#include <unistd.h>

enum { SLOW_MS = 200 };

int kill(pid_t pid, int sig)
{
    struct timespec pause = { .tv_nsec = SLOW_MS * 1000000L };
    int rc = (int)syscall(SYS_kill, pid, sig);

    if (rc == 0)
        (void)nanosleep(&pause, NULL);
    return rc;
}
