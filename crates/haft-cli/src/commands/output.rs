//! `haft output`: the whole of what a call produced, or a part of it, without loading the rest.

use std::io::{BufRead, BufReader, Read};

use haft::{ADDRESS, OutputId, OutputStore};
use haft_store::Store;
use serde_json::json;

use super::log::{find, told};
use crate::cli::{Globals, OutputArgs};
use crate::exit::{Exit, Failure};
use crate::location::open_store;
use crate::setting::Setting;
use crate::terminal::Terminal;

/// The largest line that is printed whole.
const LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

pub(crate) async fn run(globals: &Globals, terminal: Terminal, args: &OutputArgs) -> Result<Exit, Failure> {
    let setting = Setting::load_anyway(globals, terminal)?;
    let store = open_store(&setting)?;
    let reader = open(&setting, &store, &args.call).await?;
    let reader = BufReader::with_capacity(64 * 1024, reader);
    match (&args.lines, &args.grep, args.tail) {
        (Some(range), _, _) => {
            let (first, last) = lines(range)?;
            each(reader, |number, line| match number {
                n if n > last => Ok(false),
                n if n >= first => print(terminal, number, line).map(|()| true),
                _ => Ok(true),
            })
        }
        (None, Some(pattern), _) => {
            let regex = regex::Regex::new(pattern).map_err(Failure::usage)?;
            each(reader, |number, line| {
                if regex.is_match(line.trim_end_matches('\n')) {
                    match terminal.json {
                        true => print(terminal, number, line)?,
                        false => terminal.foreign(&format!("{number}:{line}"))?,
                    }
                }
                Ok(true)
            })
        }
        (None, None, Some(count)) => {
            let mut kept = std::collections::VecDeque::new();
            each(reader, |number, line| {
                kept.push_back((number, line.to_owned()));
                if kept.len() > count {
                    kept.pop_front();
                }
                Ok(true)
            })?;
            kept.iter().try_for_each(|(number, line)| print(terminal, *number, line))
        }
        // A program gets what there is, byte for byte.
        (None, None, None) if !terminal.json && !terminal.is_seen() => copy(reader, terminal),
        (None, None, None) => each(reader, |number, line| print(terminal, number, line).map(|()| true)),
    }?;
    Ok(Exit::Ok)
}

fn copy(mut reader: impl BufRead, terminal: Terminal) -> Result<(), Failure> {
    loop {
        let bytes = reader.fill_buf()?;
        let length = bytes.len();
        if length == 0 {
            return Ok(());
        }
        terminal.bytes(bytes)?;
        reader.consume(length);
    }
}

fn print(terminal: Terminal, number: u64, line: &str) -> Result<(), Failure> {
    match terminal.json {
        true => terminal.document(&json!({ "v": 1, "line": number, "text": line.trim_end_matches('\n') })),
        false => terminal.foreign(line),
    }
}

/// The output of a call, whether it was retained or told whole.
async fn open(setting: &Setting, store: &Store, named: &str) -> Result<Box<dyn Read>, Failure> {
    let named = named.strip_prefix(ADDRESS).unwrap_or(named);
    let id = match named.starts_with("out_") {
        true => OutputId::parse(named).map_err(Failure::usage)?,
        false => {
            let call = find(store, named)?;
            match &call.output {
                Some(output) => output.id.clone(),
                None => return Ok(Box::new(std::io::Cursor::new(told(&call).into_bytes()))),
            }
        }
    };
    match store.open(&setting.session, &id).await? {
        Some(output) => Ok(Box::new(output.reader)),
        None => Err(Failure::usage(format_args!("the output {id} is gone"))
            .hint("outputs are kept for a limited time")),
    }
}

/// Goes through the lines until told to stop.
fn each(
    mut reader: impl BufRead,
    mut take: impl FnMut(u64, &str) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if !take(number, &String::from_utf8_lossy(&line))? {
            break;
        }
    }
    Ok(())
}

fn lines(range: &str) -> Result<(u64, u64), Failure> {
    let wrong = || Failure::usage(format_args!("{range:?} is no range of lines")).hint("write A:B, A: or :B");
    let number = |text: &str, otherwise: u64| match text {
        "" => Ok(otherwise),
        text => text.parse().map_err(|_| wrong()),
    };
    let (first, last) = range.split_once(':').unwrap_or((range, range));
    let (first, last) = (number(first, 1)?, number(last, u64::MAX)?);
    if first == 0 || first > last { Err(wrong()) } else { Ok((first, last)) }
}
