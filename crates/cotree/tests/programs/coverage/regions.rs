use std::collections::BTreeMap;
use std::fmt::Debug;

macro_rules! doubled {
    ($value:expr) => {
        if $value > 3 { $value * 2 } else { $value }
    };
}

fn shown<T: Debug>(value: T, twice: bool) -> String {
    if twice {
        return format!("{value:?}{value:?}");
    }
    format!("{value:?}")
}

#[allow(dead_code)]
fn never_used(x: u32) -> u32 {
    if x > 3 && x < 9 { 1 } else { 2 }
}

#[allow(dead_code)]
pub fn never_instantiated<T: Into<u64>>(value: T) -> u64 {
    let number = value.into();
    if number > 3 { number } else { 0 }
}

struct Account {
    balance: i64,
}

impl Account {
    fn take(&mut self, amount: i64) -> Result<i64, String> {
        if amount > self.balance {
            return Err(format!("only {}", self.balance));
        }
        self.balance -= amount;
        Ok(self.balance)
    }

    fn take_twice(&mut self, amount: i64) -> Result<i64, String> {
        self.take(amount)?;
        self.take(amount)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        if self.balance < 0 {
            println!("in debt");
        }
    }
}

fn classified(n: i32) -> &'static str {
    match n {
        i32::MIN..=-1 => "negative",
        0 => "nothing",
        x if x % 2 == 0 => "even",
        _ => "odd",
    }
}

async fn later(x: u32) -> u32 {
    if x > 1 { x } else { 0 }
}

fn main() {
    let mut account = Account { balance: 10 };
    println!("{:?} {:?}", account.take_twice(4), account.take_twice(4));
    let threshold = std::env::args().count();
    let chosen: Vec<usize> = (0..6).filter(|&x| x > threshold).map(|x| doubled!(x)).collect();
    let unused_closure = |x: u32| {
        if x > 3 { x } else { x + 1 }
    };
    let mut counts = BTreeMap::new();
    for n in [-3, 0, 4, 4] {
        *counts.entry(classified(n)).or_insert(0) += 1;
    }
    let _future = later(3);
    let caught = std::panic::catch_unwind(|| {
        let values: Vec<u32> = Vec::new();
        values[threshold]
    });
    println!("{} {} {counts:?} {chosen:?} {}", shown(1, true), shown("x", false), caught.is_err());
    if threshold > 100 {
        println!("{}", unused_closure(1));
    }
    let Some(_) = counts.get("odd") else { return };
    println!("never");
}
