//! Server-sent events, read as they arrive: lines may be cut anywhere, also within a character.

use std::mem;

/// The most bytes of one event: an answer's closing event may repeat all of it.
pub(crate) const EVENT_BYTES_MAX: usize = 16 << 20;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its name; empty if it has none.
    pub(crate) name: String,
    /// What it carries; its lines joined by newlines.
    pub(crate) data: String,
}

/// An event is larger than [`EVENT_BYTES_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Oversized;

/// Makes events of bytes.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// The line that has not ended.
    line: Vec<u8>,
    /// Whether the last byte was a carriage return, whose newline is still to come.
    after_return: bool,
    begun: bool,
    name: String,
    data: Option<String>,
}

impl Reader {
    /// Takes bytes, and gives the events that they complete.
    pub(crate) fn push(&mut self, mut bytes: &[u8], events: &mut Vec<Event>) -> Result<(), Oversized> {
        if mem::take(&mut self.after_return) {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(at) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.extend(&bytes[..at])?;
            let is_return = bytes[at] == b'\r';
            bytes = &bytes[at + 1..];
            if is_return {
                self.after_return = bytes.is_empty();
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
            let line = mem::take(&mut self.line);
            self.end_line(&line, events)?;
        }
        self.extend(bytes)
    }

    /// What is left at the end. The standard drops it; servers that forget the last empty line are common.
    pub(crate) fn finish(&mut self) -> Option<Event> {
        let mut events = Vec::new();
        let line = mem::take(&mut self.line);
        let _too_large = self.end_line(&line, &mut events).and_then(|()| self.end_line(b"", &mut events));
        events.pop()
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<(), Oversized> {
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held + bytes.len() > EVENT_BYTES_MAX {
            return Err(Oversized);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, line: &[u8], events: &mut Vec<Event>) -> Result<(), Oversized> {
        let line = if mem::replace(&mut self.begun, true) {
            line
        } else {
            line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line)
        };
        if line.is_empty() {
            let name = mem::take(&mut self.name);
            events.extend(self.data.take().map(|data| Event { name, data }));
            return Ok(());
        }
        let line = String::from_utf8_lossy(line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                let data = match &mut self.data {
                    Some(data) => {
                        data.push('\n');
                        data
                    }
                    None => self.data.insert(String::new()),
                };
                data.push_str(value);
                if data.len() > EVENT_BYTES_MAX {
                    return Err(Oversized);
                }
            }
            "event" => self.name = value.to_owned(),
            // Comments, ids and retry times mean nothing here.
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(chunks: &[&[u8]]) -> Vec<(String, String)> {
        let (mut reader, mut events) = (Reader::default(), Vec::new());
        chunks.iter().for_each(|chunk| reader.push(chunk, &mut events).unwrap());
        events.extend(reader.finish());
        events.into_iter().map(|event| (event.name, event.data)).collect()
    }

    fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
        of.iter().map(|(name, data)| ((*name).to_owned(), (*data).to_owned())).collect()
    }

    #[test]
    fn however_a_stream_is_cut_its_events_are_the_same() {
        let text = "\u{feff}: hello\r\nevent: a\r\ndata: süß\r\ndata:\r\ndata:  x\r\n\r\nid: 7\ndata: two\n\n\ndata: 三\r\rdata\n\n";
        let expected = pairs(&[("a", "süß\n\n x"), ("", "two"), ("", "三"), ("", "")]);
        assert_eq!(events(&[text.as_bytes()]), expected);
        for size in 1..9 {
            let chunks: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            assert_eq!(events(&chunks), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn the_last_event_need_not_be_closed_and_names_alone_are_no_events() {
        assert_eq!(events(&[b"data: [DONE]"]), pairs(&[("", "[DONE]")]));
        assert_eq!(events(&[b"event: ping\n\ndata: x\n"]), pairs(&[("", "x")]));
    }

    #[test]
    fn what_never_ends_is_not_kept() {
        let (mut reader, mut events) = (Reader::default(), Vec::new());
        let piece = vec![b'x'; EVENT_BYTES_MAX / 4];
        let pushed: Vec<_> = (0..5).map(|_| reader.push(&piece, &mut events)).collect();
        assert_eq!(pushed.last(), Some(&Err(Oversized)));
        let (mut reader, line) = (Reader::default(), [b"data: ", piece.as_slice(), b"\n"].concat());
        assert!((0..5).any(|_| reader.push(&line, &mut events).is_err()));
    }
}
