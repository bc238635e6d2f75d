//! What a server found in a file, and what shows which version of it that is about.

use std::sync::Arc;
use std::time::Instant;

use crate::after::Problem;

/// What a server found in a file.
#[derive(Clone)]
pub(super) struct Found {
    /// The newest version that it can be about.
    pub(super) version: i32,
    pub(super) basis: Basis,
    pub(super) at: Instant,
    pub(super) problems: Arc<[Problem]>,
}

/// What shows which version findings are about. A step is how many times the server has spoken about it by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// The server named it, or was asked about it.
    Certain,
    /// They came after it was sent and, where the server was to show that, after it was read.
    Later { step: u32 },
    /// They came after it was sent, and before the server had shown that it read it.
    Early { step: u32 },
    /// They came before the server had read the version after it.
    Before,
}

impl Found {
    pub(super) fn is_certain(&self) -> bool {
        self.basis == Basis::Certain
    }

    /// Whether it was said before the server had shown that it read the version that was sent last.
    pub(super) fn is_early(&self) -> bool {
        match self.basis {
            Basis::Early { .. } | Basis::Before => true,
            Basis::Certain | Basis::Later { .. } => false,
        }
    }

    /// How many times the server has spoken about this version by itself.
    pub(super) fn step(&self) -> u32 {
        match self.basis {
            Basis::Later { step } | Basis::Early { step } => step,
            Basis::Certain | Basis::Before => 0,
        }
    }
}
