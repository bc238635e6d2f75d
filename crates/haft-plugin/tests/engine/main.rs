//! Drives the real host over pipes, as haft does.

mod aborting;
mod calling;
mod driver;
mod failing;
mod hooking;
mod loading;
mod resolving;
mod tampering;
mod typescript;
mod working;
