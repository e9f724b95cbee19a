//! Every order in which threads of a pool can claim work, sleep and be woken, under `--cfg loom`.
//!
//! The words are the real ones. What a claim protects is behind a lock that has to be free for the
//! holder of the claim, as in the run time, so two threads inside at once are found; work that no
//! thread takes is a deadlock, which is found too.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p thalweg-ring --test pool_loom --release --target-dir
//! target/loom`
#![cfg(loom)]

use loom::sync::atomic::{AtomicU32, Ordering, fence};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use thalweg_ring::{ClaimWord, ThreadLevel};

/// How often threads are interrupted at places where they would not yield themselves.
const PREEMPTIONS: usize = 2;

/// A pool as the run time has one: words, and a wakeup for each thread.
struct Pool {
    claims: Vec<ClaimWord>,
    /// By region: items that nobody has taken.
    items: Vec<AtomicU32>,
    /// By region: items that were taken; only the holder of the claim enters.
    taken: Vec<Mutex<u32>>,
    level: ThreadLevel,
    wakeups: Vec<(Mutex<bool>, Condvar)>,
    left: AtomicU32,
}

impl Pool {
    fn new(regions: usize, threads: usize, level: u32, items: u32) -> Arc<Pool> {
        Arc::new(Pool {
            claims: (0..regions).map(|_| ClaimWord::default()).collect(),
            items: (0..regions).map(|_| AtomicU32::new(0)).collect(),
            taken: (0..regions).map(|_| Mutex::new(0)).collect(),
            level: ThreadLevel::new(threads, level),
            wakeups: (0..threads)
                .map(|_| (Mutex::new(false), Condvar::new()))
                .collect(),
            left: AtomicU32::new(items),
        })
    }

    /// A producer puts an item into the queue of a region.
    fn put(&self, region: usize) {
        self.items[region].fetch_add(1, Ordering::AcqRel);
        if self.claims[region].notify() {
            self.wake_one();
        }
    }

    fn wake_one(&self) {
        if let Some(thread) = self.level.take_sleeper() {
            self.wake(thread);
        }
    }

    fn wake(&self, thread: usize) {
        let (woken, changed) = &self.wakeups[thread];
        *woken.lock().unwrap() = true;
        changed.notify_one();
    }

    fn sleep(&self, thread: usize) {
        let (woken, changed) = &self.wakeups[thread];
        let mut is_woken = woken.lock().unwrap();
        while !*is_woken {
            is_woken = changed.wait(is_woken).unwrap();
        }
        *is_woken = false;
    }

    fn has_ended(&self) -> bool {
        self.left.load(Ordering::SeqCst) == 0
    }

    fn has_work(&self) -> bool {
        self.claims.iter().any(ClaimWord::is_ready)
    }

    /// A thread waits for another thread in the middle of a region.
    fn wait(&self) {
        self.level.begin_wait();
        if self.level.is_short() && self.has_work() {
            self.wake_one();
        }
        self.level.end_wait();
    }

    fn run_claimed(&self, region: usize, waits: bool) {
        let count = self.items[region].swap(0, Ordering::AcqRel);
        let mut taken = self.taken[region].try_lock().expect("the claim is held");
        *taken += count;
        if waits {
            self.wait();
        }
        drop(taken);
        self.claims[region].release(false);
        if count > 0 && self.left.fetch_sub(count, Ordering::SeqCst) == count {
            fence(Ordering::SeqCst);
            for thread in 0..self.wakeups.len() {
                if self.level.end_sleep(thread) {
                    self.wake(thread);
                }
            }
        }
    }

    fn work(&self, thread: usize, waits: bool) {
        while !self.has_ended() {
            if self.level.begin_surplus_sleep(thread) {
                match self.has_ended() {
                    true => drop(self.level.end_sleep(thread)),
                    false => self.sleep_and_count(thread),
                }
                continue;
            }
            let mut ready = (0..self.claims.len()).filter(|&region| self.claims[region].is_ready());
            match ready.find(|&region| self.claims[region].try_claim()) {
                Some(region) => self.run_claimed(region, waits),
                None => {
                    self.level.begin_sleep(thread);
                    match self.has_ended() || self.has_work() {
                        true => drop(self.level.end_sleep(thread)),
                        false => self.sleep_and_count(thread),
                    }
                }
            }
        }
    }

    fn sleep_and_count(&self, thread: usize) {
        self.sleep(thread);
        self.level.end_sleep(thread);
    }
}

/// Producers put items, threads take them all and end.
fn check(regions: usize, threads: usize, level: u32, puts: &'static [usize], waits: bool) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.max_branches = 20_000;
    builder.check(move || {
        let pool = Pool::new(regions, threads, level, puts.len() as u32);
        (0..threads).for_each(|_| pool.level.add_active());
        let threads: Vec<_> = (0..threads)
            .map(|thread| {
                let pool = pool.clone();
                thread::spawn(move || pool.work(thread, waits))
            })
            .collect();
        puts.iter().for_each(|&region| pool.put(region));
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        for region in 0..regions {
            let expected = puts.iter().filter(|&&put| put == region).count();
            assert_eq!(*pool.taken[region].lock().unwrap() as usize, expected);
        }
    });
}

#[test]
fn a_single_thread_takes_everything() {
    check(2, 1, 1, &[0, 1, 0], false);
}

#[test]
fn of_two_threads_one_at_a_time_enters_a_region() {
    check(1, 2, 2, &[0, 0], false);
}

#[test]
fn two_threads_take_what_two_regions_have() {
    check(2, 2, 2, &[0, 1], false);
}

#[test]
fn a_surplus_thread_sleeps_and_no_work_is_forgotten() {
    check(2, 2, 1, &[0, 1], false);
}

#[test]
fn a_thread_that_waits_is_replaced() {
    check(2, 2, 1, &[0, 1], true);
}
