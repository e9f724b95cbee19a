//! Runs contenders by turns and prints their results.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;

use control::{cores, median};

/// Place of sending threads among the two cores of the bench.
pub const SENDER: usize = 0;

/// Place of receiving threads among the two cores of the bench.
pub const RECEIVER: usize = 1;

/// Number of turns of each contender.
const TURNS: usize = 9;

/// Number of bursts in a turn.
const BURSTS: u32 = 30;

/// Starts a thread on the core of this place.
pub fn on_core<T: Send + 'static>(
    place: usize,
    run: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let name = ["sender", "receiver"][place].to_owned();
    let core = <[u32; 2]>::from(cores::pair())[place];
    let thread = std::thread::Builder::new().name(name);
    let run = move || {
        if let Err(error) = cores::pin(core) {
            println!("not pinned: {error}");
        }
        run()
    };
    thread.spawn(run).expect("a thread")
}

/// Median seconds of the undisturbed bursts: other programs may use the machine, so a burst in
/// which either thread was taken off its core does not count. Both sides begin at one time; the
/// receiving side reports when it has every frame.
pub fn burst(
    mut send: impl FnMut() + Send + 'static,
    mut receive: impl FnMut() + Send + 'static,
) -> f64 {
    let gate = Arc::new(Gate::default());
    let other_gate = gate.clone();
    let sends = on_core(SENDER, move || {
        let burst = |number| {
            alone(|| {
                other_gate.pass(number);
                let start = Instant::now();
                send();
                start
            })
        };
        (0..BURSTS).map(burst).collect::<Vec<_>>()
    });
    let receives = on_core(RECEIVER, move || {
        let burst = |number| {
            alone(|| {
                gate.pass(number);
                receive();
                Instant::now()
            })
        };
        (0..BURSTS).map(burst).collect::<Vec<_>>()
    });
    let (ends, starts) = (join(receives), join(sends));
    let bursts = starts.iter().zip(&ends);
    let all = bursts.map(|(start, end)| {
        let took = end.0.saturating_duration_since(start.0).as_secs_f64();
        (took, start.1 && end.1)
    });
    let alone: Vec<f64> = all.clone().filter(|one| one.1).map(|one| one.0).collect();
    match alone.is_empty() {
        true => all.map(|one| one.0).fold(f64::INFINITY, f64::min),
        false => median(alone.into_iter()),
    }
}

/// Runs a function. `true`: the thread stayed on its core from beginning to end.
fn alone<T>(run: impl FnOnce() -> T) -> (T, bool) {
    let before = switches();
    let done = run();
    (done, before == switches())
}

/// Releases two threads together: it wakes both and, when both are on their cores, lets them go.
#[derive(Default)]
struct Gate {
    arrived: AtomicU32,
    sleepers: Mutex<u32>,
    all_here: Condvar,
}

impl Gate {
    fn pass(&self, number: u32) {
        let mut sleepers = self.sleepers.lock().expect("no thread panics here");
        *sleepers += 1;
        self.all_here.notify_all();
        let sleepers = self
            .all_here
            .wait_while(sleepers, |count| *count < 2 * (number + 1));
        drop(sleepers);
        self.arrived.fetch_add(1, Ordering::AcqRel);
        while self.arrived.load(Ordering::Acquire) < 2 * (number + 1) {
            std::hint::spin_loop();
        }
    }
}

/// Number of times that this thread was taken off its core.
fn switches() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    let line = status
        .lines()
        .find(|line| line.starts_with("nonvoluntary"))?;
    line.split_whitespace().last()?.parse().ok()
}

/// Result of a thread.
///
/// # Panics
/// If the thread has panicked.
pub fn join<T>(thread: JoinHandle<T>) -> T {
    thread.join().expect("the thread of a bench ends well")
}

/// Runs both contenders by turns. Prints the medians and the median of the ratios, the second to
/// the first of a turn. Returns the second's median.
pub fn compare(
    what: &str,
    unit: &str,
    mut bare: impl FnMut() -> f64,
    mut ours: impl FnMut() -> f64,
) -> f64 {
    let turns: Vec<_> = (0..TURNS).map(|_| (bare(), ours())).collect();
    let bare = median(turns.iter().map(|turn| turn.0));
    let ours = median(turns.iter().map(|turn| turn.1));
    let ratio = median(turns.iter().map(|turn| turn.1 / turn.0));
    println!("  {what:<32} {bare:>9.3} {ours:>9.3} {unit:<5} ratio {ratio:.3}");
    ours
}
