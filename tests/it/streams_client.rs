//! The handed streams through the real client, over real sockets, in real time.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may panic as it may")]

use crate::cases::{Case, Expect, Observed, Tolerance, load_spoken};
use crate::player::Player;
use futures_util::{StreamExt, stream};
use goodput_gate::client::{Client, Config};
use goodput_gate::plan::{Planned, Prompt};
use goodput_gate::record::{Request, Side};
use goodput_gate::spec::Timeouts;
use goodput_gate::units::Nanos;
use goodput_gate::wire::{Api, Outcome};
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;
use tokio::time::Instant;

/// Only a fault is this late, or early; a loaded machine that is later once gets two more chances.
const TOLERANCE: Tolerance = Tolerance { early_ms: 1.0, late_ms: 250.0 };
const CHANCES: usize = 3;
/// A first token that is late makes the time per token too short: so much of it is given back before the comparison.
const LATE_FIRST_MS: f64 = 100.0;
/// Cases played at once.
const AT_ONCE: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_spoken_stream_is_measured_right_by_the_client() {
    let cases = load_spoken();
    assert_eq!(cases.len(), 77);
    let wrong: Vec<String> = stream::iter(&cases).map(judged).buffer_unordered(AT_ONCE).filter_map(|wrong| async { wrong }).collect().await;
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// What is wrong with the client's report of a case, the last of several times.
async fn judged(case: &Case) -> Option<String> {
    let mut wrong = None;
    for _ in 0..CHANCES {
        wrong = played(case).await.err().map(|wrong| format!("{}: {wrong}", case.name));
        if wrong.is_none() {
            break;
        }
    }
    wrong
}

async fn played(case: &Case) -> Result<(), String> {
    let player = Player::start(case);
    let client = client(&player, &case.expect);
    let first = send(&client).await;
    case.expect.matches(&observed(&first), TOLERANCE)?;
    let redirected = case.stream.status.is_some_and(|status| (300..400).contains(&status));
    for then in case.expect.then().iter().filter(|_| !redirected) {
        let next = send(&client).await;
        then.matches(&observed(&next), TOLERANCE).map_err(|wrong| format!("the second answer: {wrong}"))?;
        if next.connect.is_some() {
            return Err("the connection was not used again".to_owned());
        }
    }
    Ok(())
}

fn client(player: &Player, expect: &Expect) -> Client {
    let total = expect.client_timeout_ms().map_or(Duration::from_secs(20), Duration::from_millis);
    let config = Config {
        side: Side::Candidate,
        base: player.url.parse().unwrap(),
        api: if expect.endpoint() == "chat" { Api::Chat } else { Api::Completions },
        model: "field-model".to_owned(),
        timeouts: Timeouts { total, ..Timeouts::default() },
        headers: BTreeMap::new(),
        key: None,
        body: serde_json::Map::new(),
        exact: false,
        link_local: false,
    };
    let trusted = player.certificate().map(|file| fs::read(file).unwrap());
    Client::trusting(config, Instant::now(), trusted.as_deref().unwrap_or_default()).unwrap()
}

async fn send(client: &Client) -> Request {
    let planned = Planned {
        id: 0,
        part: None,
        session: None,
        level: 0,
        round: Some(0),
        turn: 0,
        turns_left: 0,
        think: Nanos::ZERO,
        due: None,
        asked_input: 1,
        asked_output: 64,
        index: 0,
        draw: 0,
    };
    let prepared = client.prepare(&planned, &Prompt::Text("hello".to_owned()));
    client.send(prepared, client.now()).await
}

fn observed(request: &Request) -> Observed {
    let ms = |instant: Option<Nanos>| instant.map(Nanos::as_ms);
    Observed {
        error_kind: match &request.outcome {
            Outcome::Ok => None,
            Outcome::Error(failure) => Some(failure.kind.name().to_owned()),
        },
        ttft_ms: ms(request.first_token),
        output_tokens: request.output_tokens,
        token_source: request.token_source.map(|source| source.name().to_owned()),
        itl_count: request.gaps.len() as u64,
        token_events: Some(request.events),
        e2e_ms: ms(request.last_token),
        tpot_ms: request.tpot().map(|nanos| nanos / 1e6 + LATE_FIRST_MS / (request.output_tokens.unwrap() - 1) as f64),
        finish_reason: request.finish_reason.clone(),
        done_ms: None,
        close_ms: None,
        http_status: request.http_status,
        warnings: request.warnings.clone(),
    }
}
