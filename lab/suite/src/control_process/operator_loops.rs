//! The controls of operators and expressions: loops by hand that do the same.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet, VecDeque};
use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::ops::Range;

use control::{ControlSink, Error, Payload};

/// Messages of a count window, tumbling or sliding: those of the SPL programs' windows.
pub const WINDOW: u64 = 100;

/// Messages of the long windows.
pub const LONG_WINDOW: u64 = 1_000;

/// Partitions of the partitioned window.
pub const PARTITIONS: u64 = 10_000;

/// Messages of one partition's window.
pub const PARTITION_TUPLES: u64 = 10;

/// Milliseconds from the start of one pane to that of the next; a message a millisecond.
pub const PANE_PERIOD: u64 = 100_000;

/// Periods of a pane.
pub const PANE_PERIODS: u64 = 4;

const WINDOW_MESSAGES: usize = WINDOW as usize;

/// Runs the loop of a case; `None` if no case has this name.
pub fn run_case(
    bench: &str,
    name: &str,
    count: u64,
    file: &str,
) -> Option<Result<ControlSink, Error>> {
    let mut sink = ControlSink::default();
    match (bench, name) {
        ("operators", "Filter") => for_each_number(count, |n| {
            if n % 3 != 0 {
                sink.add(n);
            }
        }),
        ("operators", "Functor") => for_each_number(count, |n| sink.add(n * 31 + 7)),
        ("operators", "Split") => for_each_number(count, |n| match n % 2 {
            0 => sink.add(n),
            _ => sink.add(black_box(n)),
        }),
        ("operators", "Aggregate" | "Aggregate-punct") => tumbling(count, &mut sink),
        ("operators", "Aggregate-delta") => delta(count, &mut sink),
        ("operators", "Aggregate-collect") => collect(count, &mut sink),
        ("operators", "Aggregate-partitions") => partitions(count, &mut sink),
        ("operators", "Aggregate-panes") => panes(count, &mut sink),
        ("operators", "Aggregate-sliding") => sliding(count, &mut sink),
        ("operators", "Aggregate-functions") => functions(count, &mut sink),
        ("operators", "Join") => join(count, WINDOW_MESSAGES, &mut sink),
        ("operators", "Join-long") => join(count, LONG_WINDOW as usize, &mut sink),
        ("operators", "Join-outer") => outer_join(count, &mut sink),
        ("operators", "DeDuplicate") => {
            let mut seen = HashSet::new();
            for_each_number(count, |n| match seen.insert(n * 7919 % 1_000_000) {
                true => sink.add(n),
                false => sink.add(black_box(n)),
            });
        }
        ("operators", "Sort-sliding") => sort_sliding(count, &mut sink),
        ("operators", "Sort") => sort(count, &mut sink),
        ("operators", "FileSource") => {
            let read = read(file, &mut sink);
            return Some(read.map(|()| sink));
        }
        ("expressions", "integer") => {
            for_each_number(count, |n| sink.add((n * 31 + 7) % 1_000_003))
        }
        ("expressions", "float") => for_each_number(count, |n| {
            let x = n as f64;
            sink.add((x * 0.5 + 1000.0 / (x + 1.0)) as i64);
        }),
        // With three places behind the point, as decimals would be written by hand.
        ("expressions", "decimal") => for_each_number(count, |n| sink.add(n * 908 / 1000)),
        ("expressions", "branch") => for_each_number(count, |n| {
            let other = || if n % 5 == 0 { -n } else { 1 };
            sink.add(if n % 3 == 0 { n } else { other() });
        }),
        ("expressions", "string") => for_each_number(count, |n| {
            let text = n.to_string() + "/" + &(n + 1).to_string();
            sink.add(black_box(text).len() as i64);
        }),
        ("expressions", "list") => for_each_number(count, |n| {
            let list = black_box(vec![n, n + 1, n + 2, n + 3]);
            sink.add(list.iter().sum());
        }),
        _ => return None,
    }
    Some(Ok(sink))
}

/// Calls `run` with the numbers from 0 on. The compiler does not know that they are consecutive; it
/// would replace a sum of them by a formula.
#[inline(always)]
fn for_each_number(count: u64, mut run: impl FnMut(i64)) {
    for number in 0..count {
        run(black_box(number as i64));
    }
}

fn tumbling(count: u64, sink: &mut ControlSink) {
    let (mut sum, mut there) = (0, 0);
    for_each_number(count, |n| {
        sum += n;
        there += 1;
        if there == WINDOW_MESSAGES {
            sink.add(sum);
            (sum, there) = (0, 0);
        }
    });
}

/// Sums up to the number that is too far from the first.
fn delta(count: u64, sink: &mut ControlSink) {
    let (mut sum, mut first) = (0, 0);
    for_each_number(count, |n| {
        if n - first >= WINDOW as i64 {
            sink.add(sum);
            (sum, first) = (0, n);
        }
        sum += n;
    });
}

/// The values that come with the greatest key of a window.
fn collect(count: u64, sink: &mut ControlSink) {
    let (mut best, mut there, mut values) = (i64::MIN, 0, HashSet::new());
    for_each_number(count, |n| {
        let key = n * 7919 % 53;
        if key > best {
            best = key;
            values.clear();
        }
        if key == best {
            values.insert(n);
        }
        there += 1;
        if there == WINDOW_MESSAGES {
            sink.add(values.len() as i64);
            (best, there) = (i64::MIN, 0);
            values.clear();
        }
    });
}

/// A sum and a count for each key, removed when its window is full.
fn partitions(count: u64, sink: &mut ControlSink) {
    let mut windows: HashMap<i64, (i64, u64)> = HashMap::new();
    for_each_number(count, |n| {
        let key = if n < PARTITION_TUPLES as i64 {
            -1
        } else {
            n * 7919 % PARTITIONS as i64
        };
        let (sum, there) = windows.entry(key).or_default();
        *sum += n;
        *there += 1;
        if *there == PARTITION_TUPLES {
            sink.add(*sum);
            windows.remove(&key);
        }
    });
}

/// Sums by period and key; a pane adds up those of its periods.
fn panes(count: u64, sink: &mut ControlSink) {
    let (period, duration) = (PANE_PERIOD as i64, (PANE_PERIODS * PANE_PERIOD) as i64);
    let mut periods: BTreeMap<i64, HashMap<i64, i64>> = BTreeMap::new();
    let (mut next_watermark, mut next_pane) = (i64::MIN, i64::MIN);
    for_each_number(count, |n| {
        let at = if n == 0 { -1_000_000_000 } else { n - 1 };
        let sums = periods.entry(at.div_euclid(period) * period).or_default();
        *sums.entry(n * 7919 % PARTITIONS as i64).or_default() += n;
        if at < next_watermark {
            return;
        }
        next_watermark = at + 100;
        while let Some((first, _)) = periods.first_key_value() {
            let start = next_pane.max(first + period - duration);
            if start + duration > at {
                break;
            }
            add_pane(&periods, start..start + duration, sink);
            next_pane = start + period;
            periods = periods.split_off(&next_pane);
        }
    });
}

fn add_pane(periods: &BTreeMap<i64, HashMap<i64, i64>>, pane: Range<i64>, sink: &mut ControlSink) {
    let mut sums: HashMap<i64, i64> = HashMap::new();
    for (key, sum) in periods.range(pane).flat_map(|(_, sums)| sums) {
        *sums.entry(*key).or_default() += sum;
    }
    sums.values().for_each(|sum| sink.add(*sum));
}

fn sliding(count: u64, sink: &mut ControlSink) {
    let (mut window, mut sum) = (VecDeque::with_capacity(WINDOW_MESSAGES + 1), 0);
    for_each_number(count, |n| {
        window.push_back(n);
        sum += n;
        if window.len() > WINDOW_MESSAGES {
            sum -= window.pop_front().unwrap_or(0);
        }
        if window.len() == WINDOW_MESSAGES {
            sink.add(sum);
        }
    });
}

/// Running sums and the values that no later one surpasses.
fn functions(count: u64, sink: &mut ControlSink) {
    let mut window: VecDeque<(i64, f64)> = VecDeque::new();
    let mut highest: VecDeque<f64> = VecDeque::new();
    let (mut sum, mut prices) = (0, 0.0);
    for_each_number(count, |n| {
        if window.len() == LONG_WINDOW as usize
            && let Some((number, price)) = window.pop_front()
        {
            sum -= number;
            prices -= price;
            if highest.front() == Some(&price) {
                highest.pop_front();
            }
        }
        let price = (n * 7919 % 10_007) as f64;
        window.push_back((n, price));
        while highest.back().is_some_and(|last| *last < price) {
            highest.pop_back();
        }
        highest.push_back(price);
        sum += n;
        prices += price;
        if window.len() == LONG_WINDOW as usize {
            let mean = prices / LONG_WINDOW as f64;
            sink.add(sum + highest[0] as i64 + mean as i64);
        }
    });
}

/// A window of a stream, with the number of times that each value is in it.
#[derive(Default)]
struct SlidingNumbers {
    order: VecDeque<i64>,
    counts: HashMap<i64, u32>,
}

impl SlidingNumbers {
    fn insert(&mut self, number: i64, window: usize) {
        self.order.push_back(number);
        *self.counts.entry(number).or_default() += 1;
        if self.order.len() <= window {
            return;
        }
        let Some(oldest) = self.order.pop_front() else {
            return;
        };
        if let Some(left) = self.counts.get_mut(&oldest) {
            *left -= 1;
            if *left == 0 {
                self.counts.remove(&oldest);
            }
        }
    }

    fn count(&self, number: i64) -> u32 {
        self.counts.get(&number).copied().unwrap_or(0)
    }
}

fn join(count: u64, window: usize, sink: &mut ControlSink) {
    let (mut left, mut right) = (SlidingNumbers::default(), SlidingNumbers::default());
    for_each_number(count, |n| {
        left.insert(n, window);
        (0..right.count(n)).for_each(|_| sink.add(n + n));
        right.insert(n, window);
        (0..left.count(n)).for_each(|_| sink.add(n + n));
    });
}

/// Even numbers are found again; odd ones when they leave the window.
fn outer_join(count: u64, sink: &mut ControlSink) {
    let (mut order, mut are_paired) = (VecDeque::new(), HashMap::new());
    let mut right = SlidingNumbers::default();
    for_each_number(count, |n| {
        let is_paired = right.count(n) > 0;
        (0..right.count(n)).for_each(|_| sink.add(n + n));
        order.push_back(n);
        are_paired.insert(n, is_paired);
        if order.len() > WINDOW_MESSAGES
            && let Some(oldest) = order.pop_front()
            && are_paired.remove(&oldest) == Some(false)
        {
            sink.add(oldest);
        }
        let key = if n % 2 == 0 { n } else { -1 };
        if let Some(is_paired) = are_paired.get_mut(&key) {
            *is_paired = true;
            sink.add(key + n);
        }
        right.insert(key, WINDOW_MESSAGES);
    });
}

fn sort(count: u64, sink: &mut ControlSink) {
    let mut window = Vec::with_capacity(WINDOW_MESSAGES);
    for_each_number(count, |n| {
        window.push((n * 7919 % 101, n));
        if window.len() == WINDOW_MESSAGES {
            window.sort_by_key(|(key, _)| *key);
            window.drain(..).for_each(|(_, n)| sink.add(n));
        }
    });
}

fn sort_sliding(count: u64, sink: &mut ControlSink) {
    let mut window = BinaryHeap::with_capacity(LONG_WINDOW as usize + 1);
    for_each_number(count, |n| {
        window.push(Reverse((n * 7919 % 100_003, n)));
        if window.len() > LONG_WINDOW as usize
            && let Some(Reverse((_, first))) = window.pop()
        {
            sink.add(first);
        }
    });
    while let Some(Reverse((_, first))) = window.pop() {
        sink.add(first);
    }
}

fn read(file: &str, sink: &mut ControlSink) -> Result<(), Error> {
    let failed = |error| Error::system(&format!("read {file}"), error);
    let mut lines = BufReader::new(File::open(file).map_err(failed)?);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).map_err(failed)? > 0 {
        let mut fields = line.trim_ascii_end().split(|byte| *byte == b',');
        let mut next = || fields.next().unwrap_or_default();
        let (number, name, price) = (next(), next(), next());
        sink.add(parse_field(number)? + parse_field(price)? + name.len() as i64);
        line.clear();
    }
    Ok(())
}

fn parse_field(field: &[u8]) -> Result<i64, Error> {
    let text = std::str::from_utf8(field).ok();
    let number = text.and_then(|text| text.parse().ok());
    number.ok_or_else(|| Error::new("a line of the file holds no number"))
}

/// Four operators in a row, each a function that hands on a message in memory.
pub fn chain(payload: Payload, count: u64) -> ControlSink {
    let mut sink = ControlSink::default();
    let mut message = vec![0; payload.bytes()];
    let mut changed = message.clone();
    for number in 0..count {
        payload.fill(number, &mut message);
        change_operator(payload, black_box(&message), &mut changed, &mut sink);
    }
    sink
}

#[inline(never)]
fn change_operator(payload: Payload, message: &[u8], changed: &mut [u8], sink: &mut ControlSink) {
    changed.copy_from_slice(message);
    payload.set_first(changed, payload.first(changed) + 1);
    pass_operator(payload, black_box(changed), sink);
}

#[inline(never)]
fn pass_operator(payload: Payload, message: &[u8], sink: &mut ControlSink) {
    if payload.first(message) != 0 {
        sink_operator(payload, message, sink);
    }
}

#[inline(never)]
fn sink_operator(payload: Payload, message: &[u8], sink: &mut ControlSink) {
    sink.add(payload.sum(message));
}
