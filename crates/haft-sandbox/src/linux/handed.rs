//! Descriptors that one process hands to another over a socket.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// So many are handed over at once.
const FDS_MAX: usize = 2;

/// A message holds at least a byte.
const MARK: u8 = b'!';

/// Hands descriptors over. They may be closed here afterwards, whether or not they have been taken.
pub(super) fn give(to: &UnixStream, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS_MAX))];
    let mut attached = SendAncillaryBuffer::new(&mut space);
    if !attached.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::Error::other("so many descriptors cannot be handed over"));
    }
    sendmsg(to, &[IoSlice::new(&[MARK])], &mut attached, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Takes what was handed over, waiting for it; `None` if the other side is gone.
pub(super) fn take(from: &UnixStream) -> io::Result<Option<Vec<OwnedFd>>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS_MAX))];
    let mut attached = RecvAncillaryBuffer::new(&mut space);
    let mut mark = [0];
    let mut into = [IoSliceMut::new(&mut mark)];
    let received =
        rustix::io::retry_on_intr(|| recvmsg(from, &mut into, &mut attached, RecvFlags::CMSG_CLOEXEC))?;
    if received.bytes == 0 {
        return Ok(None);
    }
    if received.flags.contains(ReturnFlags::CTRUNC) {
        return Err(io::Error::other(
            "descriptors were lost on the way: there are too many open, or it is not allowed",
        ));
    }
    let taken = attached.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => Some(fds),
        _ => None,
    });
    Ok(Some(taken.flatten().collect()))
}
