//! One run: a command as a whole process on its cores, and what it took.
//!
//! ```text
//!   run_process ──starts──> thalweg-peers nexmark-process ──starts──> the command of an engine
//!                           cores, clock, rusage of its children      and its processes
//! ```
//! The process in the middle has no other children, so their usage is that of the engine.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use rustix::thread::{CpuSet, sched_setaffinity};

use super::PROCESS;
use super::query_task::QueryTask;
use super::result_lines::files_of;
use crate::{BoxError, cores};

/// Time and memory of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProcessUsage {
    /// Seconds from the start of the process to its end.
    pub wall_s: f64,
    /// Seconds of the processor, of user and system, in all threads and processes.
    pub processor_s: f64,
    /// Most bytes of physical memory of the largest process.
    pub memory_bytes: u64,
    /// Seconds from the start of the process until a result was in its file; `None` if there was
    /// none.
    pub first_result_s: Option<f64>,
}

/// Time after which a run counts as hanging and is ended.
const RUN_TIMEOUT: Duration = Duration::from_secs(600);

/// Time between two looks at the files of results, until there is a result.
const RESULT_INTERVAL: Duration = Duration::from_millis(1);

/// Time between two looks at a process once it has given a result.
const END_INTERVAL: Duration = Duration::from_millis(5);

/// Runs the command of an engine on the cores of its task.
///
/// # Errors
/// The command cannot be started, or fails; the message has the end of its output.
pub fn run_process(command: &Command, task: &QueryTask) -> Result<ProcessUsage, BoxError> {
    let mut accounted = Command::new(std::env::current_exe()?);
    accounted.arg(PROCESS).arg(task.cores.to_string());
    accounted.arg(&task.results).arg(command.get_program());
    accounted.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => accounted.env(name, value),
            None => accounted.env_remove(name),
        };
    }
    let output = accounted.stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    match said.lines().find_map(parse_usage) {
        Some(usage) if output.status.success() => Ok(usage),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr);
            let last: Vec<&str> = said.trim().lines().rev().take(3).collect();
            let last: Vec<&str> = last.into_iter().rev().collect();
            Err(format!("it failed ({}): {}", output.status, last.join("; ")).into())
        }
    }
}

/// The process in the middle: CORES RESULTS COMMAND... It prints the usage of the command.
///
/// # Errors
/// The command cannot be started, or fails.
pub fn account_process(args: &[String]) -> Result<(), BoxError> {
    let [count, results, program, rest @ ..] = args else {
        return Err("a run has cores, results and a command".into());
    };
    pin_to_cores(count.parse()?)?;
    let mut command = Command::new(program);
    // Output of an engine is no result: its results are in files.
    command.args(rest).stdout(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn()?;
    let (status, first_result) = wait_for_end(&mut child, start, &PathBuf::from(results))?;
    let wall = start.elapsed();
    if !status.success() {
        return Err(format!("{program} ended with {status}").into());
    }
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let processor_us: i64 = [usage.user_time(), usage.system_time()]
        .map(|time| time.tv_sec() * 1_000_000 + time.tv_usec())
        .iter()
        .sum();
    let first_ns = first_result.map_or("-".to_owned(), |first| first.as_nanos().to_string());
    let (wall_ns, kilobytes) = (wall.as_nanos(), usage.max_rss());
    println!("{PROCESS} {wall_ns} {processor_us} {kilobytes} {first_ns}");
    Ok(())
}

/// Lets this process and its children run on the first cores that it may use.
fn pin_to_cores(count: usize) -> Result<(), BoxError> {
    let mut set = CpuSet::new();
    let first = cores::usable_cores().into_iter().take(count);
    first.for_each(|core| set.set(core as usize));
    Ok(sched_setaffinity(None, &set)?)
}

/// Waits until a process ends; its status, and when its first result was in a file.
fn wait_for_end(
    child: &mut Child,
    start: Instant,
    results: &Path,
) -> Result<(ExitStatus, Option<Duration>), BoxError> {
    let mut first_result = None;
    loop {
        let status = child.try_wait()?;
        if first_result.is_none() && has_result(results) {
            first_result = Some(start.elapsed());
        }
        if let Some(status) = status {
            return Ok((status, first_result));
        }
        if start.elapsed() > RUN_TIMEOUT {
            child.kill()?;
            child.wait()?;
            return Err(format!("no end after {} s", RUN_TIMEOUT.as_secs()).into());
        }
        thread::sleep(match first_result {
            None => RESULT_INTERVAL,
            Some(_) => END_INTERVAL,
        });
    }
}

fn has_result(results: &Path) -> bool {
    let files = files_of(results).unwrap_or_default();
    let mut lengths = files.iter().filter_map(|file| file.metadata().ok());
    lengths.any(|metadata| metadata.len() > 0)
}

/// Reads the line that [`account_process`] prints; `None` if it is another line.
fn parse_usage(line: &str) -> Option<ProcessUsage> {
    let words: Vec<&str> = line.strip_prefix(PROCESS)?.split_whitespace().collect();
    let [wall_ns, processor_us, kilobytes, first_ns] = words[..] else {
        return None;
    };
    let seconds = |nanos: &str| Some(nanos.parse::<f64>().ok()? / 1e9);
    Some(ProcessUsage {
        wall_s: seconds(wall_ns)?,
        processor_s: processor_us.parse::<f64>().ok()? / 1e6,
        memory_bytes: kilobytes.parse::<u64>().ok()? * 1024,
        first_result_s: seconds(first_ns),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_read_as_it_is_printed() {
        let usage = parse_usage("nexmark-process 2000000000 1500000 2 500000000").unwrap();
        assert_eq!((usage.wall_s, usage.processor_s), (2.0, 1.5));
        assert_eq!(usage.memory_bytes, 2048);
        assert_eq!(usage.first_result_s, Some(0.5));
        let without = parse_usage("nexmark-process 1 1 1 -").unwrap();
        assert_eq!(without.first_result_s, None);
        assert!(parse_usage("nexmark-process 1 1").is_none());
        assert!(parse_usage("something else").is_none());
    }
}
