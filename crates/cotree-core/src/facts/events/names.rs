//! Functions whose calls are events: those that allocate memory, and those that are system calls.
//!
//! A program's own function of such a name counts as well.

/// Functions of C that return new memory: C23 §7.24.3, POSIX.1-2024, and those of glibc ("Replacing malloc", "Formatted
/// Output Functions", "Copying Strings"), with the names that `_FORTIFY_SOURCE` gives them.
const ALLOCATORS: &str = "\
    __asprintf_chk __strdup __strndup __vasprintf_chk aligned_alloc asprintf calloc malloc memalign \
    posix_memalign pvalloc realloc reallocarray strdup strndup valloc vasprintf wcsdup";

/// Functions of Rust's `alloc` that return new memory: what `std::alloc::{alloc, alloc_zeroed, realloc}` call. Since
/// Rust 1.87 their symbols are mangled, as `_RNvCs…_7___rustc12___rust_alloc`.
const RUST_ALLOCATORS: [&str; 3] = ["__rust_alloc", "__rust_alloc_zeroed", "__rust_realloc"];

/// Functions of libc that are system calls: those that glibc 2.36 exports under the name of a system call of Linux
/// (`asm/unistd_64.h`; syscalls(2)) or that name with `64`, and its wrappers under other names: section 2 of the Linux
/// manual. `exit`, which does more than its system call, is not among them. What the kernel answers without being
/// entered (vdso(7)) counts as well.
const SYSTEM_CALLS: &str = "\
    _Exit __fxstat __fxstat64 __fxstatat __fxstatat64 __getcwd_chk __lxstat __lxstat64 __open64_2 __open_2 \
    __openat64_2 __openat_2 __poll_chk __ppoll_chk __pread64_chk __pread_chk __read_chk __readlink_chk \
    __readlinkat_chk __recv_chk __recvfrom_chk __xstat __xstat64 _exit accept accept4 access acct adjtimex \
    alarm arch_prctl bind brk capget capset chdir chmod chown chroot clock_adjtime clock_getres clock_gettime \
    clock_nanosleep clock_settime clone close close_range connect copy_file_range creat creat64 delete_module \
    dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd execve \
    execveat faccessat fallocate fallocate64 fanotify_init fanotify_mark fchdir fchmod fchmodat fchown \
    fchownat fcntl fcntl64 fdatasync fgetxattr flistxattr flock fork fremovexattr fsconfig fsetxattr fsmount \
    fsopen fspick fstat fstat64 fstatat fstatat64 fstatfs fstatfs64 fsync ftruncate ftruncate64 futimesat \
    getcpu getcwd getdents64 getdirentries64 getegid geteuid getgid getgroups getitimer getpeername getpgid \
    getpgrp getpid getppid getpriority getrandom getresgid getresuid getrlimit getrlimit64 getrusage getsid \
    getsockname getsockopt gettid gettimeofday getuid getxattr init_module inotify_add_watch inotify_init \
    inotify_init1 inotify_rm_watch ioctl ioperm iopl kill lchown lgetxattr link linkat listen listxattr \
    llistxattr lremovexattr lseek lseek64 lsetxattr lstat lstat64 madvise memfd_create mincore mkdir mkdirat \
    mknod mknodat mlock mlock2 mlockall mmap mmap64 modify_ldt mount mount_setattr move_mount mprotect \
    mq_close mq_getattr mq_notify mq_open mq_receive mq_send mq_setattr mq_timedreceive mq_timedsend mq_unlink \
    mremap msgctl msgget msgrcv msgsnd msync munlock munlockall munmap name_to_handle_at nanosleep open open64 \
    open_by_handle_at open_tree openat openat64 pause personality pidfd_getfd pidfd_open pidfd_send_signal \
    pipe pipe2 pivot_root pkey_alloc pkey_free pkey_mprotect poll posix_fadvise posix_fadvise64 ppoll prctl \
    pread pread64 preadv preadv2 preadv64 prlimit prlimit64 process_madvise process_mrelease process_vm_readv \
    process_vm_writev pselect ptrace pwrite pwrite64 pwritev pwritev2 pwritev64 quotactl read readahead \
    readlink readlinkat readv reboot recv recvfrom recvmmsg recvmsg remap_file_pages removexattr rename \
    renameat renameat2 rmdir sbrk sched_get_priority_max sched_get_priority_min sched_getaffinity \
    sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setparam \
    sched_setscheduler sched_yield select semctl semget semop semtimedop send sendfile sendfile64 sendmmsg \
    sendmsg sendto setdomainname setfsgid setfsuid setgid setgroups sethostname setitimer setns setpgid \
    setpriority setregid setresgid setresuid setreuid setrlimit setrlimit64 setsid setsockopt settimeofday \
    setuid setxattr shmat shmctl shmdt shmget shutdown sigaction sigaltstack signalfd sigpending sigprocmask \
    sigsuspend sigtimedwait socket socketpair splice stat stat64 statfs statfs64 statx swapoff swapon symlink \
    symlinkat sync sync_file_range syncfs syscall sysinfo syslog tee tgkill time timer_create timer_delete \
    timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times truncate \
    truncate64 umask umount umount2 uname unlink unlinkat unshare ustat utime utimensat utimes vfork vhangup \
    vmsplice wait wait3 wait4 waitid waitpid write writev";

fn is_listed(symbol: &str, names: &str) -> bool {
    names.split_ascii_whitespace().any(|name| name == symbol)
}

/// Does a call of the function allocate memory?
#[must_use]
pub fn allocates(symbol: &str) -> bool {
    is_listed(symbol, ALLOCATORS) || is_operator_new(symbol) || is_rust_allocator(symbol)
}

/// Is the function a system call?
#[must_use]
pub fn is_system_call(symbol: &str) -> bool {
    is_listed(symbol, SYSTEM_CALLS)
}

/// `operator new` and `operator new[]` of every standard form (Itanium C++ ABI, §5.1.5), but not placement new, which
/// allocates nothing.
fn is_operator_new(symbol: &str) -> bool {
    let operator = symbol.strip_prefix("_Znw").or_else(|| symbol.strip_prefix("_Zna"));
    let parameters = operator.and_then(|rest| rest.strip_prefix(['m', 'j']));
    parameters
        .is_some_and(|rest| matches!(rest, "" | "RKSt9nothrow_t" | "St11align_val_t" | "St11align_val_tRKSt9nothrow_t"))
}

fn is_rust_allocator(symbol: &str) -> bool {
    let mangled = |name: &&str| {
        symbol.starts_with("_RNv")
            && symbol.strip_suffix(*name).is_some_and(|rest| rest.ends_with(&format!("7___rustc{}_", name.len())))
    };
    RUST_ALLOCATORS.contains(&symbol) || RUST_ALLOCATORS.iter().any(mangled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_in_every_language() {
        for symbol in
            ["malloc", "__rust_alloc", "_RNvCs5QKde7ScR4H_7___rustc12___rust_alloc", "_Znwm", "_ZnamSt11align_val_t"]
        {
            assert!(allocates(symbol), "{symbol}");
        }
        // Placement new, deallocation, and functions of other crates.
        for symbol in [
            "_ZnwmPv",
            "free",
            "_ZdlPv",
            "_RNvCs5QKde7ScR4H_7___rustc14___rust_dealloc",
            "_RNvCs1_4mine12___rust_alloc",
        ] {
            assert!(!allocates(symbol), "{symbol}");
        }
        assert!(is_system_call("write") && is_system_call("openat64") && is_system_call("_exit"));
        assert!(!is_system_call("exit") && !is_system_call("fwrite") && !is_system_call(""));
    }
}
