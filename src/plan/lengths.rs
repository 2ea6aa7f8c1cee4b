//! How long prompts and answers are: a pool of (input, output) pairs for each part, walked by seeded permutations, so that every
//! pair is drawn once a pass and the pairing of real traffic is kept.

use super::build::Inputs;
use super::bundled;
use super::error::PlanError;
use super::random::Random;
use super::rows::{self, MOST_TOKENS};
use super::warning::PlanWarning;
use crate::spec::{Distribution, Lengths};

/// Pairs that are drawn from formulas: as many as fill the tails, drawn once and then walked as any sample.
const FORMULA_PAIRS: u64 = 4096;
/// A formula is drawn anew at most this often for one value.
const DRAWS: u32 = 1000;

/// Pairs of input and output tokens.
pub(super) type Pairs = Vec<(u64, u64)>;

/// The pairs of `lengths`, before any is dropped, and what was odd about their file.
pub(super) fn pairs(lengths: &Lengths, inputs: &Inputs, seed: u64, part: u64) -> Result<(Pairs, Option<PlanWarning>), PlanError> {
    match lengths {
        Lengths::Bundled(name) => {
            let pairs = bundled::sample(name).ok_or_else(|| PlanError::UnknownLengths { name: name.clone() })?;
            Ok((pairs, None))
        }
        Lengths::File(path) => {
            let read = rows::pairs(inputs.text(path)?).ok_or_else(|| PlanError::Header { path: path.clone() })?;
            if read.rows.is_empty() {
                return Err(PlanError::NoRows { path: path.clone(), bad_rows: read.bad, lines: read.bad_lines });
            }
            let bad = (read.bad > 0).then(|| PlanWarning::BadRows { path: path.clone(), count: read.bad, lines: read.bad_lines });
            Ok((read.rows, bad))
        }
        Lengths::Formula { input, output } => {
            let mut inputs = Formula::new(input, "workload.lengths.input", Random::stream(seed, "lengths of a formula", &[part, 0]))?;
            let mut outputs = Formula::new(output, "workload.lengths.output", Random::stream(seed, "lengths of a formula", &[part, 1]))?;
            let pairs: Result<_, _> = (0..FORMULA_PAIRS).map(|_| Ok((inputs.draw()?, outputs.draw()?))).collect();
            Ok((pairs?, None))
        }
    }
}

/// Lengths by a formula, in whole tokens from 1 on.
struct Formula {
    of: Distribution,
    key: &'static str,
    random: Random,
}

impl Formula {
    fn new(of: &Distribution, key: &'static str, random: Random) -> Result<Self, PlanError> {
        let fits = |tokens: u64| (1..=MOST_TOKENS).contains(&tokens);
        let possible = match *of {
            Distribution::Constant(tokens) => fits(tokens),
            Distribution::Uniform(from, to) => fits(from) && fits(to) && from <= to,
            Distribution::Normal { mean, sd } => mean.is_finite() && sd.is_finite() && sd >= 0.0,
            Distribution::Lognormal { mean, sd } => mean.is_finite() && sd.is_finite() && mean > 0.0 && sd >= 0.0,
        };
        let formula = Self { of: *of, key, random };
        if possible { Ok(formula) } else { Err(formula.impossible()) }
    }

    /// One length; a value outside 1 to 2 Mi tokens is drawn again, never clamped.
    fn draw(&mut self) -> Result<u64, PlanError> {
        for _ in 0..DRAWS {
            let tokens = match self.of {
                Distribution::Constant(tokens) => tokens,
                Distribution::Uniform(from, to) => from + self.random.below(usize::try_from(to - from + 1).unwrap_or(1)) as u64,
                Distribution::Normal { mean, sd } => whole(mean + sd * self.random.normal()),
                Distribution::Lognormal { mean, sd } => {
                    let variance = (sd / mean).powi(2).ln_1p();
                    whole((mean.ln() - variance / 2.0 + variance.sqrt() * self.random.normal()).exp())
                }
            };
            if (1..=MOST_TOKENS).contains(&tokens) {
                return Ok(tokens);
            }
        }
        Err(self.impossible())
    }

    fn impossible(&self) -> PlanError {
        PlanError::Impossible { what: self.key.to_owned(), why: "it gives no lengths between 1 and 2 Mi tokens" }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "`as` saturates, and what is out of range is drawn again")]
fn whole(tokens: f64) -> u64 {
    tokens.round().max(0.0) as u64
}

/// A walk through a pool of `len` pairs or rows: each once a pass, in another order each pass.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    seed: u64,
    keys: [u64; 3],
    pass: Option<u64>,
    order: Vec<usize>,
}

impl Walk {
    /// The walk of this level, stretch (0: warm-up, 1: rounds) and part.
    pub(super) fn new(seed: u64, keys: [u64; 3]) -> Self {
        Self { seed, keys, pass: None, order: Vec::new() }
    }

    /// Which of `len` is drawn as number `draw`; 0 where there is none.
    pub(super) fn at(&mut self, draw: u64, len: usize) -> usize {
        let len_wide = (len as u64).max(1);
        let pass = draw / len_wide;
        if self.pass != Some(pass) {
            let [level, stretch, part] = self.keys;
            self.order = Random::stream(self.seed, "lengths", &[level, stretch, part, pass]).permutation(len);
            self.pass = Some(pass);
        }
        let place = usize::try_from(draw % len_wide).unwrap_or(0);
        self.order.get(place).copied().unwrap_or(0)
    }
}
