/* Injects failures into a command's system calls. Preloaded by cli/tests/fault_matrix.rs, which describes the variables.
 *
 * REPTILE_FAULT_LOG   file for a line per call, its name and the file's path; or for a `!` per disturbed call
 * REPTILE_FAULT_CALL  the call to disturb: open, read, pread, write, fsync or mmap, `any` of them, or `rename` or
 *                     `flock`, which the kernel passes to a signal handler because the command makes these calls
 *                     without the C library
 * REPTILE_FAULT_PATH  part of the file's path; its end, if the last character is `$`
 * REPTILE_FAULT_AT    number of the first disturbed call, from 1
 * REPTILE_FAULT_KIND  an error number; or `once-` and an error number, for a single call; or `short`, `interrupted`, or
 *                     `kill`
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

enum kind { NONE, ERROR, SHORT, INTERRUPTED, KILL };

static const char *wanted_call = "", *wanted_path = "";
static enum kind kind = NONE;
static int number, is_once, log_file = -1;
static long first = 1;
static atomic_long calls;

/* Gives a refused call its result. */
static void answer(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    if (log_file >= 0) syscall(SYS_write, log_file, "!", 1);
#if defined(__x86_64__)
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = -number;
#elif defined(__aarch64__)
    ((ucontext_t *)context)->uc_mcontext.regs[0] = -number;
#else
#error "the register for a call's result is unknown"
#endif
}

/* Makes the kernel refuse some calls for the whole process. */
static void refuse(const unsigned *refused, size_t count) {
    struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    if (sigaction(SIGSYS, &action, NULL)) _exit(99);
    struct sock_filter filter[16];
    size_t length = 0;
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t index = 0; index < count; index++)
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[index], count - index, 0);
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
    struct sock_fprog program = {.len = length, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) _exit(99);
}

__attribute__((constructor)) static void begin(void) {
    const char *call = getenv("REPTILE_FAULT_CALL"), *path = getenv("REPTILE_FAULT_PATH");
    const char *at = getenv("REPTILE_FAULT_AT"), *what = getenv("REPTILE_FAULT_KIND");
    const char *log = getenv("REPTILE_FAULT_LOG");
    if (log) log_file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (!call || !path || !at || !what) return;
    first = atol(at);
    if (!strcmp(what, "short")) kind = SHORT;
    else if (!strcmp(what, "interrupted")) kind = INTERRUPTED;
    else if (!strcmp(what, "kill")) kind = KILL;
    else {
        is_once = !strncmp(what, "once-", 5);
        number = atoi(is_once ? what + 5 : what);
        kind = ERROR;
    }
    wanted_path = path;
    wanted_call = call;
    const unsigned renames[] = {
#ifdef SYS_rename
        SYS_rename, SYS_link,
#endif
#ifdef SYS_renameat
        SYS_renameat,
#endif
        SYS_renameat2, SYS_linkat};
    const unsigned locks[] = {SYS_flock};
    if (!strcmp(call, "rename")) refuse(renames, sizeof renames / sizeof *renames);
    if (!strcmp(call, "flock")) refuse(locks, 1);
}

static int is_wanted(const char *path) {
    size_t length = strlen(wanted_path), all = strlen(path);
    if (length && wanted_path[length - 1] == '$')
        return all + 1 >= length && !strncmp(path + all - (length - 1), wanted_path, length - 1);
    return strstr(path, wanted_path) != NULL;
}

/* Returns whether to disturb this call. If so, `errno` is set for a failing one. */
static int strikes(const char *call, const char *path) {
    static _Thread_local int turn;
    if (kind == NONE) {
        char line[5000];
        int length = snprintf(line, sizeof line, "%s %s\n", call, path);
        if (log_file >= 0) syscall(SYS_write, log_file, line, length);
        return 0;
    }
    if ((strcmp(wanted_call, call) && strcmp(wanted_call, "any")) || !is_wanted(path)) return 0;
    long own = atomic_fetch_add(&calls, 1) + 1;
    if (own < first || (is_once && own > first)) return 0;
    /* A loop that retries must end. */
    if (kind == INTERRUPTED && ++turn % 2 == 0) return 0;
    if (log_file >= 0) syscall(SYS_write, log_file, "!", 1);
    if (kind == KILL) {
        syscall(SYS_kill, getpid(), SIGKILL);
        for (;;) pause();
    }
    errno = kind == INTERRUPTED ? EINTR : number;
    return 1;
}

static int strikes_file(const char *call, int file) {
    char link[64], path[4096];
    int saved = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    errno = saved;
    if (length <= 0 || file == log_file) return 0;
    path[length] = 0;
    return strikes(call, path);
}

/* Returns a positive length that is at most `count`, and much less for most. */
static size_t shortened(size_t count) {
    static atomic_ulong turn;
    size_t most = 1 + atomic_fetch_add(&turn, 1) * 7919 % 1021;
    return count < most ? count : most;
}

#define DISTURB(call, file, count)                    \
    if (strikes_file(call, file)) {                   \
        if (kind != SHORT) return -1;                 \
        count = shortened(count);                     \
    }

ssize_t read(int file, void *bytes, size_t count) {
    DISTURB("read", file, count)
    return syscall(SYS_read, file, bytes, count);
}

ssize_t write(int file, const void *bytes, size_t count) {
    DISTURB("write", file, count)
    return syscall(SYS_write, file, bytes, count);
}

ssize_t pread64(int file, void *bytes, size_t count, off64_t offset) {
    DISTURB("pread", file, count)
    return syscall(SYS_pread64, file, bytes, count, offset);
}

ssize_t pread(int file, void *bytes, size_t count, off_t offset) { return pread64(file, bytes, count, offset); }

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    DISTURB("write", file, count)
    return syscall(SYS_pwrite64, file, bytes, count, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) { return pwrite64(file, bytes, count, offset); }

/* A short vector is its first nonempty part, shortened. */
static ssize_t vector(long call, const char *name, int file, const struct iovec *parts, int count) {
    if (!strikes_file(name, file)) return syscall(call, file, parts, count);
    if (kind != SHORT) return -1;
    while (count > 1 && parts->iov_len == 0) parts++, count--;
    struct iovec part = {.iov_base = parts->iov_base, .iov_len = shortened(parts->iov_len)};
    return syscall(call, file, &part, 1);
}

ssize_t readv(int file, const struct iovec *parts, int count) { return vector(SYS_readv, "read", file, parts, count); }

ssize_t writev(int file, const struct iovec *parts, int count) {
    return vector(SYS_writev, "write", file, parts, count);
}

int fsync(int file) { return strikes_file("fsync", file) ? -1 : syscall(SYS_fsync, file); }

int fdatasync(int file) { return strikes_file("fsync", file) ? -1 : syscall(SYS_fdatasync, file); }

void *mmap64(void *address, size_t length, int protection, int flags, int file, off64_t offset) {
    if (file >= 0 && strikes_file("mmap", file)) return MAP_FAILED;
    return (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset);
}

void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) {
    return mmap64(address, length, protection, flags, file, offset);
}

static int open_at(int folder, const char *path, int flags, mode_t mode) {
    return strikes("open", path) ? -1 : syscall(SYS_openat, folder, path, flags, mode);
}

#define MODE(mode, flags)                             \
    mode_t mode = 0;                                  \
    if (flags & (O_CREAT | __O_TMPFILE)) {            \
        va_list list;                                 \
        va_start(list, flags);                        \
        mode = va_arg(list, int);                     \
        va_end(list);                                 \
    }

int open64(const char *path, int flags, ...) {
    MODE(mode, flags)
    return open_at(AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...) {
    MODE(mode, flags)
    return open_at(AT_FDCWD, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
    MODE(mode, flags)
    return open_at(folder, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    MODE(mode, flags)
    return open_at(folder, path, flags, mode);
}
