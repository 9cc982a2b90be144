use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use harnesses::{fibonacci, prepare, sum};
use std::hint::black_box;

fn all(criterion: &mut Criterion) {
    criterion.bench_function("fibonacci", |bencher| bencher.iter(|| fibonacci(black_box(15))));
    let mut group = criterion.benchmark_group("sum");
    for count in [1_000, 3_000] {
        group.bench_with_input(BenchmarkId::new("iter", count), &count, |bencher, &count| {
            let numbers = prepare(count);
            bencher.iter(|| sum(black_box(&numbers)));
        });
        group.bench_with_input(BenchmarkId::new("batched", count), &count, |bencher, &count| {
            bencher.iter_batched(|| prepare(count), |numbers| sum(&numbers), BatchSize::SmallInput);
        });
    }
    group.finish();
}

criterion_group!(benches, all);
criterion_main!(benches);
