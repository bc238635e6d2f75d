//! A loopback that is up, in a network namespace that has nothing else.

use std::io;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

/// Asks the kernel to bring up the first interface, which in a new namespace is the loopback.
pub(super) fn up() -> io::Result<()> {
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    let up = u32::try_from(libc::IFF_UP).map_err(io::Error::other)?;
    let mut message = Vec::new();
    // Header: length, type, flags, sequence, sender.
    message.extend_from_slice(&32_u32.to_ne_bytes());
    message.extend_from_slice(&libc::RTM_NEWLINK.to_ne_bytes());
    message.extend_from_slice(&0x5_u16.to_ne_bytes());
    message.extend_from_slice(&[0; 8]);
    // Interface: family and padding, type, index, flags, which of them to change.
    message.extend_from_slice(&[0; 4]);
    message.extend_from_slice(&1_i32.to_ne_bytes());
    message.extend_from_slice(&up.to_ne_bytes());
    message.extend_from_slice(&up.to_ne_bytes());
    rustix::io::write(&socket, &message)?;
    let mut answer = [0; 64];
    let len = rustix::io::read(&socket, &mut answer)?;
    // After the header stands the error, negative, or zero.
    match answer.get(16..20).filter(|_| len >= 20) {
        Some([0, 0, 0, 0]) => Ok(()),
        Some(code) => {
            let code = i32::from_ne_bytes([code[0], code[1], code[2], code[3]]);
            Err(io::Error::from_raw_os_error(-code))
        }
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
