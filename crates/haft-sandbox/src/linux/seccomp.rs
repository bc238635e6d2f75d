//! The system calls a confined command is refused, as a filter program for the kernel.
//!
//! The filter lists what is refused rather than what is allowed: tools come with calls nobody foresaw, and the
//! namespaces, Landlock and the lack of capabilities already stand behind it. What is listed either reaches out of
//! the sandbox, or is a part of the kernel that a build does not need and attackers like.

use std::io;

use libc::{BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W};
use libc::{c_int, c_long, sock_filter};

use super::sys;
use crate::profile::Network;

#[cfg(target_arch = "x86_64")]
const ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCH: u32 = 0xc000_00b7;

/// Refused whatever the arguments. `EPERM` says that it may not be, `ENOSYS` that there is no such thing: programs
/// that can do without it then do.
const REFUSED: &[(c_long, c_int)] = &[
    // Looking into other processes, and taking their descriptors.
    (libc::SYS_ptrace, libc::EPERM),
    (libc::SYS_process_vm_readv, libc::EPERM),
    (libc::SYS_process_vm_writev, libc::EPERM),
    (libc::SYS_pidfd_getfd, libc::EPERM),
    (libc::SYS_kcmp, libc::EPERM),
    // Another view of the file system.
    (libc::SYS_mount, libc::EPERM),
    (libc::SYS_umount2, libc::EPERM),
    (libc::SYS_pivot_root, libc::EPERM),
    (libc::SYS_chroot, libc::EPERM),
    (libc::SYS_open_tree, libc::EPERM),
    (libc::SYS_move_mount, libc::EPERM),
    (libc::SYS_fsopen, libc::EPERM),
    (libc::SYS_fsconfig, libc::EPERM),
    (libc::SYS_fsmount, libc::EPERM),
    (libc::SYS_fspick, libc::EPERM),
    (libc::SYS_mount_setattr, libc::EPERM),
    (libc::SYS_setns, libc::EPERM),
    (libc::SYS_open_by_handle_at, libc::EPERM),
    (libc::SYS_fanotify_init, libc::EPERM),
    (libc::SYS_swapon, libc::EPERM),
    (libc::SYS_swapoff, libc::EPERM),
    (libc::SYS_quotactl, libc::EPERM),
    (libc::SYS_acct, libc::EPERM),
    // Parts of the kernel that are often the way through it.
    (libc::SYS_keyctl, libc::ENOSYS),
    (libc::SYS_add_key, libc::ENOSYS),
    (libc::SYS_request_key, libc::ENOSYS),
    (libc::SYS_bpf, libc::EPERM),
    (libc::SYS_perf_event_open, libc::EPERM),
    (libc::SYS_userfaultfd, libc::ENOSYS),
    (libc::SYS_io_uring_setup, libc::ENOSYS),
    (libc::SYS_io_uring_enter, libc::ENOSYS),
    (libc::SYS_io_uring_register, libc::ENOSYS),
    // The machine itself.
    (libc::SYS_init_module, libc::EPERM),
    (libc::SYS_finit_module, libc::EPERM),
    (libc::SYS_delete_module, libc::EPERM),
    (libc::SYS_kexec_load, libc::EPERM),
    (libc::SYS_kexec_file_load, libc::EPERM),
    (libc::SYS_reboot, libc::EPERM),
    (libc::SYS_settimeofday, libc::EPERM),
    (libc::SYS_clock_settime, libc::EPERM),
    (libc::SYS_syslog, libc::EPERM),
    (libc::SYS_vhangup, libc::EPERM),
    // Its flags are behind a pointer, so a filter cannot judge it; the C library falls back to `clone`.
    (libc::SYS_clone3, libc::ENOSYS),
];

#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[(c_long, c_int)] = &[(libc::SYS_iopl, libc::EPERM), (libc::SYS_ioperm, libc::EPERM)];
#[cfg(target_arch = "aarch64")]
const REFUSED_HERE: &[(c_long, c_int)] = &[];

/// New namespaces would give back capabilities.
const NEW_NAMESPACES: c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// `CLONE_NEWTIME`; it shares its bit with the exit signal of `clone`, so it is looked for in `unshare` only.
const NEW_TIME: c_int = 0x80;

/// Puts characters into a terminal's input, and does it by the console's menu.
const TYPING: &[u32] = &[0x5412, 0x541c];

/// Installs the filter for this process and all it starts.
pub(super) fn install(network: &Network) -> io::Result<()> {
    sys::install_filter(&program(network))
}

fn program(network: &Network) -> Vec<sock_filter> {
    let mut filter = vec![load(4), jump(BPF_JEQ, ARCH, 1, 0), refuse(libc::ENOSYS), load(0)];
    // The 32-bit pointers of x86: the same calls under other numbers.
    if cfg!(target_arch = "x86_64") {
        filter.extend([jump(BPF_JGE, 0x4000_0000, 0, 1), refuse(libc::ENOSYS)]);
    }
    for (call, errno) in REFUSED.iter().chain(REFUSED_HERE) {
        filter.extend([jump(BPF_JEQ, number(*call), 0, 1), refuse(*errno)]);
    }
    let refused = [refuse(libc::EPERM)];
    on(&mut filter, libc::SYS_unshare, [argument(0), any_bit(NEW_NAMESPACES | NEW_TIME)], refused);
    on(&mut filter, libc::SYS_clone, [argument(0), any_bit(NEW_NAMESPACES)], refused);
    for request in TYPING {
        on(&mut filter, libc::SYS_ioctl, [argument(1), jump(BPF_JEQ, *request, 0, 1)], refused);
    }
    sockets(&mut filter, network);
    filter.push(allow());
    filter
}

/// Which families of sockets can be made.
fn sockets(filter: &mut Vec<sock_filter>, network: &Network) {
    let internet = match network {
        Network::Off => refuse(libc::ENETUNREACH),
        Network::Loopback | Network::Hosts(_) | Network::Host => allow(),
    };
    let families = [
        argument(0),
        jump(BPF_JEQ, number(libc::AF_UNIX.into()), 0, 1),
        allow(),
        jump(BPF_JEQ, number(libc::AF_INET.into()), 0, 1),
        internet,
        jump(BPF_JEQ, number(libc::AF_INET6.into()), 0, 1),
        internet,
        jump(BPF_JEQ, number(libc::AF_NETLINK.into()), 0, 3),
        // Of netlink only the part that tells which addresses there are, which the C library asks.
        argument(2),
        jump(BPF_JEQ, number(libc::NETLINK_ROUTE.into()), 0, 1),
        allow(),
    ];
    on(filter, libc::SYS_socket, families, [refuse(libc::EAFNOSUPPORT)]);
}

/// For one system call: a test that runs into `then`, or jumps over it by one.
fn on<const A: usize, const B: usize>(
    filter: &mut Vec<sock_filter>,
    call: c_long,
    test: [sock_filter; A],
    then: [sock_filter; B],
) {
    // The number is loaded again, because the test before may have loaded an argument.
    let over = u8::try_from(A + B).expect("tests are short");
    filter.extend([load(0), jump(BPF_JEQ, number(call), 0, over)]);
    filter.extend(test);
    filter.extend(then);
}

fn number(value: c_long) -> u32 {
    u32::try_from(value).expect("calls and families are small numbers")
}

/// The lower half of an argument: flags, families and requests all fit, and the kernel looks at no more of them.
fn argument(index: u32) -> sock_filter {
    load(16 + 8 * index)
}

fn load(offset: u32) -> sock_filter {
    instruction(BPF_LD | BPF_W | BPF_ABS, 0, 0, offset)
}

/// Goes on after `then` more instructions where the condition holds, and after `otherwise` where not.
fn jump(condition: u32, value: u32, then: u8, otherwise: u8) -> sock_filter {
    instruction(BPF_JMP | condition | BPF_K, then, otherwise, value)
}

fn any_bit(bits: c_int) -> sock_filter {
    instruction(BPF_JMP | libc::BPF_JSET | BPF_K, 0, 1, bits.cast_unsigned())
}

fn refuse(errno: c_int) -> sock_filter {
    instruction(BPF_RET | BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | errno.cast_unsigned())
}

fn allow() -> sock_filter {
    instruction(BPF_RET | BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW)
}

fn instruction(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code: u16::try_from(code).expect("codes are small"), jt, jf, k }
}
