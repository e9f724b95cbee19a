//! `thalweg top`: the running jobs of this user, as tables or JSON.

mod job_tables;
mod layout;
mod view;
mod waits;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args as ClapArgs;
use engine::{JobSample, PeSample};
use job_tables::{earlier_sample, job_blocks};
use layout::TextBlock;
use serde_json::json;
use view::{OperatorOrder, TopView};

use crate::failure::CommandFailure;
use crate::output::{write_or_closed, write_stdout};
use crate::terminal::{self, TerminalSize};
use crate::terminal_events::{TerminalEvent, TerminalEvents};

/// Arguments of `thalweg top`.
#[derive(Debug, ClapArgs)]
pub struct TopArgs {
    /// A single job: the number of its process or the name of its main composite
    pub job: Option<String>,

    /// Print a JSON object a line instead of tables
    #[arg(long)]
    pub json: bool,

    /// Print one sample and exit
    #[arg(long)]
    pub once: bool,

    /// The order in which operators are listed
    #[arg(long, value_name = "ORDER", default_value = "plan")]
    pub sort: OperatorOrder,
}

/// Time between two drawings; jobs write their counters twice in it.
const PERIOD: Duration = Duration::from_secs(1);

/// Time to wait for the next sample of a job: four times the interval at which jobs write their
/// counters.
const NEXT_SAMPLE_MAX: Duration = Duration::from_secs(2);

/// Shows jobs until it is interrupted, the named job has ended, or the reader of its output has
/// gone.
pub fn run(args: TopArgs) -> Result<(), CommandFailure> {
    let mut before = selected_jobs(&args)?;
    if args.once {
        let text = if args.json {
            json_line(&before)
        } else {
            let now = next_samples(&before, &args);
            layout::render_all(&job_blocks(&now, &before, args.sort))
        };
        return write_stdout(&text);
    }
    let events = TerminalEvents::listen(!args.json && screen_size().is_some());
    let mut view = TopView::new(args.sort);
    let mut now = Vec::new();
    loop {
        let end = Instant::now() + PERIOD;
        while let Some(event) = events.next_until(end) {
            match event {
                TerminalEvent::Ended => return Ok(()),
                TerminalEvent::Pressed(key) => view.press(key, screen_size().unwrap_or_default()),
                TerminalEvent::Resized => {}
            }
            if !now.is_empty() && !args.json {
                let blocks = job_blocks(&now, &before, view.order);
                let text = screen_text(&blocks, &mut view, events.has_keys());
                write_or_closed(text.as_bytes())?;
            }
        }
        if !now.is_empty() {
            before = now;
        }
        now = filtered_samples(&args);
        if now.is_empty() && args.job.is_some() {
            return Ok(());
        }
        let text = if args.json {
            json_line(&now)
        } else {
            let blocks = job_blocks(&now, &before, view.order);
            screen_text(&blocks, &mut view, events.has_keys())
        };
        if !write_or_closed(text.as_bytes())? {
            return Ok(());
        }
    }
}

/// Samples the jobs to show; a named job has to run.
fn selected_jobs(args: &TopArgs) -> Result<Vec<JobSample>, CommandFailure> {
    match &args.job {
        Some(name) => named_jobs(name),
        None => Ok(filtered_samples(args)),
    }
}

/// Samples the only running job of a name, or that of a process.
pub fn named_job(name: &str) -> Result<JobSample, CommandFailure> {
    let mut jobs = named_jobs(name)?;
    if jobs.len() > 1 {
        let numbers: Vec<String> = jobs.iter().map(|job| job.job.to_string()).collect();
        let numbers = numbers.join(", ");
        let what = format!("there are several jobs {name}; name one by its process: {numbers}");
        return Err(CommandFailure::Program(what));
    }
    Ok(jobs.swap_remove(0))
}

/// Samples the running jobs of a name, or the one of a process; there has to be one.
fn named_jobs(name: &str) -> Result<Vec<JobSample>, CommandFailure> {
    let found = samples_of_name(name);
    if !found.is_empty() {
        return Ok(found);
    }
    let all = engine::sample_jobs();
    let all: Vec<_> = all
        .iter()
        .map(|job| format!("{} ({})", job.job, job.name))
        .collect();
    Err(CommandFailure::Program(match all.is_empty() {
        true => format!("there is no job {name}; none runs"),
        false => format!("there is no job {name}; there are {}", all.join(", ")),
    }))
}

fn filtered_samples(args: &TopArgs) -> Vec<JobSample> {
    match &args.job {
        Some(name) => samples_of_name(name),
        None => engine::sample_jobs(),
    }
}

fn samples_of_name(name: &str) -> Vec<JobSample> {
    let mut jobs = engine::sample_jobs();
    jobs.retain(|job| {
        let last = job.name.rsplit("::").next();
        job.job.to_string() == name || job.name == name || last == Some(name)
    });
    jobs
}

/// Samples the jobs again, when all of them have written their counters since `before`.
fn next_samples(before: &[JobSample], args: &TopArgs) -> Vec<JobSample> {
    let begun = Instant::now();
    loop {
        let now = filtered_samples(args);
        let is_new =
            |pe: &PeSample| earlier_sample(before, pe).is_none_or(|b| b.sampled_ns < pe.sampled_ns);
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

/// The size of the terminal that is drawn on; `None` if standard output is none that can be.
fn screen_size() -> Option<TerminalSize> {
    let screen = std::io::stdout();
    terminal::size(&screen).filter(|_| terminal::supports_escapes(&screen))
}

/// The text of one drawing. On a terminal it overwrites the last drawing and is no larger than the
/// terminal; elsewhere it has all lines.
fn screen_text(blocks: &[TextBlock], view: &mut TopView, has_keys: bool) -> String {
    let Some(size) = screen_size() else {
        return layout::render_all(blocks) + "\n";
    };
    let text = view.text(blocks, size, has_keys);
    format!("\x1b[H{}\x1b[J", text.replace('\n', "\x1b[K\n"))
}
