//! Seeded random numbers. The generator is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), written out here so that no release of
//! a dependency can change a pinned workload. Each use has a stream of its own, named and keyed, and never shares one.

use std::f64::consts::TAU;

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// One stream of random numbers.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// The stream called `name` under `seed`; `keys` tell its uses apart.
    pub(super) fn stream(seed: u64, name: &str, keys: &[u64]) -> Self {
        let named = name.bytes().fold(mix(seed ^ 0x243F_6A88_85A3_08D3), |state, byte| mix(state.wrapping_add(STEP) ^ u64::from(byte)));
        Self(keys.iter().fold(named, |state, key| mix(state.wrapping_add(STEP) ^ mix(key.wrapping_add(STEP)))))
    }

    /// 64 random bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// A whole number below `end`, which must not be 0. Its bias is below `end / 2^64` (Lemire's multiply-and-shift).
    pub(super) fn below(&mut self, end: usize) -> usize {
        let wide = (u128::from(self.bits()) * end as u128) >> 64;
        usize::try_from(wide).unwrap_or(0)
    }

    /// Strictly between 0 and 1.
    pub(super) fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Exponential with mean 1.
    pub(super) fn exponential(&mut self) -> f64 {
        -self.unit().ln()
    }

    /// Standard normal (Box and Muller 1958; the second of the pair is not used, so that draws stay countable).
    pub(super) fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (TAU * self.unit()).cos()
    }

    /// Gamma with this shape and mean 1 (Marsaglia and Tsang 2000; below 1 by their boost).
    pub(super) fn gamma(&mut self, shape: f64) -> f64 {
        let boost = if shape < 1.0 { self.unit().powf(1.0 / shape) } else { 1.0 };
        let d = if shape < 1.0 { shape + 1.0 } else { shape } - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.unit().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v * boost / shape;
            }
        }
    }

    /// 0 to `len` − 1 in random order (Fisher and Yates).
    pub(super) fn permutation(&mut self, len: usize) -> Vec<usize> {
        let mut order: Vec<_> = (0..len).collect();
        for last in (1..len).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// The published outputs for seed 1234567 (Vigna's splitmix64.c).
    #[test]
    fn the_generator_is_splitmix64() {
        let mut random = Random(1_234_567);
        let bits: Vec<_> = (0..3).map(|_| random.bits()).collect();
        assert_eq!(bits, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn streams_differ_by_seed_name_and_keys() {
        let streams = [
            Random::stream(1, "lengths", &[]),
            Random::stream(2, "lengths", &[]),
            Random::stream(1, "arrivals", &[]),
            Random::stream(1, "lengths", &[0]),
            Random::stream(1, "lengths", &[0, 0]),
            Random::stream(1, "lengths", &[0, 1]),
            Random::stream(1, "lengths", &[1, 0]),
        ];
        let firsts: std::collections::HashSet<_> = streams.into_iter().map(|mut stream| stream.bits()).collect();
        assert_eq!(firsts.len(), 7);
    }

    #[test]
    fn a_permutation_holds_each_place_once_and_favours_none() {
        let mut firsts = [0_u32; 5];
        for seed in 0..5000 {
            let order = Random::stream(seed, "test", &[]).permutation(5);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4]);
            firsts[order[0]] += 1;
        }
        // 1,000 expected of each, sd 28.
        assert!(firsts.iter().all(|count| (860..1140).contains(count)), "{firsts:?}");
    }
}
