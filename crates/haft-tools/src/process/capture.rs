//! What a command prints: all of it while it is small, both ends and a spool of the whole when it is not.

use std::sync::Arc;
use std::time::Duration;

use haft::preview::{Amount, Budget, Limit};
use haft::{Output, OutputStore, Spool, StoreError, ToolContext, hint};

use super::screen;

/// Whoever gives a call up does not wait longer for what it printed to be kept.
const KEEPING_MAX: Duration = Duration::from_millis(500);

/// Listens to a command, in bounded memory.
pub(super) struct Capture {
    outputs: Arc<dyn OutputStore>,
    context: ToolContext,
    budget: Budget,
    /// A command that prints more than this is stopped.
    kept_max: u64,
    printed: Printed,
    bytes: u64,
    /// How many lines ended before there was a spool.
    newlines: u64,
    /// Everything, or the beginning of it once a spool holds the whole.
    head: Vec<u8>,
    tail: Vec<u8>,
    spool: Option<Box<dyn Spool>>,
}

/// How a command prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Printed {
    /// As it is.
    Plainly,
    /// With what a terminal would do as it is told. What is shown is what it would show; what is kept is all of it.
    OnTerminal,
}

/// What a command printed.
pub(crate) struct Captured {
    /// All of it, or both ends with a notice between them.
    pub(crate) text: String,
    /// How much it printed.
    pub(crate) bytes: u64,
    /// Where the whole is.
    pub(crate) whole: Whole,
    /// Whether it is no text.
    pub(crate) is_binary: bool,
}

/// Where the whole of an output is.
pub(crate) enum Whole {
    /// All of it is shown.
    Shown,
    /// It is retained.
    Retained(Output),
}

impl Capture {
    pub(super) fn new(
        outputs: Arc<dyn OutputStore>,
        context: ToolContext,
        budget: Budget,
        kept_max: u64,
        printed: Printed,
    ) -> Capture {
        let (head, tail) = (Vec::new(), Vec::new());
        Capture {
            outputs,
            context,
            budget,
            kept_max,
            printed,
            bytes: 0,
            newlines: 0,
            head,
            tail,
            spool: None,
        }
    }

    /// One that listens to the same command from now on.
    pub(super) fn renewed(&self) -> Capture {
        Capture::new(self.outputs.clone(), self.context.clone(), self.budget, self.kept_max, self.printed)
    }

    /// Takes the next bytes. This blocks while they are spooled.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.bytes += bytes.len() as u64;
        if self.bytes > self.kept_max {
            return Err(StoreError::bare(format!(
                "the command printed more than {} bytes, more than is kept of one command; it was stopped",
                self.kept_max
            )));
        }
        match &mut self.spool {
            Some(spool) => {
                spool.write(bytes)?;
                self.keep_tail(bytes);
            }
            None => {
                self.head.extend_from_slice(bytes);
                self.newlines += memchr::memchr_iter(b'\n', bytes).count() as u64;
                let fits = self.head.len() <= self.budget.bytes && self.newlines <= self.budget.lines as u64;
                if !fits {
                    self.begin_spool()?;
                }
            }
        }
        Ok(())
    }

    fn begin_spool(&mut self) -> Result<(), StoreError> {
        let mut spool = self.outputs.spool(&self.context)?;
        spool.write(&self.head)?;
        self.spool = Some(spool);
        let so_far = std::mem::take(&mut self.head);
        let end = boundary(&so_far, self.budget.bytes / 2, self.budget.lines / 2);
        self.head = so_far[..end].to_vec();
        self.keep_tail(&so_far[end..]);
        Ok(())
    }

    fn keep_tail(&mut self, bytes: &[u8]) {
        let room = self.budget.bytes / 2;
        let bytes = &bytes[bytes.len().saturating_sub(room)..];
        self.tail.extend_from_slice(bytes);
        // Moved only now and then: most pieces are much smaller than the room.
        if self.tail.len() > 2 * room {
            let surplus = self.tail.len() - room;
            self.tail.drain(..surplus);
        }
    }

    /// Keeps what was printed though nobody is told of it any more. This blocks.
    pub(super) fn keep(mut self) {
        let begun = match (self.spool.take(), self.bytes) {
            (Some(spool), _) => Ok(spool),
            (None, 0) => return,
            (None, _) => self.outputs.spool(&self.context).and_then(|mut spool| {
                spool.write(&self.head)?;
                Ok(spool)
            }),
        };
        // Whoever dropped the call may be within a runtime, where nothing can be waited for.
        let (done, kept) = std::sync::mpsc::channel::<()>();
        let keep = move || {
            let _done = done;
            let runtime = tokio::runtime::Builder::new_current_thread().build().ok()?;
            runtime.block_on(begun.ok()?.keep()).ok()
        };
        // What cannot be kept in time is lost with the call, as it would be anyway.
        if std::thread::Builder::new().name("haft-keep".to_owned()).spawn(keep).is_ok() {
            let _kept = kept.recv_timeout(KEEPING_MAX);
        }
    }

    /// What was printed. The whole is kept first where it is not all shown, or not as it came.
    pub(super) async fn finish(self) -> Result<Captured, StoreError> {
        let is_binary = is_binary(&self.head) || is_binary(&self.tail);
        let bytes = self.bytes;
        let Some(spool) = self.spool else {
            let text = self.printed.text(&self.head);
            if !is_binary && is_text(&self.head) {
                return Ok(Captured { text, bytes, whole: Whole::Shown, is_binary });
            }
            let mut spool = self.outputs.spool(&self.context)?;
            spool.write(&self.head)?;
            let output = spool.keep().await?;
            let hint = format!("(not all of it is text; as it came: {})", output.address());
            let text = [text.trim_end_matches('\n'), &hint].join("\n\n");
            return Ok(Captured { text, bytes, whole: Whole::Retained(output), is_binary });
        };
        let output = spool.keep().await?;
        let room = Budget { lines: self.budget.lines / 2, bytes: self.budget.bytes / 2 };
        let tail = last(&self.tail, room);
        let shown = self.head.len() + tail.len();
        let omitted =
            Amount { bytes: usize::try_from(bytes).unwrap_or(usize::MAX).saturating_sub(shown), lines: 0 };
        let (head, tail) = (self.printed.text(&self.head), self.printed.text(tail));
        let notice = Limit::Bytes.notice(omitted);
        let hint = hint(&output.address().to_string(), None);
        let text = [head.trim_end_matches('\n'), &notice, &hint, &tail].join("\n\n");
        Ok(Captured { text, bytes, whole: Whole::Retained(output), is_binary })
    }
}

impl Printed {
    fn text(self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        match self {
            Printed::Plainly => text.replace('\0', ZERO),
            Printed::OnTerminal => screen::shown(&text),
        }
    }
}

/// Where a beginning of at most so many bytes and lines ends, after a whole line if there is one.
fn boundary(bytes: &[u8], room: usize, lines: usize) -> usize {
    let within = &bytes[..bytes.len().min(room)];
    let newlines = within.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    newlines.take(lines).last().unwrap_or(within.len())
}

/// The end, of at most so many bytes and lines, from the beginning of a line if there is one.
fn last(bytes: &[u8], room: Budget) -> &[u8] {
    let within = &bytes[bytes.len().saturating_sub(room.bytes)..];
    let body = within.strip_suffix(b"\n").unwrap_or(within);
    let mut newlines =
        body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let by_lines = newlines.clone().nth(room.lines.saturating_sub(1));
    let start = by_lines.or_else(|| if within.len() < bytes.len() { newlines.next_back() } else { None });
    &within[start.unwrap_or(0)..]
}

/// How a zero byte is shown.
const ZERO: &str = "␀";

/// Whether what is shown of it is what it is.
fn is_text(bytes: &[u8]) -> bool {
    !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}

/// Many bytes that are no characters; or zero bytes, unless they only stand between texts, as `find -print0` has it.
fn is_binary(bytes: &[u8]) -> bool {
    let broken = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    let is_odd = |byte: &u8| byte.is_ascii_control() && !matches!(byte, 0 | 8..=13 | 0x1b);
    let has_zeros = bytes.contains(&0);
    let is_between =
        || broken == 0 && !bytes.iter().any(is_odd) && !bytes.windows(2).any(|two| two == [0, 0]);
    (has_zeros && !is_between()) || broken * 10 > bytes.len().max(1) * 3
}

#[cfg(test)]
mod tests {
    use haft::{MemoryOutputs, preview::Budget};

    use super::*;
    use crate::testing::{Bench, run};

    fn captured(pieces: &[&[u8]], budget: Budget) -> (Captured, Vec<String>) {
        let (outputs, context) = (MemoryOutputs::default(), Bench::new().context());
        let mut capture =
            Capture::new(Arc::new(outputs.clone()), context, budget, u64::MAX, Printed::Plainly);
        pieces.iter().for_each(|piece| capture.push(piece).unwrap());
        let captured = run(capture.finish()).unwrap();
        (captured, outputs.wholes())
    }

    #[test]
    fn what_is_small_is_shown_whole_and_kept_nowhere() {
        let (captured, wholes) = captured(&[b"one\n", b"two\n"], Budget { lines: 10, bytes: 100 });
        assert_eq!((captured.text.as_str(), captured.bytes, wholes.len()), ("one\ntwo\n", 8, 0));
        assert!(matches!(captured.whole, Whole::Shown));
    }

    #[test]
    fn what_is_no_text_is_kept_as_it_came() {
        let budget = Budget { lines: 10, bytes: 100 };
        let (zeros, wholes) = captured(&[b"one\0", b"two\0"], budget);
        assert!(zeros.text.starts_with("one␀two␀\n\n(not all of it is text; as it came: haft://output/"));
        assert_eq!((wholes, zeros.is_binary), (vec!["one\0two\0".to_owned()], false));
        let (foreign, wholes) = captured(&[b"caf\xe9\n"], budget);
        assert!(foreign.text.starts_with("caf\u{fffd}\n\n(not all"), "{}", foreign.text);
        assert_eq!((wholes.len(), foreign.is_binary), (1, false));
        let (binary, wholes) = captured(&[b"\x7fELF\0\0"], budget);
        assert_eq!((wholes.len(), binary.is_binary), (1, true));
    }

    #[test]
    fn what_is_large_is_kept_whole_and_shown_at_both_ends() {
        let lines: Vec<String> = (0..500).map(|line| format!("line {line}\n")).collect();
        let pieces: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
        for budget in [Budget { lines: 1000, bytes: 200 }, Budget { lines: 10, bytes: 100_000 }] {
            let (captured, wholes) = captured(&pieces, budget);
            assert_eq!(wholes, [lines.concat()]);
            assert!(captured.text.starts_with("line 0\nline 1\n"), "{}", captured.text);
            assert!(captured.text.ends_with("\nline 498\nline 499\n"), "{}", captured.text);
            assert!(captured.text.contains("Full output saved to: haft://output/out_"));
            assert!(captured.text.len() < 1000);
        }
    }

    #[test]
    fn a_single_endless_line_is_shown_at_both_ends() {
        let (captured, wholes) = captured(&[&[b'x'; 5000]], Budget { lines: 100, bytes: 1000 });
        assert_eq!(wholes[0].len(), 5000);
        assert!(captured.text.starts_with('x') && captured.text.ends_with('x'));
        assert!(captured.text.len() < 1500);
    }

    #[test]
    fn binary_is_told_from_text() {
        assert!(!is_binary(b"a b\0c\n\0") && is_binary(b"a\0\0b") && is_binary(b"a\0\xff"));
        assert!(is_binary(b"\x7fELF\0\0") && is_binary(&[0xff, 0xfe, 0xfd, 0xfc]));
        assert!(!is_binary(b"a\xffb\n") && !is_binary("grün\n".as_bytes()) && !is_binary(b""));
    }
}
