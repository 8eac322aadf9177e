// SPDX-License-Identifier: MIT
//
// Rust: closures, trait objects, collections, formatting, a panic that is
// caught, a thread.
//     shapes_rs [SECONDS=1]
// Runs in: tests (for the oracle).
use std::collections::{BTreeMap, HashMap};
use std::panic;
use std::time::{Duration, Instant};

trait Shape {
    fn area(&self) -> f64;
}
struct Square(f64);
struct Round(f64);
impl Shape for Square {
    #[inline(never)]
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}
impl Shape for Round {
    #[inline(never)]
    fn area(&self) -> f64 {
        self.0.sin() * std::f64::consts::PI
    }
}

// A value that the compiler cannot follow, as it does not follow what is read
// again.  (std::hint::black_box came with Rust 1.66; Debian 12 has 1.63.)
fn unknown(value: u64) -> u64 {
    unsafe { std::ptr::read_volatile(&value) }
}

#[inline(never)]
fn deep(depth: u64) -> u64 {
    if depth == 0 {
        return 1;
    }
    unknown(deep(depth - 1)) * 3 + depth
}

#[inline(never)]
fn fails(turn: u64) -> u64 {
    let list: Vec<u64> = (0..turn % 5).collect();
    panic::catch_unwind(move || list[4 + (turn % 2) as usize]).unwrap_or(7)
}

#[inline(never)]
fn round(turn: u64) -> u64 {
    let mut tree = BTreeMap::new();
    let mut table = HashMap::new();
    for i in 0..50u64 {
        let name = format!("{:>5}-{:x}", i * 7919 % 53, turn);
        table.insert(name.clone(), i);
        tree.insert(name, i);
    }
    let mut names: Vec<_> = tree.keys().cloned().collect();
    names.sort_by(|a, b| b.cmp(a));
    let shapes: Vec<Box<dyn Shape>> =
        vec![Box::new(Square(turn as f64)), Box::new(Round(2.0))];
    let area: f64 = shapes.iter().map(|s| s.area()).sum();
    names.len() as u64 + table.len() as u64 + area as u64 + deep(turn % 50) + fails(turn)
}

fn rounds(end: Instant) -> u64 {
    let mut sum = 0u64;
    let mut turn = 0;
    while Instant::now() < end {
        sum = sum.wrapping_add(round(turn));
        turn += 1;
    }
    sum
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let seconds = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let other = std::thread::spawn(move || rounds(end));
    let sum = rounds(end).wrapping_add(other.join().unwrap());
    std::process::exit(if sum == 0 { 1 } else { 0 });
}
