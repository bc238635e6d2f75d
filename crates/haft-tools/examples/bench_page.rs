//! Turns a page into Markdown each time it is told to, and prints how many milliseconds that took.
//!
//! `cargo xtask bench web` drives it. With `once` it does so once and ends, with `none` not at all, to compare memory.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::hint::black_box;
use std::io::{self, BufRead};
use std::time::Instant;

use haft_tools::page::{Extent, Style, render};

fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1);
    let page = std::fs::read_to_string(args.next().unwrap_or_default())?;
    let convert = || {
        let began = Instant::now();
        let markdown = black_box(render(&page, None, Style::Markdown, Extent::Whole));
        println!("{} {}", began.elapsed().as_secs_f64() * 1e3, markdown.len());
    };
    match args.next().as_deref() {
        Some("once") => convert(),
        Some(_) => println!("{}", page.len()),
        None => {
            for line in io::stdin().lock().lines() {
                line?;
                convert();
            }
        }
    }
    Ok(())
}
