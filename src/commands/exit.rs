//! The exit codes, frozen: one per kind of trouble, so that no script has to read text.

use crate::spec::OnInconclusive;
use crate::verdict::{Verdict, VerdictStatus};

/// What the process ends with. Never 1: shells and runners use it for anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Exit {
    /// Pass, warnings allowed; or inconclusive with `on_inconclusive: warn`.
    Pass = 0,
    /// A usage or spec error; nothing was sent.
    Usage = 2,
    /// The target could not be used and nothing was measured.
    Target = 4,
    /// A baseline that was named or required cannot be used.
    Baseline = 5,
    /// The measurement is invalid.
    Invalid = 6,
    /// The code would be 0, but an output that was asked for could not be written.
    Output = 7,
    /// An absolute limit of the SLO is broken.
    Broken = 10,
    /// A regression against the baseline.
    Regression = 11,
    /// Inconclusive, and `on_inconclusive: fail`.
    Inconclusive = 12,
    /// A bug of ours.
    Bug = 70,
    /// Stopped by a signal before a verdict.
    Interrupted = 130,
}

/// Every code with its meaning, for `--help` and the docs, in numeric order.
pub const EXITS: &[(Exit, &str)] = &[
    (Exit::Pass, "pass, warnings allowed; or inconclusive with `on_inconclusive: warn`"),
    (Exit::Usage, "usage or spec error; nothing was sent"),
    (Exit::Target, "the target could not be used and nothing was measured"),
    (Exit::Baseline, "a baseline that was named or required is missing, unreadable or not comparable"),
    (Exit::Invalid, "the measurement is invalid: no data, all failed, client late, load not delivered, too few rounds"),
    (Exit::Output, "the code would be 0, but an output that was asked for could not be written"),
    (Exit::Broken, "an absolute limit of the SLO is broken"),
    (Exit::Regression, "a regression against the baseline"),
    (Exit::Inconclusive, "inconclusive, and `on_inconclusive: fail`"),
    (Exit::Bug, "a bug of goodput-gate"),
    (Exit::Interrupted, "stopped by a signal before a verdict"),
];

impl Exit {
    /// The number.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// What a verdict ends with. An absolute limit that is broken is named before a regression.
    #[must_use]
    pub fn of(verdict: &Verdict, on_inconclusive: OnInconclusive) -> Self {
        match verdict.status {
            VerdictStatus::Invalid => Self::Invalid,
            VerdictStatus::Fail if verdict.fails_absolute() => Self::Broken,
            VerdictStatus::Fail => Self::Regression,
            VerdictStatus::Inconclusive if on_inconclusive == OnInconclusive::Fail => Self::Inconclusive,
            VerdictStatus::Inconclusive | VerdictStatus::Pass => Self::Pass,
        }
    }

    /// The worse of two, by the order of the contract.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        if self.rank() <= other.rank() { self } else { other }
    }

    fn rank(self) -> usize {
        const WORST_FIRST: [Exit; 11] = [
            Exit::Bug,
            Exit::Interrupted,
            Exit::Usage,
            Exit::Target,
            Exit::Invalid,
            Exit::Broken,
            Exit::Regression,
            Exit::Inconclusive,
            Exit::Baseline,
            Exit::Output,
            Exit::Pass,
        ];
        WORST_FIRST.iter().position(|exit| *exit == self).unwrap_or_default()
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_code_wins_in_the_order_of_the_contract() {
        let order = [70, 4, 6, 10, 11, 12, 5, 7, 0];
        let exits: Vec<Exit> = order.iter().map(|code| EXITS.iter().find(|(exit, _)| exit.code() == *code).unwrap().0).collect();
        for (i, worse) in exits.iter().enumerate() {
            for better in &exits[i..] {
                assert_eq!(worse.worst(*better), *worse);
                assert_eq!(better.worst(*worse), *worse);
            }
        }
    }

    #[test]
    fn no_code_is_one() {
        assert!(EXITS.iter().all(|(exit, _)| exit.code() != 1));
    }
}
