fn unused(x: u32) -> u32 { if x > 3 { 1 } else { 2 } }
fn gen<T: Copy + Into<u64>>(x: T) -> u64 { let y: u64 = x.into(); if y > 4 { y * 2 } else { y } }
#[inline] fn small(x: u64) -> bool { x > 2 && x < 9 }
fn main() {
    let n = std::env::args().count() as u32;
    let mut s = 0;
    for i in 0..10u32 { s += gen(i); if small(i.into()) { s += 1; } }
    let v: Vec<u64> = (0..5).map(|x| if x % 2 == 0 { x } else { 7 }).collect();
    println!("{s} {:?} {}", v, gen(3u8));
    if n > 5 { std::process::exit(unused(n) as i32); }
}
