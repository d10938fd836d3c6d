// SPDX-License-Identifier: Apache-2.0

// usage: rusty SECONDS
// worker -> outer -> inner on the main thread and on one of its own; the map and the panic that is
// caught now and then bring the standard library and its unwinder in.
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

#[inline(never)]
fn inner(rounds: u64) -> u64 {
    let mut x = std::hint::black_box(rounds) | 1;
    for _ in 0..rounds {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    std::hint::black_box(x)
}

#[inline(never)]
fn outer(map: &mut BTreeMap<u64, String>, n: u64) -> u64 {
    let x = inner(20_000 + n);
    map.insert(x % 1000, format!("{x:x}"));
    if n % 64 == 0 {
        let caught = std::panic::catch_unwind(|| std::panic::resume_unwind(Box::new(n)));
        return x + u64::from(caught.is_err());
    }
    x + map.len() as u64
}

#[inline(never)]
fn worker(end: Instant) -> u64 {
    let mut map = BTreeMap::new();
    let mut sum = 0u64;
    let mut n = 0;
    while Instant::now() < end {
        sum = sum.wrapping_add(outer(&mut map, n));
        n += 1;
    }
    std::hint::black_box(sum)
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    println!("ready");
    let thread = std::thread::spawn(move || worker(end));
    worker(end);
    thread.join().unwrap();
}
