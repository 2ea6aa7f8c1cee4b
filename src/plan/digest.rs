//! The workload's fingerprint: runs with different ones must not be compared.

use super::arrivals::Arrivals;
use super::lengths::Walk;
use super::prefix::Prefix;
use super::prompts::Content;
use super::random::Random;
use super::request::Prompt;
use super::schedule::{PartPlan, Plan};
use super::sessions::Sessions;
use crate::spec::Offered;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// How many draws and gaps enter: enough to tell a changed generator, few enough for any number of rounds.
const DRAWS: usize = 512;

/// SHA-256 in hex over lengths, arrivals and groups. Salts, the number of rounds, the rate and the levels are no part of it: the
/// first would make every run different, and the others are compared by themselves.
pub(super) fn digest(plan: &Plan) -> String {
    let mut hash = Sha256::new();
    hash.update(b"goodput-gate/workload/1\n");
    number(&mut hash, plan.seed);
    for (place, part) in plan.parts.iter().enumerate() {
        text(&mut hash, part.name.as_deref().unwrap_or(""));
        number(&mut hash, part.threshold_share());
        number(&mut hash, part.prefix.shared);
        number(&mut hash, part.pairs.len() as u64);
        for (input, output) in &part.pairs {
            number(&mut hash, *input);
            number(&mut hash, *output);
        }
        let mut walk = Walk::new(plan.seed, [0, 1, place as u64]);
        for draw in 0..DRAWS as u64 {
            number(&mut hash, walk.at(draw, part.pairs.len()) as u64);
        }
        content(&mut hash, &part.content);
        prefix(&mut hash, &part.prefix);
        sessions(&mut hash, part);
    }
    if let Some(Offered::Rate { arrival, .. }) = plan.offered {
        for at in Arrivals::new(arrival, Random::stream(plan.seed, "arrivals", &[0, 1])).take(DRAWS) {
            number(&mut hash, millionths(at));
        }
    }
    hash.finalize().iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Nothing for prompts without groups or offered reuse, whose digests are older than both.
fn prefix(hash: &mut Sha256, prefix: &Prefix) {
    if prefix.hit > 0.0 || prefix.groups() > 1 {
        text(hash, "prefix");
        number(hash, millionths(prefix.hit));
        number(hash, prefix.groups());
        number(hash, millionths(prefix.zipf));
    }
}

/// Nothing where each request is by itself.
fn sessions(hash: &mut Sha256, part: &PartPlan) {
    match &part.sessions {
        Sessions::Single => return,
        Sessions::Drawn(turns) => text(hash, &format!("{turns:?}")),
        Sessions::Recorded(sessions) => {
            text(hash, "recorded");
            for turn in sessions.iter().flatten() {
                [turn.input, turn.reused, turn.output, turn.think.0].into_iter().for_each(|each| number(hash, each));
            }
        }
    }
    text(hash, &format!("{:?}", part.think));
}

fn content(hash: &mut Sha256, content: &Content) {
    match content {
        Content::Words => number(hash, 0),
        Content::Rows { rows, .. } => {
            number(hash, rows.len() as u64);
            for row in rows {
                match row {
                    Prompt::Text(row) => text(hash, row),
                    Prompt::Messages(messages) => messages.iter().for_each(|message| text(hash, &message.to_string())),
                }
            }
        }
    }
}

fn number(hash: &mut Sha256, number: u64) {
    hash.update(number.to_le_bytes());
}

fn text(hash: &mut Sha256, text: &str) {
    number(hash, text.len() as u64);
    hash.update(text.as_bytes());
}

/// Rounded, so that the last bits of a platform's logarithm do not make two machines' runs incomparable.
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates, and the value was rounded")]
fn millionths(value: f64) -> u64 {
    (value * 1e6).round().max(0.0) as u64
}
