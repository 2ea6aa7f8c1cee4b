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

    /// Asks for an answer to `text`. Where the request was lost in a connection that the server was just closing, it is asked again
    /// on one of its own: a probe measures no time, and a length that is missing leaves the whole run uncalibrated.
    async fn ask(&self, text: String, max_tokens: u64, exact: bool) -> Exchange {
        let body = exchange::body(&self.config, &Prompt::Text(text), max_tokens, exact);
        let exchange = exchange::post(self, body.clone(), 0).await;
        if !is_lost(&exchange) {
            return exchange;
        }
        exchange::post(&self.one_request_a_connection(), body, 0).await
    }
}

/// Whether a probe found no connection that it could use: it opened one, if only after it was lost in another.
fn is_alone(exchange: &Exchange) -> bool {
    exchange.connect.is_some() || is_lost(exchange)
}

/// Whether the connection ended before any answer came.
fn is_lost(exchange: &Exchange) -> bool {
    exchange.status.is_none() && failure(exchange).is_some_and(|failure| failure.kind == wire::ErrorKind::Disconnect)
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

    #[tokio::test]
    async fn a_probe_that_a_closing_connection_swallowed_is_asked_again_on_one_of_its_own() {
        // Answers the first request of a connection as if it stayed open, and closes it on the second one, as a server does whose
        // close and our request cross; a request that asks for a connection of its own is answered.
        let held = std::sync::Mutex::new(std::collections::HashSet::new());
        let (url, seen) = raw(move |_, request, stream| {
            if !held.lock().unwrap().insert(stream.peer_addr().unwrap()) {
                return false;
            }
            let words = request.matches("word ").count();
            let body = format!(
                "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"a\"}},\"finish_reason\":\"length\"}}]}}\n\n\
                 data: {{\"choices\":[],\"usage\":{{\"prompt_tokens\":{},\"completion_tokens\":1}}}}\n\ndata: [DONE]\n\n",
                words + 24
            );
            reply(stream, "200 OK", "content-type: text/event-stream\r\n", body.as_bytes())
        });
        let words = |count: u64| "word ".repeat(usize::try_from(count).unwrap());
        let client = client(config(&url));
        let probes = client.probe(&PROBE_WORDS, words).await.unwrap();
        assert_eq!(probes.points, [(32, 56), (1_056, 1_080), (4_128, 4_152)]);
        assert!(probes.closes && probes.failed.is_empty());
        assert_eq!(client.count_tokens(words(5)).await, Some(29));
        assert!(seen.lock().unwrap().len() > 5, "none was lost");
    }
}
