//! Where long conversations lay what is long in them: a file without a name, so that memory stays free for the work.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What is shorter stays in memory: to remember its place would take about as much.
const SHORT_BYTES: usize = 64;
/// So much is held in memory before anything is laid down. Most conversations never need more.
const HELD_BYTES_MAX: usize = 256 << 10;

/// Follows everything that is laid down, so that elements of a list that lie in a row can be sent in one go.
pub(crate) const SEPARATOR: &str = ",";

/// Takes what need not stay in memory. Its file goes away with the last thing that lies in it. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct Shelf(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// Nothing means that everything stays in memory.
    directory: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    held: usize,
    file: Option<Arc<File>>,
    end: u64,
}

/// Something that can be had again.
#[derive(Debug)]
pub(crate) enum Laid {
    /// It stayed in memory.
    Held(Box<[u8]>),
    /// It lies in a file.
    Down(Place),
}

/// A part of a file.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    file: Arc<File>,
    at: u64,
    length: usize,
}

impl Shelf {
    /// A shelf whose file lies in this directory, once there is one.
    pub(crate) fn within(directory: Option<&Path>) -> Shelf {
        Shelf(Arc::new(Inner { directory: directory.map(Path::to_path_buf), state: Mutex::default() }))
    }

    /// No shelf: whatever is laid on it stays in memory.
    pub(crate) fn none() -> Shelf {
        Shelf::within(None)
    }

    /// An empty shelf at the same place.
    pub(crate) fn another(&self) -> Shelf {
        Shelf::within(self.0.directory.as_deref())
    }

    /// Lays something down, which may wait for the disk. What the disk does not take stays in memory.
    pub(crate) fn lay(&self, bytes: Cow<'_, [u8]>) -> Laid {
        match self.0.directory.as_deref().filter(|_| bytes.len() >= SHORT_BYTES) {
            Some(directory) => {
                let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
                if state.held + bytes.len() > HELD_BYTES_MAX
                    && let Ok(laid) = state.write(directory, &bytes)
                {
                    return laid;
                }
                state.held += bytes.len();
                Laid::Held(bytes.into())
            }
            None => Laid::Held(bytes.into()),
        }
    }
}

impl State {
    fn write(&mut self, directory: &Path, bytes: &[u8]) -> io::Result<Laid> {
        let file = match &self.file {
            Some(file) => file.clone(),
            None => self.file.insert(Arc::new(tempfile::tempfile_in(directory)?)).clone(),
        };
        // What was written in part before is written over.
        let at = self.end;
        write_at(&file, bytes, at)?;
        write_at(&file, SEPARATOR.as_bytes(), at + bytes.len() as u64)?;
        self.end += (bytes.len() + SEPARATOR.len()) as u64;
        Ok(Laid::Down(Place { file, at, length: bytes.len() }))
    }
}

impl Laid {
    /// Takes something that is to stay in memory.
    pub(crate) fn held(bytes: impl Into<Box<[u8]>>) -> Laid {
        Laid::Held(bytes.into())
    }

    /// How many bytes it has.
    pub(crate) fn len(&self) -> usize {
        match self {
            Laid::Held(bytes) => bytes.len(),
            Laid::Down(place) => place.length,
        }
    }

    /// Its bytes, which may wait for the disk.
    pub(crate) fn bytes(&self) -> io::Result<Cow<'_, [u8]>> {
        match self {
            Laid::Held(bytes) => Ok(Cow::Borrowed(bytes)),
            Laid::Down(place) => Ok(Cow::Owned(place.read()?)),
        }
    }

    /// Its text, if it was laid down as text.
    pub(crate) fn text(&self) -> io::Result<Cow<'_, str>> {
        let no_text = |_| io::Error::from(io::ErrorKind::InvalidData);
        Ok(match self.bytes()? {
            Cow::Borrowed(bytes) => Cow::Borrowed(std::str::from_utf8(bytes).map_err(no_text)?),
            Cow::Owned(bytes) => {
                Cow::Owned(String::from_utf8(bytes).map_err(|error| no_text(error.utf8_error()))?)
            }
        })
    }
}

impl Place {
    /// How many bytes it has.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// What lies there.
    pub(crate) fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.length];
        read_at(&self.file, &mut bytes, self.at)?;
        Ok(bytes)
    }

    /// Takes in what lies right behind it, with what stands between the two. `false` if it lies elsewhere.
    pub(crate) fn take_in(&mut self, next: &Place) -> bool {
        let both = self.length + SEPARATOR.len();
        let is_next = Arc::ptr_eq(&self.file, &next.file) && self.at + both as u64 == next.at;
        if is_next {
            self.length = both + next.length;
        }
        is_next
    }

    /// A part of it, which lies within.
    pub(crate) fn part(&self, bytes: Range<usize>) -> Place {
        let at = self.at + bytes.start as u64;
        Place { file: self.file.clone(), at, length: bytes.len() }
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, at)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => {
                bytes = &bytes[written..];
                at += written as u64;
            }
        }
    }
    Ok(())
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                bytes = &mut bytes[read..];
                at += read as u64;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// Works while nobody else may use a shelf, which ends when others on this thread had their turn. Whether they had.
    pub(crate) async fn lets_others_work(shelf: &Shelf, work: impl Future<Output = ()>) -> bool {
        let ((held, is_held), (let_go, is_over)) = (mpsc::channel(), mpsc::channel());
        let shelf = shelf.clone();
        let holder = std::thread::spawn(move || {
            let _held = shelf.0.state.lock().unwrap();
            held.send(()).unwrap();
            is_over.recv_timeout(Duration::from_secs(10)).is_ok()
        });
        is_held.recv().unwrap();
        tokio::join!(biased; work, async { let_go.send(()).unwrap_or_default() });
        holder.join().unwrap()
    }

    /// Takes away everything that lies in the file of a shelf.
    pub(crate) fn lose(shelf: &Shelf) {
        shelf.0.state.lock().unwrap().file.as_ref().unwrap().set_len(0).unwrap();
    }

    fn text(number: usize) -> String {
        format!("{number} ").repeat(20_000)
    }

    #[test]
    fn everything_can_be_had_again_wherever_it_lies() {
        let directory = tempfile::tempdir().unwrap();
        let shelf = Shelf::within(Some(directory.path()));
        let laid: Vec<Laid> = (10..60).map(|n| shelf.lay(text(n).into_bytes().into())).collect();
        for (number, laid) in (10..60).zip(&laid) {
            assert_eq!(laid.text().unwrap(), text(number));
            assert_eq!(laid.len(), text(number).len());
        }
        let held = laid.iter().filter(|laid| matches!(laid, Laid::Held(_)));
        assert!(held.map(Laid::len).sum::<usize>() <= HELD_BYTES_MAX);
        assert!(matches!(shelf.lay(b"short".as_slice().into()), Laid::Held(_)));
        let names: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
        assert!(names.is_empty(), "nobody else finds the file: {names:?}");
    }

    #[test]
    fn a_disk_that_takes_nothing_is_no_loss() {
        let directory = tempfile::tempdir().unwrap();
        let shelf = Shelf::within(Some(&directory.path().join("missing")));
        let laid: Vec<Laid> = (10..60).map(|n| shelf.lay(text(n).into_bytes().into())).collect();
        assert!((10..60).zip(&laid).all(|(n, laid)| laid.text().unwrap() == text(n)));
    }
}
