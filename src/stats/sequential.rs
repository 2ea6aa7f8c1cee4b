//! When to look at a run that is still going, and how much error each look may spend.

use super::student::{z_quantile, z_upper_tail};

/// No look before this round: fewer do not carry an interval.
pub const FIRST_LOOK: usize = 12;

/// A look at a level: after `rounds`, at the one-sided level `alpha`, which replaces α in every interval and test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Whole rounds behind it.
    pub rounds: usize,
    /// What it may spend.
    pub alpha: f64,
}

/// The error that may have been spent when a share `t` of the planned rounds is in: `α*(t) = 2[1 − Φ(z_{1−α/2}/√t)]`, Lan &
/// DeMets 1983 in the manner of O'Brien & Fleming 1979. 0 at the start, `alpha` at and after the end.
#[must_use]
pub fn obrien_fleming(t: f64, alpha: f64) -> f64 {
    if t.is_nan() || t <= 0.0 {
        return 0.0;
    }
    if t >= 1.0 {
        return alpha;
    }
    (2.0 * z_upper_tail(z_quantile(1.0 - alpha / 2.0) / t.sqrt())).clamp(0.0, alpha)
}

/// The level of a look at `rounds` of `planned`, after an earlier look at `previous` (0: none): `α*(t) − α*(t_previous)`. A look that
/// was left out leaves its error to the next by itself. At `rounds ≥ planned`, and so at a budget's end if the caller passes
/// `planned` for `rounds`, it is all that is left.
#[must_use]
pub fn look_alpha(previous: usize, rounds: usize, planned: usize, alpha: f64) -> f64 {
    let part = |rounds: usize| rounds as f64 / planned.max(1) as f64;
    (obrien_fleming(part(rounds), alpha) - obrien_fleming(part(previous), alpha)).max(0.0)
}

/// The looks of a level of `rounds`: at ¼, ½, ¾ (rounded up) and 1 of them, none before round 12, its error going to the next.
/// At 40 rounds: 20, 30, 40 at .0056, .018, .026 for α = .05.
#[must_use]
pub fn looks(rounds: usize, alpha: f64) -> Vec<Look> {
    spend((1..=4).map(|quarter| (rounds * quarter).div_ceil(4)), rounds, alpha)
}

/// The looks of a level of `least..most` rounds: at `least`, then every `⌈(most − least)/5⌉` rounds, the last at `most`, none before
/// round 12. 20..120 gives 20, 40, …, 120.
#[must_use]
pub fn looks_between(least: usize, most: usize, alpha: f64) -> Vec<Look> {
    let step = most.saturating_sub(least).div_ceil(5).max(1);
    spend((least..most).step_by(step).chain([most]), most, alpha)
}

/// One look at the end, at the full `alpha`.
#[must_use]
pub fn one_look(rounds: usize, alpha: f64) -> Vec<Look> {
    vec![Look { rounds, alpha }]
}

fn spend(at: impl Iterator<Item = usize>, planned: usize, alpha: f64) -> Vec<Look> {
    let mut looks: Vec<Look> = Vec::new();
    for rounds in at {
        let previous = looks.last().map_or(0, |look| look.rounds);
        if (rounds >= FIRST_LOOK || rounds == planned) && rounds > previous {
            looks.push(Look { rounds, alpha: look_alpha(previous, rounds, planned, alpha) });
        }
    }
    looks
}
