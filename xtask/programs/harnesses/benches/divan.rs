use divan::{Bencher, black_box};
use harnesses::{fibonacci, prepare, sum};

fn main() {
    divan::main();
}

#[divan::bench(name = "fibonacci")]
fn of_fibonacci() -> u64 {
    fibonacci(black_box(15))
}

#[divan::bench(args = [1_000, 3_000], name = "sum")]
fn of_sum(bencher: Bencher, count: u64) {
    bencher.with_inputs(|| prepare(count)).bench_refs(|numbers| sum(numbers));
}
