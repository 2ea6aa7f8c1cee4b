//! What reading a stream costs: the events alone, token events by the short way, and events that need the full parser.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use goodput_gate::units::Nanos;
use goodput_gate::wire::{AnswerReader, Api, Ending, Head, SseReader};
use std::hint::black_box;

const TOKENS: u64 = 1000;

/// `TOKENS` events as vLLM writes them; `fields` stand beside the token's text.
fn events(fields: &str) -> Vec<Vec<u8>> {
    let event = |number| {
        format!(
            "data: {{\"id\":\"chatcmpl-a4b2ee052a7a2ff8\",\"object\":\"chat.completion.chunk\",\"created\":1796058333,\"model\":\"tiny\",\
             \"choices\":[{{\"index\":0,\"delta\":{{\"content\":\" word{number}\"}},{fields}\"finish_reason\":null}}]}}\n\n"
        )
        .into_bytes()
    };
    (0..TOKENS).map(event).collect()
}

fn read(reads: &[Vec<u8>]) -> u64 {
    let head = Head { status: 200, content_type: Some("text/event-stream"), content_encoding: None };
    let mut reader = AnswerReader::new(Api::Chat, &head).expecting(TOKENS);
    for (at, bytes) in (0..).zip(reads) {
        reader.push(bytes, Nanos(at));
    }
    reader.finish(Ending::Clean).events
}

fn stream(criterion: &mut Criterion) {
    let usual = events("\"logprobs\":null,");
    let unusual = events("\"logprobs\":{\"content\":[{\"token\":\"a\",\"logprob\":-0.5}]},");
    let batched = [usual.concat()];
    let mut group = criterion.benchmark_group("stream");
    group.throughput(Throughput::Elements(TOKENS));
    group.bench_function("events alone", |bench| {
        bench.iter(|| {
            let (mut reader, mut found) = (SseReader::new(), 0);
            for bytes in &usual {
                let _ = reader.push(bytes, |_| found += 1);
            }
            black_box(found)
        });
    });
    group.bench_function("tokens, one a read", |bench| bench.iter(|| black_box(read(&usual))));
    group.bench_function("tokens, all in one read", |bench| bench.iter(|| black_box(read(&batched))));
    group.bench_function("tokens by the full parser", |bench| bench.iter(|| black_box(read(&unusual))));
    group.finish();
}

criterion_group!(benches, stream);
criterion_main!(benches);
