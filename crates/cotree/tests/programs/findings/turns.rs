//! Loops of constant and of variable numbers of turns, of which each line is known to have run so and so often.
#[inline(never)]
fn any(v: &[i32]) -> i64 {
    let mut t = 0;
    for &x in v {
        t += if x > 5 { 2 } else { 1 }; // 1000
    }
    t
}

#[inline(never)]
fn four(v: &[i32; 4]) -> i32 {
    let mut t = 0_i32;
    for i in 0..4 {
        t = t.wrapping_mul(3) ^ v[i]; // 4000
    }
    t
}

fn main() {
    let v: Vec<i32> = (0..1003).map(|i| i * 7 % 13).collect();
    let mut r = any(&v[..1000]);
    for i in 0..1000 {
        let part: &[i32; 4] = v[i..i + 4].try_into().expect("four");
        r += i64::from(four(part)); // 1000
    }
    println!("{r}");
}
