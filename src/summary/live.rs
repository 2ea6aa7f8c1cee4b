//! A running view while requests come in, for the progress line. It is no verdict.

use super::{Fact, good};
use crate::record::Request;
use crate::spec::Constraint;
use crate::units::Nanos;
use hdrhistogram::Histogram;

/// Running figures over the requests that have ended and are past their warm-up.
#[derive(Debug, Clone)]
pub struct Live {
    constraints: Vec<Constraint>,
    ttft: Option<Histogram<u64>>,
    requests: u64,
    errors: u64,
    good: u64,
}

impl Live {
    /// Nothing has ended yet; `constraints` make a request good.
    #[must_use]
    pub fn new(constraints: &[Constraint]) -> Self {
        Self {
            constraints: constraints.to_vec(),
            ttft: Histogram::new_with_bounds(1, 3_600_000_000, 3).ok(),
            requests: 0,
            errors: 0,
            good: 0,
        }
    }

    /// One more request has ended. Warm-up is passed over.
    pub fn add(&mut self, request: &Request) {
        if request.round.is_none() {
            return;
        }
        let fact = Fact::of(request, 0);
        self.requests += 1;
        self.errors += u64::from(!fact.ok);
        self.good += u64::from(good(&fact, &self.constraints));
        if let (true, Some(at), Some(counts)) = (fact.ok, request.first_token, self.ttft.as_mut()) {
            counts.saturating_record(at.0 / 1000);
        }
    }

    /// Requests that have ended.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Of these, errored.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.errors
    }

    /// Good over all so far; `None` before the first.
    #[must_use]
    pub fn goodput(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.good as f64 / self.requests as f64)
    }

    /// P99 of ttft over the answers so far; `None` before the first.
    #[must_use]
    pub fn p99_ttft(&self) -> Option<Nanos> {
        let counts = self.ttft.as_ref().filter(|counts| !counts.is_empty())?;
        Some(Nanos(counts.value_at_quantile(0.99) * 1000))
    }
}
