//! What writing, reading and judging a run costs.

mod made;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use goodput_gate::record;
use made::judging;
use std::hint::black_box;

const REQUESTS: u64 = 4000;

fn runs(criterion: &mut Criterion) {
    let (spec, plan) = made::planned(REQUESTS);
    let run = made::run(&plan, 1);
    let file = record::encode(&run).expect("memory");
    let stored: Vec<_> = (2..7).map(|seed| judging::figures(&spec, &made::run(&plan, seed))).collect();
    let mut group = criterion.benchmark_group("runs");
    group.sample_size(10);
    group.throughput(Throughput::Elements(REQUESTS));
    group.bench_function("write", |bench| bench.iter(|| black_box(record::encode(&run)).expect("memory").len()));
    group.bench_function("read", |bench| bench.iter(|| black_box(record::decode(&file)).expect("a run file").requests.len()));
    group.bench_function("summary", |bench| bench.iter(|| black_box(judging::figures(&spec, &run))));
    group.bench_function("judge against 5", |bench| bench.iter(|| black_box(judging::judge(&spec, &run, &stored))));
    group.finish();
}

criterion_group!(benches, runs);
criterion_main!(benches);
