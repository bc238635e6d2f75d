//! The system calls that no safe library offers, each wrapped once. All `unsafe` code of the project is here.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::Pid;

/// Which side of a fork this is.
pub(super) enum Forked {
    Parent(Pid),
    Child,
}

/// Forks, the child in new namespaces as `flags` (`CLONE_NEW…`) say; none at all is a plain fork.
///
/// Both sides may go on with anything only because the helper has a single thread: it forks before any is made.
pub(super) fn fork_into(flags: libc::c_int) -> io::Result<Forked> {
    let flags = libc::c_long::from(flags | libc::SIGCHLD);
    // SAFETY: without CLONE_VM and with no stack of its own, the child runs on a copy of this memory as after
    // `fork`. No other thread exists whose locks could be held in the copy. The remaining arguments are unused.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        pid => {
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
            pid.map(Forked::Parent).ok_or_else(|| io::Error::other("clone returned no process id"))
        }
    }
}

/// How much memory a process that shares ours may use for its calls.
const STACK_BYTES: usize = 256 << 10;

/// Starts a process that shares the memory of this one until it becomes another program or ends, and waits until then.
/// Nothing is copied, so it takes a fraction of the time of a fork.
///
/// `child` ends the process if it returns. It may allocate, which is never given back, and must hold no lock when it
/// becomes the program; descriptors, the directory, signals, limits and privileges are its own.
pub(super) fn start_sharing(child: &mut dyn FnMut()) -> io::Result<Pid> {
    extern "C" fn run(child: *mut libc::c_void) -> libc::c_int {
        // SAFETY: it is what is handed over below, by a function that does not return before this process is done with it.
        let child = unsafe { &mut *child.cast::<&mut dyn FnMut()>() };
        child();
        exit_now(1)
    }
    let mut stack = vec![0_u128; STACK_BYTES / mem::size_of::<u128>()];
    let mut child = child;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack grows down from its end, which is aligned to 16 bytes. Because of CLONE_VFORK this thread, the only
    // one, stands still until the child has another memory or none: so the child alone uses this memory meanwhile, and
    // stack and closure outlive its use of them.
    let pid =
        unsafe { libc::clone(run, stack.as_mut_ptr_range().end.cast(), flags, (&raw mut child).cast()) };
    drop(stack);
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    Pid::from_raw(pid).ok_or_else(|| io::Error::other("clone returned no process id"))
}

/// A list of texts in the form in which the kernel takes arguments and variables.
pub(super) struct Words {
    texts: Vec<CString>,
    /// Points to each of them, and ends with none.
    pointers: Vec<*const libc::c_char>,
}

impl Words {
    pub(super) fn new(texts: Vec<CString>) -> Words {
        let pointers = texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect();
        Words { texts, pointers }
    }
}

/// Becomes another program. Returns only what went wrong.
pub(super) fn execute(program: &CStr, args: &Words, env: &Words) -> io::Error {
    debug_assert!(!args.texts.is_empty() && args.pointers.len() > args.texts.len());
    // SAFETY: both lists end with a null pointer, and what they point to lives as long as they do.
    unsafe { libc::execve(program.as_ptr(), args.pointers.as_ptr(), env.pointers.as_ptr()) };
    io::Error::last_os_error()
}

/// What to change on a mount and everything mounted below it.
#[derive(Clone, Copy)]
pub(super) struct MountChange {
    pub(super) set: u64,
    pub(super) clear: u64,
}

/// Changes the attributes of a whole mount tree and makes it private, so that no mount spreads in or out.
pub(super) fn mount_setattr(tree: impl AsFd, change: MountChange) -> io::Result<()> {
    let attr = libc::mount_attr {
        attr_set: change.set,
        attr_clr: change.clear,
        propagation: libc::MS_PRIVATE,
        userns_fd: 0,
    };
    // SAFETY: the path is a C string, `attr` lives through the call, and its size is passed with it.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_fd().as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const attr,
            mem::size_of::<libc::mount_attr>(),
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Marks every descriptor from `first` on to be closed when another program is started.
pub(super) fn close_on_exec_from(first: u32) -> io::Result<()> {
    // SAFETY: only flags of descriptors change; none is closed.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Installs a filter for the system calls of this thread and all it starts. Needs no-new-privileges.
pub(super) fn install_filter(program: &[libc::sock_filter]) -> io::Result<()> {
    let len = u16::try_from(program.len()).map_err(|_| io::Error::other("the filter is too long"))?;
    let program = libc::sock_fprog { len, filter: program.as_ptr().cast_mut() };
    // SAFETY: `program` points to `len` instructions that outlive the call; the kernel copies and checks them.
    let done = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Gives every signal its default action, and blocks all of them, so that they are read by [`Signals`] only.
pub(super) fn take_signals() -> io::Result<Signals> {
    // The kernel's own form: handler, flags, restorer and mask, all zero. The C library would pass over two signals.
    let default = [0_u64; 4];
    for signal in 1..=64 {
        // SAFETY: `default` has the size of the kernel's structure, and installs no handler. Signals that cannot
        // be changed return an error, which is meant.
        unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, &raw const default, 0, 8) };
    }
    let mut all = mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigfillset` initialises the set it is given.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // SAFETY: initialised by the call above.
    let all = unsafe { all.assume_init() };
    // SAFETY: `all` is a valid set and the old one is not asked for.
    let done = unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut()) };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: -1 asks for a new descriptor, and `all` is a valid set.
    let fd = unsafe { libc::signalfd(-1, &raw const all, libc::SFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just made this descriptor, and nobody else owns it.
    Ok(Signals(unsafe { OwnedFd::from_raw_fd(fd) }))
}

/// The signals sent to this process, as something to poll and read.
pub(super) struct Signals(OwnedFd);

impl Signals {
    /// The next signal's number; waits for one.
    pub(super) fn next(&self) -> io::Result<i32> {
        let mut buffer = [0_u8; mem::size_of::<libc::signalfd_siginfo>()];
        rustix::io::retry_on_intr(|| rustix::io::read(&self.0, &mut buffer))?;
        // The number is the first field.
        let number = u32::from_ne_bytes([buffer[0], buffer[1], buffer[2], buffer[3]]);
        i32::try_from(number).map_err(io::Error::other)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Lets signals through again: the last thing before another program is started.
pub(super) fn unblock_signals() -> io::Result<()> {
    let mut none = mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `sigemptyset` initialises the set it is given.
    unsafe { libc::sigemptyset(none.as_mut_ptr()) };
    // SAFETY: initialised by the call above.
    let none = unsafe { none.assume_init() };
    // SAFETY: `none` is a valid set and the old one is not asked for.
    let done = unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut()) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Ends this process as a signal would, without leaving a core file.
pub(super) fn die_by(signal: i32) -> ! {
    // SAFETY: `raise` takes any number; default actions were restored by `take_signals`.
    unsafe { libc::raise(signal) };
    // A signal that does not end a process is told as a shell would tell it.
    exit_now(128 + signal)
}

/// Ends this process at once: a forked child must not run what its parent registered for its own end.
pub(super) fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(code) }
}

/// Lets the program that `command` starts inherit `kept`, and nobody else: the descriptors stay closed on
/// exec in this process, so another thread that starts a program meanwhile does not pass them on.
pub(super) fn inherit(command: &mut Command, kept: Vec<OwnedFd>) {
    let keep = move || kept.iter().try_for_each(|fd| keep_open(fd.as_raw_fd()));
    // SAFETY: the closure only calls `fcntl`, which may be called between fork and exec, and allocates nothing.
    unsafe { command.pre_exec(keep) };
}

fn keep_open(fd: RawFd) -> io::Result<()> {
    // SAFETY: changes a flag of a descriptor that the closure above owns.
    let done = unsafe { libc::fcntl(fd, libc::F_SETFD, 0) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Takes over a descriptor that this process was started with.
pub(super) fn inherited(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: asks for a flag of whatever the number stands for.
    let known = unsafe { libc::fcntl(fd, libc::F_GETFD) };
    if fd < 3 || known < 0 {
        return Err(io::Error::other("the descriptor was not inherited"));
    }
    // SAFETY: it is open, above the standard streams, and the helper takes each number once, before it opens
    // anything itself.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The version of Landlock's rules that the kernel knows; none is 0.
pub(super) fn landlock_version() -> i32 {
    let only_the_version = 1;
    // SAFETY: with this flag the kernel takes no attributes, so there is nothing behind the pointer.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0, only_the_version)
    };
    i32::try_from(version.max(0)).unwrap_or_default()
}

/// The small helper is not larger. Where haft is its own helper, to fetch all of it would take longer than it saves.
const FETCHED_BYTES_MAX: usize = 4 << 20;

/// Has this program's own code at hand, so that none of it has to be fetched when it counts: each page that is not yet
/// there costs some microseconds. Kernels before 5.14 know no such thing, and then it is fetched when it is needed.
pub(super) fn fetch_own_code() {
    unsafe extern "C" {
        /// Where the linker says that the program begins, and where its code ends.
        static __executable_start: u8;
        static etext: u8;
    }
    let (start, end) = (&raw const __executable_start as usize, &raw const etext as usize);
    let start = start - start % rustix::param::page_size();
    let bytes = end.saturating_sub(start);
    if bytes > FETCHED_BYTES_MAX {
        return;
    }
    let at = std::ptr::with_exposed_provenance_mut(start);
    // SAFETY: the pages are only looked at, and those that are not there are told as an error.
    unsafe { libc::madvise(at, bytes, libc::MADV_POPULATE_READ) };
}

/// Has the threads of this process share what they have freed. glibc gives nearly each its own memory, up to eight for
/// every processor, and what one has freed is of no use to another: a process that works for days would grow.
pub(crate) fn share_memory() {
    /// So many threads allocate side by side; more of them wait for each other, for a moment.
    #[cfg(target_env = "gnu")]
    const ARENAS: libc::c_int = 2;
    // Where it is refused, everything stays as it was.
    #[cfg(target_env = "gnu")]
    // SAFETY: The call takes two numbers, and nothing of ours is touched.
    let _refused = unsafe { libc::mallopt(libc::M_ARENA_MAX, ARENAS) };
}
