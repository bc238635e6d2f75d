//! Contestants that take turns, so that a slow moment of the machine meets all of them.

use anyhow::Result;

use super::measure::percentile;

const WARM_UPS: usize = 2;

/// Does the work once and says how many milliseconds it took.
pub(super) type Contestant<'a> = Box<dyn FnMut() -> Result<f64> + 'a>;

/// Milliseconds: the middle of all runs, and how far they scatter.
pub(super) struct Times {
    pub(super) median: f64,
    p10: f64,
    p90: f64,
}

pub(super) fn compete<const N: usize>(
    runs: usize,
    mut contestants: [Contestant<'_>; N],
) -> Result<[Times; N]> {
    let mut times = [const { Vec::new() }; N];
    for round in 0..WARM_UPS + runs {
        for (contestant, times) in contestants.iter_mut().zip(&mut times) {
            let took = contestant()?;
            if round >= WARM_UPS {
                times.push(took);
            }
        }
    }
    Ok(times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        Times { median: percentile(&times, 50), p10: percentile(&times, 10), p90: percentile(&times, 90) }
    }))
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1} ({:.1}–{:.1})", self.median, self.p10, self.p90)
    }
}
