//! When a simulated server writes what: pure, by an arrival's time and number, so that it runs on any clock.

use super::{Fault, Kind, Profile};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64Mcg;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// What a request asks of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Tokens to generate.
    pub output_tokens: u64,
}

/// When a request's tokens are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// When the first token is due, from the server's start.
    pub first: Duration,
    /// From each token to the next.
    pub step: Duration,
    /// How the request fails, where it does.
    pub fault: Option<Fault>,
}

impl Schedule {
    /// When token `index`, from 0, is due, from the server's start.
    #[must_use]
    pub fn token(&self, index: u64) -> Duration {
        let nanos = u128::from(index) * self.step.as_nanos();
        self.first.saturating_add(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
    }
}

/// The server's state: how many requests came, and when its slots become free.
///
/// A request that its client gives up holds its slot to the planned end, as with servers that do not notice.
#[derive(Debug)]
pub struct Engine {
    profile: Profile,
    arrivals: u64,
    free_at: BinaryHeap<Reverse<Duration>>,
}

impl Engine {
    /// An idle server.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        Self { profile, arrivals: 0, free_at: BinaryHeap::new() }
    }

    /// Takes a request that arrives at `now`, from the server's start; arrivals must be told in their order. The draws depend on
    /// the seed and on how many requests came before, on nothing else.
    pub fn arrive(&mut self, now: Duration, ask: Ask) -> Schedule {
        let profile = &self.profile;
        let mut rng = Pcg64Mcg::seed_from_u64(profile.seed ^ self.arrivals.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        self.arrivals += 1;
        let fault = (rng.random::<f64>() < profile.errors).then_some(profile.error);
        let tail = if rng.random::<f64>() < profile.tail { profile.tail_factor } else { 1.0 };
        let first_jitter = lognormal(&mut rng, profile.jitter);
        let step_jitter = lognormal(&mut rng, profile.jitter);
        let first = |time: Duration| time.mul_f64(profile.slow * tail * first_jitter);
        let step = |time: Duration| time.mul_f64(profile.slow * step_jitter);
        match profile.kind {
            Kind::Steady { ttft, tpot } => Schedule { first: now + first(ttft), step: step(tpot), fault },
            Kind::Queue { slots, prefill, prefill_per_token, tpot } => {
                let prompt = u32::try_from(ask.prompt_tokens).unwrap_or(u32::MAX);
                let prefill = first(prefill + prefill_per_token * prompt);
                let step = step(tpot);
                if matches!(fault, Some(Fault::Http429 | Fault::Http500 | Fault::Http503)) {
                    return Schedule { first: now, step, fault };
                }
                let start = if self.free_at.len() < slots { now } else { self.free_at.pop().map_or(now, |Reverse(free)| free.max(now)) };
                let schedule = Schedule { first: start + prefill, step, fault };
                self.free_at.push(Reverse(schedule.token(ask.output_tokens)));
                schedule
            }
        }
    }
}

/// A log-normal factor with median 1.
fn lognormal(rng: &mut Pcg64Mcg, sigma: f64) -> f64 {
    let z: f64 = StandardNormal.sample(rng);
    (sigma * z).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::parse;

    const ASK: Ask = Ask { prompt_tokens: 100, output_tokens: 10 };

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn engine(url: &str) -> Engine {
        Engine::new(parse(url).unwrap())
    }

    #[test]
    fn a_steady_server_keeps_its_times_whatever_the_load() {
        let mut engine = engine("sim://steady?ttft=200ms&tpot=20ms");
        for at in [0, 0, 0, 7] {
            let schedule = engine.arrive(ms(at), ASK);
            assert_eq!((schedule.token(0), schedule.token(9), schedule.fault), (ms(at + 200), ms(at + 380), None));
        }
    }

    #[test]
    fn a_slower_server_is_slower_by_its_factor() {
        let schedule = engine("sim://steady?ttft=200ms&tpot=20ms&slow=1.5").arrive(Duration::ZERO, ASK);
        assert_eq!((schedule.first, schedule.step), (ms(300), ms(30)));
    }

    #[test]
    fn a_full_queue_makes_requests_wait_for_the_slot_that_is_free_first() {
        // A slot is held for 100 + 10 × 10 = 200 ms.
        let mut engine = engine("sim://queue?slots=2&prefill=100ms&tpot=10ms");
        let firsts: Vec<Duration> = [0, 50, 60, 70, 1000].into_iter().map(|at| engine.arrive(ms(at), ASK).first).collect();
        assert_eq!(firsts, [ms(100), ms(150), ms(300), ms(350), ms(1100)]);
    }

    #[test]
    fn prefill_may_grow_with_the_prompt() {
        let schedule = engine("sim://queue?slots=1&prefill=10ms&prefill_per_token=1ms").arrive(Duration::ZERO, ASK);
        assert_eq!(schedule.first, ms(110));
    }

    #[test]
    fn draws_depend_on_seed_and_number_only() {
        let run = |seed: u64, gap: u64| -> Vec<(Duration, Option<Fault>)> {
            let mut engine = engine(&format!("sim://steady?jitter=0.3&errors=20%&error=stall&seed={seed}"));
            (0..50).map(|n| ms(n * gap)).map(|now| (now, engine.arrive(now, ASK))).map(|(now, s)| (s.first - now, s.fault)).collect()
        };
        assert_eq!(run(1, 0), run(1, 9));
        assert_ne!(run(1, 0), run(2, 0));
    }

    #[test]
    fn shares_and_spread_are_as_asked() {
        let mut engine = engine("sim://steady?ttft=100ms&jitter=0.5&errors=10%&tail=5%&tail_factor=100");
        let schedules: Vec<Schedule> = (0..20_000).map(|_| engine.arrive(Duration::ZERO, ASK)).collect();
        let share = |held: &dyn Fn(&Schedule) -> bool| schedules.iter().filter(|s| held(s)).count() as f64 / 20_000.0;
        // Four standard errors of a share over 20,000 draws are at most 1.5 %.
        assert!((share(&|s| s.fault.is_some()) - 0.10).abs() < 0.01);
        assert!((share(&|s| s.first > ms(1000)) - 0.05).abs() < 0.01);
        assert!((share(&|s| s.first < ms(100)) - 0.475).abs() < 0.015, "half of the 95 % without a tail");
        assert!((share(&|s| s.step < Duration::from_millis(20)) - 0.5).abs() < 0.015);
    }
}
