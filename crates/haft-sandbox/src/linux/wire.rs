//! How the helper is told what to do: lengths and bytes, because paths and arguments need not be text.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// A value that can be told to the helper and understood by it.
pub(super) trait Wire: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take(bytes: &mut &[u8]) -> io::Result<Self>;
}

impl Wire for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }
    fn take(bytes: &mut &[u8]) -> io::Result<u8> {
        Ok(split(bytes, 1)?[0])
    }
}

impl Wire for bool {
    fn put(&self, out: &mut Vec<u8>) {
        u8::from(*self).put(out);
    }
    fn take(bytes: &mut &[u8]) -> io::Result<bool> {
        Ok(u8::take(bytes)? != 0)
    }
}

impl Wire for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn take(bytes: &mut &[u8]) -> io::Result<u64> {
        let mut number = [0; 8];
        number.copy_from_slice(split(bytes, 8)?);
        Ok(u64::from_le_bytes(number))
    }
}

impl Wire for OsString {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        out.extend_from_slice(self.as_bytes());
    }
    fn take(bytes: &mut &[u8]) -> io::Result<OsString> {
        let len = length(bytes)?;
        Ok(OsString::from_vec(split(bytes, len)?.to_vec()))
    }
}

impl Wire for PathBuf {
    fn put(&self, out: &mut Vec<u8>) {
        self.as_os_str().to_os_string().put(out);
    }
    fn take(bytes: &mut &[u8]) -> io::Result<PathBuf> {
        OsString::take(bytes).map(PathBuf::from)
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        self.iter().for_each(|item| item.put(out));
    }
    fn take(bytes: &mut &[u8]) -> io::Result<Vec<T>> {
        let len = length(bytes)?;
        (0..len).map(|_| T::take(bytes)).collect()
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }
    fn take(bytes: &mut &[u8]) -> io::Result<Option<T>> {
        if bool::take(bytes)? { T::take(bytes).map(Some) } else { Ok(None) }
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn take(bytes: &mut &[u8]) -> io::Result<(A, B)> {
        Ok((A::take(bytes)?, B::take(bytes)?))
    }
}

fn length(bytes: &mut &[u8]) -> io::Result<usize> {
    let len = usize::try_from(u64::take(bytes)?).map_err(io::Error::other)?;
    if len > bytes.len() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(len) }
}

fn split<'a>(bytes: &mut &'a [u8], len: usize) -> io::Result<&'a [u8]> {
    let (head, rest) = bytes.split_at_checked(len).ok_or(io::ErrorKind::UnexpectedEof)?;
    *bytes = rest;
    Ok(head)
}
