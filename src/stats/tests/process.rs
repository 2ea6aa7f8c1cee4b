//! A synthetic server in virtual time: lognormal requests with an exponential tail, rounds that resemble their neighbours, bursts of a
//! noisy neighbour, and runs that differ from each other.

use rand::SeedableRng;
use rand_distr::{Distribution, Exp1, StandardNormal, StandardUniform};
use rand_pcg::Pcg64Mcg;

use crate::stats::quantile;

/// Requests per round.
pub(super) const PER_ROUND: usize = 25;

/// Seeded randomness.
pub(super) struct Dice(Pcg64Mcg);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    pub(super) fn normal(&mut self, sd: f64) -> f64 {
        let z: f64 = StandardNormal.sample(&mut self.0);
        z * sd
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        let e: f64 = Exp1.sample(&mut self.0);
        e * mean
    }

    fn happens(&mut self, probability: f64) -> bool {
        let u: f64 = StandardUniform.sample(&mut self.0);
        u < probability
    }
}

/// How much slower a run is than the usual server, and how its rounds and requests scatter.
#[derive(Clone, Copy)]
pub(super) struct Server {
    pub(super) ttft: f64,
    pub(super) tpot: f64,
    /// Standard deviation of the run effect, log.
    pub(super) run_noise: f64,
}

/// Log effects of rounds that TTFT and TPOT feel.
pub(super) type Weather = Vec<(f64, f64)>;

/// One number per round and metric.
#[derive(Default)]
pub(super) struct Rounds {
    /// Log round quantiles: TTFT P95, TTFT P99, TPOT P95, end-to-end P95.
    pub(super) latency: [Vec<f64>; 4],
    /// Requests that met every target, of all.
    pub(super) good: Vec<(f64, f64)>,
    /// The same quantiles over all requests together, as a plain rule reads them.
    pub(super) pooled: [f64; 4],
}

/// AR(1) rounds with bursts.
fn rounds(dice: &mut Dice, count: usize, sd: f64, burst: f64) -> Vec<f64> {
    const RHO: f64 = 0.3;
    let mut level = dice.normal(sd);
    let mut effects = Vec::with_capacity(count);
    for round in 0..count {
        if round > 0 {
            level = RHO * level + (1.0_f64 - RHO * RHO).sqrt() * dice.normal(sd);
        }
        let hit = if dice.happens(0.06) { dice.exponential(burst) } else { 0.0 };
        effects.push(level + hit);
    }
    effects
}

/// The weather of a run of its own.
pub(super) fn own_weather(dice: &mut Dice, server: Server, count: usize) -> Weather {
    let run = dice.normal(server.run_noise);
    let ttft = rounds(dice, count, 0.10, 0.35);
    let tpot = rounds(dice, count, 0.05, 0.2);
    ttft.iter().zip(tpot).map(|(x, y)| (x + run, y + 0.7 * run)).collect()
}

/// The weather of two runs side by side: all but a little is shared.
pub(super) fn shared_weather(dice: &mut Dice, server: Server, count: usize) -> (Weather, Weather) {
    let run = dice.normal(server.run_noise);
    let shared = rounds(dice, count, 0.10, 0.35);
    let mut side = || -> Weather {
        let felt = |shared: f64, own: f64| (shared + own + run, 0.5 * shared + 0.5 * own + 0.7 * run);
        shared.iter().map(|s| felt(*s, dice.normal(0.03))).collect()
    };
    (side(), side())
}

/// A run in the given weather.
pub(super) fn run(dice: &mut Dice, server: Server, weather: &Weather) -> Rounds {
    let mut rounds = Rounds::default();
    let mut all: [Vec<f64>; 3] = Default::default();
    for (ttft_effect, tpot_effect) in weather {
        let (mut ttfts, mut tpots, mut totals) = (Vec::new(), Vec::new(), Vec::new());
        let mut good = 0.0;
        for _ in 0..PER_ROUND {
            let ttft = request(dice, 0.30 * server.ttft, 0.35, 0.03) + ttft_effect;
            let tpot = request(dice, 0.030 * server.tpot, 0.15, 0.01) + tpot_effect;
            let tokens = (128.0 + dice.normal(30.0)).max(16.0);
            let total = (ttft.exp() + tpot.exp() * tokens).ln();
            if ttft < 1.2_f64.ln() && tpot < 0.050_f64.ln() && total < 7.5_f64.ln() {
                good += 1.0;
            }
            ttfts.push(ttft);
            tpots.push(tpot);
            totals.push(total);
        }
        for (values, all) in [&mut ttfts, &mut tpots, &mut totals].into_iter().zip(&mut all) {
            values.sort_by(f64::total_cmp);
            all.extend_from_slice(values);
        }
        for (into, (values, q)) in rounds.latency.iter_mut().zip([(&ttfts, 0.95), (&ttfts, 0.99), (&tpots, 0.95), (&totals, 0.95)]) {
            into.push(quantile(values, q).unwrap());
        }
        rounds.good.push((good, PER_ROUND as f64));
    }
    all.iter_mut().for_each(|values| values.sort_by(f64::total_cmp));
    let [ttfts, tpots, totals] = &all;
    rounds.pooled = [(ttfts, 0.95), (ttfts, 0.99), (tpots, 0.95), (totals, 0.95)].map(|(values, q)| quantile(values, q).unwrap());
    rounds
}

fn request(dice: &mut Dice, median: f64, spread: f64, tail: f64) -> f64 {
    let late = if dice.happens(tail) { dice.exponential(0.6) } else { 0.0 };
    median.ln() + dice.normal(spread) + late
}

/// Log TTFTs of requests, per round of the given weather.
pub(super) fn ttfts(dice: &mut Dice, server: Server, weather: &Weather) -> Vec<Vec<f64>> {
    weather.iter().map(|(effect, _)| (0..PER_ROUND).map(|_| request(dice, 0.30 * server.ttft, 0.35, 0.03) + effect).collect()).collect()
}
