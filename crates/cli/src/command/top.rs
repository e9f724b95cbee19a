//! `thalweg top`: what the jobs of this user are doing.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use engine::{JobSample, LinkSample, PeSample};
use serde_json::json;

use super::Failure;
use crate::args::TopArgs;
use crate::progress::short;
use crate::table::Table;

/// How often the picture is drawn.
const PERIOD: Duration = Duration::from_secs(1);

/// Jobs write their counters more often than that.
const NEXT_SAMPLE_MAX: Duration = Duration::from_secs(2);

/// Shows jobs until it is interrupted, the one that was named has ended, or nobody reads it.
pub fn top(args: TopArgs) -> Result<(), Failure> {
    let mut before = wanted(&args)?;
    if args.once {
        let text = if args.json {
            json_line(&before)
        } else {
            let now = next(&before, &args);
            picture(&now, &before)
        };
        return super::print(&text);
    }
    loop {
        std::thread::sleep(PERIOD);
        let now = filtered(&args);
        if now.is_empty() && args.job.is_some() {
            return Ok(());
        }
        let text = if args.json {
            json_line(&now)
        } else {
            on_screen(&picture(&now, &before))
        };
        if !shown(&text)? {
            return Ok(());
        }
        before = now;
    }
}

/// The jobs to show; a job that was named has to be there.
fn wanted(args: &TopArgs) -> Result<Vec<JobSample>, Failure> {
    let found = filtered(args);
    let Some(name) = args.job.as_ref().filter(|_| found.is_empty()) else {
        return Ok(found);
    };
    let all = engine::samples(&engine::runtime_folder());
    let all: Vec<_> = all
        .iter()
        .map(|job| format!("{} ({})", job.job, job.name))
        .collect();
    Err(Failure::Program(match all.is_empty() {
        true => format!("there is no job {name}; none runs"),
        false => format!("there is no job {name}; there are {}", all.join(", ")),
    }))
}

fn filtered(args: &TopArgs) -> Vec<JobSample> {
    let mut jobs = engine::samples(&engine::runtime_folder());
    if let Some(name) = &args.job {
        let is_meant = |job: &JobSample| {
            let last = job.name.rsplit("::").next();
            job.job.to_string() == *name || job.name == *name || last == Some(name)
        };
        jobs.retain(is_meant);
    }
    jobs
}

/// The same jobs when they have written their counters anew.
fn next(before: &[JobSample], args: &TopArgs) -> Vec<JobSample> {
    let begun = Instant::now();
    loop {
        let now = filtered(args);
        let is_new =
            |pe: &PeSample| earlier(before, pe).is_none_or(|b| b.sampled_ns < pe.sampled_ns);
        let mut pes = now.iter().flat_map(|job| &job.pes);
        if pes.all(is_new) || begun.elapsed() > NEXT_SAMPLE_MAX {
            return now;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// One line: `time_ms` (since 1970) and `jobs`, whose fields are those of [`JobSample`].
fn json_line(jobs: &[JobSample]) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let time_ms = now.map_or(0, |now| now.as_millis() as u64);
    format!("{}\n", json!({ "time_ms": time_ms, "jobs": jobs }))
}

/// Whether somebody still reads.
fn shown(text: &str) -> Result<bool, Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => {
            let message = format!("cannot write to standard output: {error}");
            Err(Failure::Program(message))
        }
    }
}

/// Over the last picture, if there is a terminal.
fn on_screen(text: &str) -> String {
    if std::io::stdout().is_terminal() {
        format!("\x1b[H{}\x1b[J", text.replace('\n', "\x1b[K\n"))
    } else {
        format!("{text}\n")
    }
}

fn picture(jobs: &[JobSample], before: &[JobSample]) -> String {
    if jobs.is_empty() {
        return "no job runs\n".to_owned();
    }
    let pictures: Vec<_> = jobs.iter().map(|job| of_job(job, before)).collect();
    pictures.join("\n")
}

fn of_job(job: &JobSample, before: &[JobSample]) -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let age = now.saturating_sub(Duration::from_millis(job.began_ms));
    let pes = match job.pe_count {
        1 => "1 PE".to_owned(),
        count => format!("{count} PEs"),
    };
    let mut text = format!(
        "{}   job {}   {pes}   {:.0} s\n",
        job.name,
        job.job,
        age.as_secs_f64()
    );
    let parts = [
        operators(job, before),
        links(job, before),
        queues(job),
        waits(job),
    ];
    for part in parts.iter().filter(|part| !part.is_empty()) {
        text += "\n";
        text += part;
    }
    text
}

fn operators(job: &JobSample, before: &[JobSample]) -> String {
    let mut table = Table::new(&["PE", "OPERATOR", "KIND", " IN", " IN/s", " OUT", " OUT/s"]);
    for pe in &job.pes {
        let earlier = earlier(before, pe);
        for (at, operator) in pe.operators.iter().enumerate() {
            let then = earlier.and_then(|e| e.operators.get(at));
            let mut cells = vec![
                pe.pe.to_string(),
                operator.name.clone(),
                operator
                    .kind
                    .rsplit("::")
                    .next()
                    .unwrap_or_default()
                    .to_owned(),
            ];
            let sides = [
                (&operator.processed, then.map(|o| &o.processed)),
                (&operator.submitted, then.map(|o| &o.submitted)),
            ];
            for (now, then) in sides {
                let total = |counts: &Vec<u64>| counts.iter().sum::<u64>();
                let rate = earlier
                    .zip(then)
                    .map(|(e, then)| rate(pe, e, total(now), total(then)));
                let is_there = !now.is_empty();
                cells.push(cell(is_there.then(|| total(now) as f64)));
                cells.push(cell(rate.filter(|_| is_there)));
            }
            table.row(cells);
        }
    }
    table.text()
}

fn links(job: &JobSample, before: &[JobSample]) -> String {
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
    let mut table = Table::new(&head);
    for pe in &job.pes {
        let earlier = earlier(before, pe);
        for (at, link) in pe
            .links
            .iter()
            .enumerate()
            .filter(|(_, link)| link.is_sender)
        {
            let then = earlier.and_then(|e| Some((e, e.links.get(at)?)));
            let per_second =
                |of: fn(&LinkSample) -> u64| then.map(|(e, then)| rate(pe, e, of(link), of(then)));
            let megabytes = per_second(|link| link.bytes).map(|bytes| bytes / 1e6);
            for &to in &link.to {
                let taken = received(job, link.link, to);
                table.row(vec![
                    link.stream.clone(),
                    format!("pe {}", link.from),
                    format!("pe {to}"),
                    cell(Some(link.frames as f64)),
                    cell(per_second(|link| link.frames)),
                    megabytes.map_or("-".to_owned(), |rate| format!("{rate:.1}")),
                    cell(taken.map(|taken| link.frames.saturating_sub(taken) as f64)),
                    cell(Some(link.waits as f64)),
                ]);
            }
        }
    }
    table.text()
}

/// The frames of a link that a PE has taken.
fn received(job: &JobSample, link: u32, pe: u32) -> Option<u64> {
    let pe = job.pes.iter().find(|sample| sample.pe == pe)?;
    let links = &mut pe.links.iter();
    let own = links.find(|sample| sample.link == link && !sample.is_sender);
    own.map(|sample| sample.frames)
}

fn queues(job: &JobSample) -> String {
    let mut table = Table::new(&[
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
            let names = [pe.pe.to_string(), queue.operator.clone()];
            table.row(names.into_iter().chain(numbers).collect());
        }
    }
    table.text()
}

/// Who is blocked, on whom, and for how long.
fn waits(job: &JobSample) -> String {
    let mut text = String::new();
    for pe in &job.pes {
        let seconds = |waiting_ns: u64| waiting_ns as f64 / 1e9;
        for link in pe.links.iter().filter(|link| link.is_sender) {
            if let Some(waiting) = link.waiting_ns {
                let to: Vec<_> = link.to.iter().map(|to| format!("pe {to}")).collect();
                let (to, seconds) = (to.join(", "), seconds(waiting));
                text += &format!(
                    "pe {} waits for {to}: {} is full for {seconds:.1} s\n",
                    pe.pe, link.stream
                );
            }
        }
        for queue in &pe.queues {
            if let Some(waiting) = queue.waiting_ns {
                let (name, seconds) = (&queue.operator, seconds(waiting));
                text += &format!("pe {} waits: {name} is full for {seconds:.1} s\n", pe.pe);
            }
        }
    }
    text
}

/// The sample of the same PE in earlier ones.
fn earlier<'a>(before: &'a [JobSample], pe: &PeSample) -> Option<&'a PeSample> {
    let mut pes = before.iter().flat_map(|job| &job.pes);
    pes.find(|sample| (sample.pe, sample.pid) == (pe.pe, pe.pid))
}

/// So much more a second.
fn rate(pe: &PeSample, earlier: &PeSample, now: u64, then: u64) -> f64 {
    let nanoseconds = pe.sampled_ns.saturating_sub(earlier.sampled_ns).max(1);
    now.saturating_sub(then) as f64 * 1e9 / nanoseconds as f64
}

fn cell(number: Option<f64>) -> String {
    number.map_or("-".to_owned(), short)
}
