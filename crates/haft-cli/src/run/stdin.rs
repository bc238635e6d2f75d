//! Standard input, as far as it is attached to a prompt.

use std::io::Read;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use crate::exit::Failure;
use crate::terminal::Terminal;

/// So much of standard input is attached.
const STDIN_BYTES_MAX: usize = 256 * 1024;
/// Whoever waits for longer than this for input is told what for.
const SILENCE: Duration = Duration::from_secs(3);

/// Reads standard input to its end, as far as it is attached.
pub(crate) fn stdin_text(terminal: Terminal) -> Result<String, Failure> {
    let (ended, silent) = std::sync::mpsc::channel::<()>();
    // The thread ends with the reading, or with the process.
    std::thread::spawn(move || {
        if silent.recv_timeout(SILENCE) == Err(RecvTimeoutError::Timeout) {
            terminal.note("waiting for standard input to end; where there is none, give </dev/null");
        }
    });
    let read = read_stdin();
    drop(ended);
    read
}

fn read_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let mut stdin = std::io::stdin().lock();
    stdin.by_ref().take(STDIN_BYTES_MAX as u64).read_to_end(&mut bytes)?;
    let left_out = std::io::copy(&mut stdin, &mut std::io::sink())?;
    bounded_text(bytes, left_out)
}

fn bounded_text(mut bytes: Vec<u8>, left_out: u64) -> Result<String, Failure> {
    let mut cut = 0;
    if let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
        && left_out > 0
    {
        // The last character was cut in two.
        cut = bytes.len() - error.valid_up_to();
        bytes.truncate(error.valid_up_to());
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::usage("standard input is not UTF-8 text").hint("attach images and documents with --file")
    })?;
    Ok(match left_out + cut as u64 {
        0 => text,
        bytes => format!("{text}\n\n({bytes} more bytes of standard input are left out)"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    #[test]
    fn standard_input_is_text_and_says_what_is_left_out() {
        assert_eq!(bounded_text("é".into(), 0).unwrap(), "é");
        assert_eq!(
            bounded_text(vec![b'a', 0xc3], 1).unwrap(),
            "a\n\n(2 more bytes of standard input are left out)"
        );
        let failure = bounded_text(vec![b'a', 0xff], 0).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
    }
}
