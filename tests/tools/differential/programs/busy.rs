// SPDX-License-Identifier: Apache-2.0
//! A Rust program that is busy for some seconds: recursion, hashing, sorting, threads, unwinding.
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

enum Tree {
    Leaf,
    Node(Box<Tree>, u64, Box<Tree>),
}

fn grow(depth: u32, key: u64) -> Tree {
    if depth == 0 {
        return Tree::Leaf;
    }
    Tree::Node(Box::new(grow(depth - 1, 2 * key)), key, Box::new(grow(depth - 1, 2 * key + 1)))
}

fn sum(tree: &Tree) -> u64 {
    match tree {
        Tree::Leaf => 0,
        Tree::Node(left, key, right) => sum(left).wrapping_add(*key).wrapping_add(sum(right)),
    }
}

fn words(seed: u64) -> usize {
    let text: String = (0..20000).map(|i| format!("{} ", i * 7919 % (500 + seed))).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word).or_default() += 1;
    }
    let mut keys: Vec<_> = counts.iter().collect();
    keys.sort_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
    let ordered: BTreeMap<_, _> = counts.iter().collect();
    keys.len() + ordered.len()
}

fn caught(n: u32) -> u32 {
    std::panic::catch_unwind(|| if n % 2 == 0 { panic!("even") } else { n }).unwrap_or(0)
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(2.0);
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let mut total = 0u64;
    std::panic::set_hook(Box::new(|_| {}));
    while Instant::now() < end {
        let threads: Vec<_> = (0..4u64)
            .map(|i| {
                std::thread::spawn(move || {
                    sum(&grow(12, i)) + words(i) as u64 + (0..50).map(caught).sum::<u32>() as u64
                })
            })
            .collect();
        for thread in threads {
            total = total.wrapping_add(thread.join().unwrap());
        }
    }
    println!("{total}");
}
