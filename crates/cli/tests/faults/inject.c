/* Runs a command in which one system call fails once, with an error of choice.
 *
 *   inject REPORT SECONDS PROCESS CALL NTH ERROR COMMAND ARGUMENT...
 *
 * The NTH call of CALL (its name) that process PROCESS makes fails with the number ERROR, and does
 * nothing. PROCESS 0 is the command, n + 1 is what runs as `... pe n ...`. Calls are counted from
 * where a process prepares for SIGXFSZ, which is the first thing that thalweg does: before that
 * there is only the loader of programs.
 *
 * A seccomp filter, which children inherit, has the kernel ask this process about every call of that
 * name (seccomp_unotify(2)); neither privileges nor a debugger are needed.
 *
 * REPORT gets a line: whether the call was made, and what became of the command:
 *   failed|reached-not ended|hung|left
 * hung: it was there after SECONDS; left: it had ended, but not what it had started. Both are killed.
 * The exit status is that of the command; 128 and the signal that killed it; 125: trouble here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES_MAX 64
#define TROUBLE 125

static const struct {
    const char *name;
    int number;
} calls[] = {
#define CALL(name) {#name, SYS_##name}
    CALL(accept4), CALL(bind), CALL(clock_nanosleep), CALL(clone3), CALL(close), CALL(connect),
    CALL(dup), CALL(dup3), CALL(epoll_create1), CALL(epoll_ctl), CALL(eventfd2), CALL(execve), CALL(fchmod), CALL(fcntl), CALL(fdatasync),
    CALL(flock), CALL(fstat), CALL(fsync), CALL(ftruncate), CALL(futex), CALL(getcwd),
    CALL(getdents64), CALL(getpeername), CALL(getrandom), CALL(getsockname), CALL(getsockopt),
    CALL(ioctl), CALL(kill), CALL(listen), CALL(lseek), CALL(madvise), CALL(membarrier),
    CALL(memfd_create), CALL(mkdirat), CALL(mmap), CALL(mprotect), CALL(mremap), CALL(munmap),
    CALL(newfstatat), CALL(openat), CALL(pidfd_open), CALL(pidfd_send_signal), CALL(pipe2),
    CALL(ppoll), CALL(prctl), CALL(pread64), CALL(pwrite64), CALL(read), CALL(readlinkat),
    CALL(readv), CALL(recvfrom), CALL(recvmsg), CALL(renameat2), CALL(rt_sigaction),
    CALL(sched_getaffinity), CALL(sched_setaffinity), CALL(sched_yield), CALL(sendmsg), CALL(sendto),
    CALL(setsockopt), CALL(shutdown), CALL(sigaltstack), CALL(socket), CALL(socketpair), CALL(statx),
    CALL(uname), CALL(unlinkat), CALL(wait4), CALL(waitid), CALL(write), CALL(writev),
#ifdef SYS_poll /* x86-64 has these besides. */
    CALL(access), CALL(dup2), CALL(epoll_wait), CALL(mkdir), CALL(open), CALL(poll), CALL(readlink), CALL(rename),
    CALL(unlink),
#endif
};

struct process {
    int number;
    int has_begun;
    long count;
};

static struct process processes[PROCESSES_MAX];

static void give_up(const char *what) {
    fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
    exit(TROUBLE);
}

static int number_of(const char *name) {
    for (size_t at = 0; at < sizeof calls / sizeof calls[0]; at++)
        if (!strcmp(calls[at].name, name))
            return calls[at].number;
    return -1;
}

/* Has the kernel ask about the call, and about preparations for SIGXFSZ; the listener. */
static int install(int call) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigaction, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SIGXFSZ, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                        &program);
}

/* Starts the command under the filter. It stops until this process has the listener. */
static pid_t start(char **command, int call, int *listener) {
    int *theirs = mmap(NULL, sizeof *theirs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = theirs == MAP_FAILED ? -1 : fork();
    if (child == 0) {
        setpgid(0, 0);
        *theirs = install(call);
        raise(SIGSTOP);
        execvp(command[0], command);
        _exit(TROUBLE);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, WUNTRACED) < 0 || !WIFSTOPPED(status))
        give_up("cannot start");
    int process = (int)syscall(SYS_pidfd_open, child, 0);
    *listener = (int)syscall(SYS_pidfd_getfd, process, *theirs, 0);
    if (*listener < 0) {
        kill(child, SIGKILL);
        give_up("no listener");
    }
    close(process);
    kill(child, SIGCONT);
    return child;
}

/* Which process a thread belongs to: 0, or one more than the number behind the argument "pe". */
static int process_of(unsigned thread) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%u/cmdline", thread);
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    const char *first = text + strlen(text) + 1;
    if (first >= text + length || strcmp(first, "pe"))
        return 0;
    return atoi(first + 3) + 1;
}

static struct process *find(int number) {
    for (int at = 0; at < PROCESSES_MAX; at++) {
        struct process *process = &processes[at];
        if (!process->has_begun || process->number == number) {
            process->number = number;
            return process;
        }
    }
    return NULL;
}

/* What the kernel asks: whether the call is the one that fails. */
static int is_chosen(const struct seccomp_notif *asked, int call, int chosen, long nth) {
    int number = process_of(asked->pid);
    struct process *process = number < 0 ? NULL : find(number);
    if (!process)
        return 0;
    if (asked->data.nr == SYS_rt_sigaction && asked->data.args[0] == SIGXFSZ)
        process->has_begun = 1;
    if (asked->data.nr != call || !process->has_begun)
        return 0;
    process->count++;
    return number == chosen && process->count == nth;
}

/* Answers one question; whether the call was made to fail. */
static int answer(int listener, int call, int chosen, long nth, int error) {
    struct seccomp_notif asked;
    struct seccomp_notif_resp reply;
    memset(&asked, 0, sizeof asked);
    memset(&reply, 0, sizeof reply);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked))
        return 0; /* Who asked is gone. */
    reply.id = asked.id;
    int fails = is_chosen(&asked, call, chosen, nth);
    if (fails)
        reply.error = -error;
    else
        reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    int is_gone = ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply) != 0;
    return fails && !is_gone;
}

static long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Takes the ends of processes; whether there are any left. */
static int collect(pid_t child, int *status, int *has_ended) {
    int ended;
    pid_t who;
    while ((who = waitpid(-1, &ended, WNOHANG)) > 0)
        if (who == child) {
            *status = WIFSIGNALED(ended) ? 128 + WTERMSIG(ended) : WEXITSTATUS(ended);
            *has_ended = 1;
        }
    return who == 0;
}

int main(int count, char **arguments) {
    if (count < 8) {
        fprintf(stderr, "usage: inject REPORT SECONDS PROCESS CALL NTH ERROR COMMAND...\n");
        return TROUBLE;
    }
    int chosen = atoi(arguments[3]), call = number_of(arguments[4]), error = atoi(arguments[6]);
    long nth = atol(arguments[5]);
    if (call < 0) {
        fprintf(stderr, "inject: there is no call %s here\n", arguments[4]);
        return TROUBLE;
    }
    FILE *report = fopen(arguments[1], "we");
    /* Processes that outlive the command become children of this one. */
    if (!report || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
        give_up("cannot begin");
    int listener, status = 0, has_failed = 0, has_ended = 0, is_late = 0;
    pid_t child = start(arguments + 7, call, &listener);
    long deadline = now_ms() + 1000 * atol(arguments[2]);
    do {
        struct pollfd wanted = {listener, POLLIN, 0};
        if (poll(&wanted, 1, has_ended ? 1 : 100) > 0 && wanted.revents & POLLIN)
            has_failed |= answer(listener, call, chosen, nth, error);
        if (!is_late && now_ms() > deadline) {
            is_late = 1 + has_ended;
            kill(-child, SIGKILL);
        }
    } while (collect(child, &status, &has_ended));
    const char *fates[] = {"ended", "hung", "left"};
    fprintf(report, "%s %s\n", has_failed ? "failed" : "reached-not", fates[is_late]);
    return fclose(report) ? TROUBLE : status;
}
