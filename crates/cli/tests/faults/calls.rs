//! The system calls that are made to fail, and what each error has to come to.
//!
//! `docs/system-calls.md` says the same in words; a test holds it to this list.

/// The outcome that a run has to have when a call of it fails once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comes {
    /// Nothing: the run is as if it had not failed.
    ToNothing,
    /// At worst, a run that fails and says why.
    ToAnError,
}

/// An error of a call.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    pub call: &'static str,
    pub error: &'static str,
    pub comes: Comes,
}

/// Calls with the errors that come to nothing, and those that may come to an error.
pub const CALLS: &[(&str, &[&str], &[&str])] = &[
    (
        "accept4",
        &["EINTR", "ECONNABORTED"],
        &["EMFILE", "ENOBUFS"],
    ),
    ("bind", &[], &["EADDRINUSE", "EACCES"]),
    ("clone3", &[], &["EAGAIN", "ENOMEM"]),
    ("close", &["EINTR", "EIO"], &[]),
    (
        "connect",
        &["EINTR"],
        &["ECONNREFUSED", "ETIMEDOUT", "EAGAIN"],
    ),
    ("epoll_create1", &[], &["EMFILE", "ENOMEM"]),
    ("epoll_ctl", &[], &["ENOMEM", "ENOSPC"]),
    ("epoll_wait", &["EINTR"], &[]),
    ("eventfd2", &[], &["EMFILE", "ENOMEM"]),
    ("execve", &[], &["EACCES", "ENOMEM", "ETXTBSY"]),
    ("fcntl", &[], &["EMFILE", "EINVAL"]),
    ("fstat", &[], &["EIO", "ENOMEM"]),
    ("ftruncate", &["EINTR"], &["ENOSPC", "EFBIG", "EIO"]),
    ("getcwd", &[], &["ENOENT", "EACCES"]),
    ("getdents64", &["EINTR"], &["EIO", "ENOENT"]),
    ("getpeername", &[], &["ENOTCONN", "ENOBUFS"]),
    ("getrandom", &["EINTR"], &[]),
    ("getsockname", &[], &["ENOBUFS"]),
    ("getsockopt", &[], &["ENOBUFS", "ENOPROTOOPT"]),
    ("ioctl", &[], &["EIO", "ENOTTY"]),
    ("listen", &[], &["EADDRINUSE"]),
    ("lseek", &[], &["EIO", "ESPIPE"]),
    ("madvise", &["EAGAIN", "EINVAL"], &[]),
    ("membarrier", &[], &["EINVAL", "EPERM"]),
    ("memfd_create", &[], &["EMFILE", "ENOMEM"]),
    ("mkdir", &[], &["EACCES", "ENOSPC", "EEXIST"]),
    ("newfstatat", &["EINTR"], &["EIO", "EACCES"]),
    ("openat", &["EINTR"], &["EIO", "EMFILE", "ENOENT", "EACCES"]),
    ("pidfd_open", &[], &["EMFILE", "ENOSYS"]),
    ("pidfd_send_signal", &[], &["EPERM"]),
    ("pipe2", &[], &["EMFILE", "ENFILE"]),
    ("poll", &["EINTR"], &["ENOMEM"]),
    ("ppoll", &["EINTR"], &["ENOMEM"]),
    ("prctl", &[], &["EINVAL", "EPERM"]),
    ("pread64", &["EINTR"], &["EIO"]),
    ("read", &["EINTR"], &["EIO", "EAGAIN"]),
    ("readlink", &[], &["EIO", "ENOENT"]),
    ("recvfrom", &["EINTR"], &["ECONNRESET", "ENOMEM"]),
    (
        "recvmsg",
        &["EINTR", "ENOBUFS", "ENOMEM"],
        &["ECONNRESET", "EIO"],
    ),
    ("rename", &[], &["EIO", "ENOSPC"]),
    ("rt_sigaction", &[], &["EINVAL"]),
    ("sched_getaffinity", &[], &["EINVAL", "ESRCH"]),
    ("sched_setaffinity", &[], &["EINVAL", "EPERM"]),
    (
        "sendmsg",
        &["EINTR", "ENOBUFS", "ENOMEM"],
        &["EPIPE", "EIO"],
    ),
    ("sendto", &["EINTR"], &["EPIPE", "ECONNRESET", "ENOBUFS"]),
    ("setsockopt", &[], &["ENOBUFS", "ENOPROTOOPT"]),
    ("shutdown", &["ENOTCONN"], &[]),
    ("socket", &[], &["EMFILE", "EACCES"]),
    ("socketpair", &[], &["EMFILE", "ENOMEM"]),
    ("statx", &["EINTR"], &["EIO", "EACCES"]),
    ("unlink", &[], &["EIO", "EACCES"]),
    ("wait4", &["EINTR"], &["ECHILD"]),
    ("waitid", &["EINTR"], &["ECHILD"]),
    ("write", &["EINTR"], &["EIO", "ENOSPC", "EPIPE", "EFBIG"]),
    ("writev", &["EINTR"], &["EIO", "EPIPE"]),
];

/// All failures to inject: every call with each of its errors.
pub fn failures() -> impl Iterator<Item = Failure> {
    CALLS.iter().flat_map(|&(call, nothing, error)| {
        let to = |comes| move |&error: &&'static str| Failure { call, error, comes };
        let nothing = nothing.iter().map(to(Comes::ToNothing));
        nothing.chain(error.iter().map(to(Comes::ToAnError)))
    })
}

/// The number of an error.
pub fn number(error: &str) -> i32 {
    use rustix::io::Errno;
    let errno = match error {
        "EACCES" => Errno::ACCESS,
        "EADDRINUSE" => Errno::ADDRINUSE,
        "EAGAIN" => Errno::AGAIN,
        "ECHILD" => Errno::CHILD,
        "ECONNABORTED" => Errno::CONNABORTED,
        "ECONNREFUSED" => Errno::CONNREFUSED,
        "ECONNRESET" => Errno::CONNRESET,
        "EEXIST" => Errno::EXIST,
        "EFBIG" => Errno::FBIG,
        "EINTR" => Errno::INTR,
        "EINVAL" => Errno::INVAL,
        "EIO" => Errno::IO,
        "EMFILE" => Errno::MFILE,
        "ENFILE" => Errno::NFILE,
        "ENOBUFS" => Errno::NOBUFS,
        "ENOENT" => Errno::NOENT,
        "ENOMEM" => Errno::NOMEM,
        "ENOPROTOOPT" => Errno::NOPROTOOPT,
        "ENOSPC" => Errno::NOSPC,
        "ENOSYS" => Errno::NOSYS,
        "ENOTCONN" => Errno::NOTCONN,
        "ENOTTY" => Errno::NOTTY,
        "EPERM" => Errno::PERM,
        "EPIPE" => Errno::PIPE,
        "ESPIPE" => Errno::SPIPE,
        "ESRCH" => Errno::SRCH,
        "ETIMEDOUT" => Errno::TIMEDOUT,
        "ETXTBSY" => Errno::TXTBSY,
        other => panic!("no number for {other}"),
    };
    errno.raw_os_error()
}
