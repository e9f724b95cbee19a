//! Tables of jobs: operators, crossings, latencies, queues and metrics, with rates since the last
//! sample.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::{CrossingSample, JobSample, LatencySample, MarkerSample, PeSample};

use super::layout::TextBlock;
use super::view::OperatorOrder;
use super::waits::wait_lines;
use crate::progress_line::short_number;
use crate::text_table::TextTable;

/// Number of characters of a name at most, so that a row fits a terminal; `--json` has whole names.
const NAME_CHARS_MAX: usize = 48;

/// Makes the blocks of all jobs; rates are relative to the samples `before`.
pub fn job_blocks(
    jobs: &[JobSample],
    before: &[JobSample],
    order: OperatorOrder,
) -> Vec<TextBlock> {
    if jobs.is_empty() {
        return vec![TextBlock::single_line("no job runs".to_owned())];
    }
    jobs.iter()
        .flat_map(|job| blocks_of_job(job, before, order))
        .collect()
}

fn blocks_of_job(job: &JobSample, before: &[JobSample], order: OperatorOrder) -> Vec<TextBlock> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let age = now.saturating_sub(Duration::from_millis(job.began_ms));
    let pes = match job.pe_count {
        1 => "1 PE".to_owned(),
        count => format!("{count} PEs"),
    };
    let title = format!(
        "{}   job {}   {pes}   {:.0} s",
        job.name,
        job.job,
        age.as_secs_f64()
    );
    let tables = [
        operators(job, before, order),
        crossings(job, before),
        rails(job),
        latencies(job),
        queues(job),
        metrics(job),
    ];
    let tables = tables
        .iter()
        .filter_map(|table| TextBlock::from_text(table, true));
    let title = [TextBlock::single_line(title)].into_iter();
    title
        .chain(tables)
        .chain(TextBlock::from_text(&wait_lines(job), false))
        .collect()
}

fn operators(job: &JobSample, before: &[JobSample], order: OperatorOrder) -> String {
    let head = [
        "PE", "OPERATOR", "KIND", " IN", " IN/s", " MARKS", " OUT", " OUT/s", " MARKS",
    ];
    let mut listed = Vec::new();
    for pe in &job.pes {
        let earlier = earlier_sample(before, pe);
        for (at, operator) in pe.operators.iter().enumerate() {
            let then = earlier.and_then(|e| e.operators.get(at));
            let mut cells = vec![
                pe.pe.to_string(),
                short_name(&operator.name),
                operator
                    .kind
                    .rsplit("::")
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            ];
            let sides = [
                (
                    &operator.processed,
                    then.map(|o| &o.processed),
                    &operator.marks_in,
                ),
                (
                    &operator.submitted,
                    then.map(|o| &o.submitted),
                    &operator.marks_out,
                ),
            ];
            let mut rates = [0.0; 2];
            for ((now, then, marks), listed_rate) in sides.into_iter().zip(&mut rates) {
                let total = |counts: &Vec<u64>| counts.iter().sum::<u64>();
                let rate = earlier
                    .zip(then)
                    .map(|(e, then)| rate(pe, e, total(now), total(then)));
                let is_there = !now.is_empty();
                *listed_rate = rate.unwrap_or(0.0);
                cells.push(cell(is_there.then(|| total(now) as f64)));
                cells.push(cell(rate.filter(|_| is_there)));
                cells.push(cell(is_there.then(|| markers(marks) as f64)));
            }
            listed.push((&operator.name, rates, cells));
        }
    }
    match order {
        OperatorOrder::Plan => {}
        OperatorOrder::Name => listed.sort_by_key(|(name, ..)| *name),
        OperatorOrder::In => listed.sort_by(|(_, a, _), (_, b, _)| b[0].total_cmp(&a[0])),
        OperatorOrder::Out => listed.sort_by(|(_, a, _), (_, b, _)| b[1].total_cmp(&a[1])),
    }
    let mut table = TextTable::new(&head);
    for (_, _, cells) in listed {
        table.add_row(cells);
    }
    table.to_text()
}

/// Number of window and final markers at all ports together.
fn markers(ports: &[MarkerSample]) -> u64 {
    ports.iter().map(|port| port.windows + port.finals).sum()
}

fn crossings(job: &JobSample, before: &[JobSample]) -> String {
    let head = [
        "STREAM",
        "FROM",
        "TO",
        " FRAMES",
        " FRAMES/s",
        " MB/s",
        " QUEUED",
        " WAITS",
    ];
    let mut table = TextTable::new(&head);
    for pe in &job.pes {
        let earlier = earlier_sample(before, pe);
        for (at, crossing) in pe
            .links
            .iter()
            .enumerate()
            .filter(|(_, crossing)| crossing.is_sender)
        {
            let then = earlier.and_then(|e| Some((e, e.links.get(at)?)));
            let per_second = |of: fn(&CrossingSample) -> u64| {
                then.map(|(e, then)| rate(pe, e, of(crossing), of(then)))
            };
            let megabytes = per_second(|crossing| crossing.bytes).map(|bytes| bytes / 1e6);
            for &to in &crossing.to {
                let taken = received_frames(job, crossing.link, to);
                table.add_row(vec![
                    short_name(&crossing.stream),
                    format!("pe {}", crossing.from),
                    format!("pe {to}"),
                    cell(Some(crossing.frames as f64)),
                    cell(per_second(|crossing| crossing.frames)),
                    megabytes.map_or("-".to_owned(), |rate| format!("{rate:.1}")),
                    cell(taken.map(|taken| crossing.frames.saturating_sub(taken) as f64)),
                    cell(Some(crossing.waits as f64)),
                ]);
            }
        }
    }
    table.to_text()
}

/// Number of frames of a crossing that a PE has received.
fn received_frames(job: &JobSample, crossing: u32, pe: u32) -> Option<u64> {
    let pe = job.pes.iter().find(|sample| sample.pe == pe)?;
    let crossings = &mut pe.links.iter();
    let own = crossings.find(|sample| sample.link == crossing && !sample.is_sender);
    own.map(|sample| sample.frames)
}

/// The table of rails, for crossings that are striped over several paths.
fn rails(job: &JobSample) -> String {
    let head = ["RAILS", "FROM", " RAIL", " BATCHES", " BYTES", " BREAKS"];
    let mut table = TextTable::new(&head);
    let crossings = job.pes.iter().flat_map(|pe| &pe.links);
    for (crossing, end) in crossings.filter_map(|one| Some((one, one.end.as_ref()?))) {
        for (number, rail) in end.rails.iter().enumerate() {
            let numbers = [rail.batches, rail.bytes, rail.breaks];
            let [batches, bytes, breaks] = numbers.map(|number| short_number(number as f64));
            table.add_row(vec![
                short_name(&crossing.stream),
                format!("pe {}", crossing.from),
                number.to_string(),
                batches,
                bytes,
                breaks,
            ]);
        }
    }
    table.to_text()
}

/// The table of latencies, for crossings where they are measured.
fn latencies(job: &JobSample) -> String {
    let head = [
        "LATENCY",
        "FROM",
        "TO",
        " MEASURED",
        " P50",
        " P90",
        " P99",
        " P99.9",
        " MAX",
    ];
    let mut table = TextTable::new(&head);
    for pe in &job.pes {
        for crossing in &pe.links {
            let Some(latency) = &crossing.latency else {
                continue;
            };
            let names = [
                short_name(&crossing.stream),
                format!("pe {}", crossing.from),
            ];
            let names = names.into_iter().chain([format!("pe {}", pe.pe)]);
            table.add_row(names.chain(latency_cells(latency)).collect());
        }
    }
    table.to_text()
}

fn latency_cells(latency: &LatencySample) -> impl Iterator<Item = String> {
    let times = [
        latency.ns_p50,
        latency.ns_p90,
        latency.ns_p99,
        latency.ns_p999,
        latency.ns_max,
    ];
    let is_there = latency.count > 0;
    let times = times.map(|ns| if is_there { time(ns) } else { "-".to_owned() });
    [cell(Some(latency.count as f64))].into_iter().chain(times)
}

/// Formats a time in the unit that suits it.
fn time(ns: u64) -> String {
    let ns = ns as f64;
    match ns {
        n if n >= 1e9 => format!("{:.2} s", n / 1e9),
        n if n >= 1e6 => format!("{:.1} ms", n / 1e6),
        n if n >= 1e3 => format!("{:.1} us", n / 1e3),
        n => format!("{n:.0} ns"),
    }
}

/// The table of operators' own metrics; queues have a table of their own.
fn metrics(job: &JobSample) -> String {
    let mut table = TextTable::new(&["PE", "OPERATOR", "METRIC", " VALUE"]);
    for pe in &job.pes {
        let is_queue = |name: &str| pe.queues.iter().any(|queue| queue.operator == name);
        for operator in pe.operators.iter().filter(|o| !is_queue(&o.name)) {
            for (metric, value) in &operator.metrics {
                let names = [&operator.name, metric].map(|name| short_name(name));
                let names = [pe.pe.to_string()].into_iter().chain(names);
                table.add_row(names.chain([value.to_string()]).collect());
            }
        }
    }
    table.to_text()
}

fn queues(job: &JobSample) -> String {
    let mut table = TextTable::new(&[
        "PE", "QUEUE", " ITEMS", " OF", " CAME", " DROPPED", " WAITS",
    ]);
    for pe in &job.pes {
        for queue in &pe.queues {
            let numbers = [
                queue.items,
                queue.items_max,
                queue.sent,
                queue.dropped,
                queue.waits,
            ];
            let numbers = numbers.map(|number| cell(Some(number as f64)));
            let names = [pe.pe.to_string(), short_name(&queue.operator)];
            table.add_row(names.into_iter().chain(numbers).collect());
        }
    }
    table.to_text()
}

/// Shortens a name to its beginning and end, which leaves room for the other columns.
fn short_name(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    if chars.len() <= NAME_CHARS_MAX {
        return name.to_owned();
    }
    let half = NAME_CHARS_MAX / 2;
    let (start, end) = (&chars[..half], &chars[chars.len() - half..]);
    start.iter().chain(&['\u{2026}']).chain(end).collect()
}

/// Finds the sample of a PE among earlier samples.
pub fn earlier_sample<'a>(before: &'a [JobSample], pe: &PeSample) -> Option<&'a PeSample> {
    let mut pes = before.iter().flat_map(|job| &job.pes);
    pes.find(|sample| (sample.pe, sample.pid) == (pe.pe, pe.pid))
}

/// Growth of a count per second since the earlier sample.
fn rate(pe: &PeSample, earlier: &PeSample, now: u64, then: u64) -> f64 {
    let nanoseconds = pe.sampled_ns.saturating_sub(earlier.sampled_ns).max(1);
    now.saturating_sub(then) as f64 * 1e9 / nanoseconds as f64
}

fn cell(number: Option<f64>) -> String {
    number.map_or("-".to_owned(), short_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_both_ends() {
        let just = "\u{e9}".repeat(NAME_CHARS_MAX);
        assert_eq!(short_name(&just), just);
        let long = format!("Main{}Sink", "\u{e9}".repeat(3_000));
        let short = short_name(&long);
        assert_eq!(short.chars().count(), NAME_CHARS_MAX + 1);
        assert!(
            short.starts_with("Main\u{e9}") && short.ends_with("\u{e9}Sink"),
            "{short}"
        );
    }
}
