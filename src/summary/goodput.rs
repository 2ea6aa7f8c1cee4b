//! Which requests are good.

use super::{Fact, Sample};
use crate::spec::Constraint;

/// Whether a request is good: an answer that meets every constraint. An errored one is not, nor one whose tokens all came in one
/// read, for a proxy that buffers must not raise goodput.
#[must_use]
pub fn good(fact: &Fact, constraints: &[Constraint]) -> bool {
    fact.ok && !fact.buffered && !constraints.iter().any(|constraint| breaks(fact, constraint))
}

/// Whether a request breaks `constraint`. What the constraint does not speak of can't break it, nor can a pace of fewer than two
/// tokens; a value that the recording should hold and doesn't breaks it, for missing data never help.
#[must_use]
pub fn breaks(fact: &Fact, constraint: &Constraint) -> bool {
    if !fact.is_of(constraint.part.as_deref()) || !fact.meets(&constraint.when) {
        return false;
    }
    match fact.sample(constraint.metric) {
        Sample::Value(value) => !constraint.cmp.holds(value, constraint.value),
        Sample::Worst | Sample::Unknown => true,
        Sample::Outside => false,
    }
}
