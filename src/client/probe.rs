//! The start-up probes: what a word costs, and whether an exact output length can be asked for.

use super::exchange::{self, Exchange};
use super::{Client, TargetError};
use crate::plan::Prompt;
use crate::wire::{self, Failure, Outcome, TokenSource};

/// Words in the prompts of the three length probes.
pub const PROBE_WORDS: [u64; 3] = [32, 1_056, 4_128];

/// Tokens that the last probe asks for, and a question whose own answer is shorter.
const EXACT_TOKENS: u64 = 16;
const SHORT_ANSWER: &str = "Answer with the single word yes and nothing else.";

/// What the probes found; `plan` interprets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probes {
    /// `(words sent, prompt tokens counted by the server)`. Lacks sizes that failed, and all where the server gives no usage.
    pub points: Vec<(u64, u64)>,
    /// Sizes that failed, such as one over the served context, with why.
    pub failed: Vec<(u64, Failure)>,
    /// What the server makes of `ignore_eos` and `min_tokens`.
    pub exact: ExactSupport,
    /// Whether each of several probes after the first had to open a connection of its own, since the server closed the one before.
    pub closes: bool,
}

/// What a server makes of `ignore_eos` and `min_tokens`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExactSupport {
    /// It gave exactly as many tokens as were asked for.
    Honoured,
    /// It took them, and gave another number of tokens.
    Ignored,
    /// The request failed.
    Refused,
    /// It took them, but tells no counts.
    Unknown,
}

impl Client {
    /// Sends one request with a prompt of each of `sizes` words and one token to answer, one after another, then one that asks for
    /// an exact length. `words(n)` gives `n` words that no other prompt has in that order.
    ///
    /// One token may well be a special one, so an `empty` answer is as good here as any other.
    ///
    /// # Errors
    /// [`TargetError::Failed`] where the first of them fails; later failures are in [`Probes::failed`].
    pub async fn probe(&self, sizes: &[u64], mut words: impl FnMut(u64) -> String) -> Result<Probes, TargetError> {
        let mut probes = Probes { points: Vec::new(), failed: Vec::new(), exact: ExactSupport::Unknown, closes: true };
        for (index, &size) in sizes.iter().enumerate() {
            let exchange = self.ask(words(size), 1, false).await;
            probes.closes &= index == 0 || is_alone(&exchange);
            match (failure(&exchange), exchange.reading.input_tokens) {
                (Some(failure), _) if index == 0 => {
                    return Err(TargetError::Failed { url: self.url(wire::path(self.config.api)), status: exchange.status, failure });
                }
                (Some(failure), _) => probes.failed.push((size, failure)),
                (None, Some(tokens)) => probes.points.push((size, tokens)),
                (None, None) => {}
            }
        }
        let exchange = self.ask(SHORT_ANSWER.to_owned(), EXACT_TOKENS, true).await;
        probes.closes &= is_alone(&exchange);
        let reading = &exchange.reading;
        probes.exact = match (failure(&exchange), reading.token_source, reading.output_tokens) {
            (Some(_), _, _) => ExactSupport::Refused,
            (None, Some(TokenSource::Usage), Some(EXACT_TOKENS)) => ExactSupport::Honoured,
            (None, Some(TokenSource::Usage), Some(_)) => ExactSupport::Ignored,
            (None, _, _) => ExactSupport::Unknown,
        };
        Ok(probes)
    }

    /// How many tokens the server counts for a prompt of `text`, its template included; `None` where it does not tell or refuses.
    pub async fn count_tokens(&self, text: String) -> Option<u64> {
        let exchange = self.ask(text, 1, false).await;
        exchange.reading.input_tokens.filter(|_| failure(&exchange).is_none())
    }

    async fn ask(&self, text: String, max_tokens: u64, exact: bool) -> Exchange {
        exchange::post(self, exchange::body(&self.config, &Prompt::Text(text), max_tokens, exact)).await
    }
}

/// Whether a probe found no connection that it could use: it opened one, or was sent into one that was just being closed.
fn is_alone(exchange: &Exchange) -> bool {
    exchange.connect.is_some() || failure(exchange).is_some_and(|failure| failure.kind == wire::ErrorKind::Disconnect)
}

/// Why a probe failed, where it did.
fn failure(exchange: &Exchange) -> Option<Failure> {
    match &exchange.reading.outcome {
        Outcome::Error(failure) if failure.kind != wire::ErrorKind::Empty => Some(failure.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::tests::{client, config, raw, reply, simulated};
    use crate::wire::ErrorKind;

    #[tokio::test]
    async fn probes_tell_what_a_word_costs_and_whether_lengths_are_kept() {
        let words = |count: u64| "word ".repeat(usize::try_from(count).unwrap());
        let server = simulated("steady?ttft=1ms&tpot=1ms");
        let probes = client(config(&server.url())).probe(&PROBE_WORDS, words).await.unwrap();
        assert_eq!(probes.points, [(32, 42), (1_056, 1_066), (4_128, 4_138)]);
        assert_eq!((probes.failed.len(), probes.exact), (0, ExactSupport::Honoured));

        let server = simulated("steady?ttft=1ms&tpot=1ms&context=2048&usage=off");
        let probes = client(config(&server.url())).probe(&PROBE_WORDS, words).await.unwrap();
        assert_eq!((probes.points.len(), probes.exact), (0, ExactSupport::Unknown));
        assert_eq!(probes.failed.iter().map(|(size, failure)| (*size, failure.kind)).collect::<Vec<_>>(), [(4_128, ErrorKind::HttpStatus)]);

        let (url, _) = raw(|_, _, stream| reply(stream, "404 Not Found", "", b""));
        assert!(client(config(&url)).probe(&PROBE_WORDS, words).await.unwrap_err().is_unusable());
    }
}
