// SPDX-License-Identifier: Apache-2.0
use std::collections::BTreeMap;

fn fib(n: u32) -> u64 {
    if n < 2 { n as u64 } else { fib(n - 1) + fib(n - 2) }
}

fn main() {
    let worker = std::thread::spawn(|| loop {
        std::hint::black_box(fib(20));
    });
    loop {
        let words: BTreeMap<String, u64> = (0..4000u64).map(|i| ((i * 7919 % 10007).to_string(), i)).collect();
        let text: Vec<&str> = words.keys().map(|word| word.as_str()).collect();
        if std::hint::black_box(text.join(" ")).is_empty() {
            break;
        }
    }
    worker.join().unwrap();
}
