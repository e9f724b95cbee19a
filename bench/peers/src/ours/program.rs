//! An SPL program with one source and one sink, on a path, as `thalweg run` would run it.
//!
//! A tuple of so many bytes has as many int64, each the tuple's number; the sink adds up every one. It
//! prints what a turn prints. The plan puts the source on the first core and the sink on the second,
//! and says nothing else. Throughput is that of `thalweg bench`.
//!
//! For latency the source waits for the time to send, 10 µs after the one before, stamps the tuple and
//! submits it; the sink takes the time that it was under way by the clock that all processes share. No
//! other tuple is under way then: a ping-pong whose answer nobody waits for. Its threads spin, as those of
//! the peers do.

use std::fs;

use engine::{Launch, Request, Strategy};
use suite::{Path, Schema};

use crate::{Failure, Question, Task, scratch};

const LATENCY: &str = include_str!("../../programs/latency.spl");

/// Does a task on a path.
pub fn run(path: Path, task: &Task) -> Result<String, Failure> {
    let file = scratch::folder(&task.scratch).join("Main.spl");
    fs::write(&file, text(task))?;
    let request = Request {
        file,
        submission_values: Some(vec![("tuples".to_owned(), task.messages.to_string())]),
        ..Request::default()
    };
    let compilation = engine::compile(&request)?;
    let Some(program) = &compilation.program else {
        return Err(compilation.findings.text(false).into());
    };
    let plan = engine::read_plan(&suite::plan(path, None), program)?;
    let job = engine::run(&compilation, program, &plan, &launch(task.question))?;
    job.join()?;
    // The sink has printed it.
    Ok(String::new())
}

/// Who asks for latency spins, as the peers do then: `thalweg run --idle spin`.
fn launch(question: Question) -> Launch {
    let idle = match question {
        Question::Throughput => Strategy::default(),
        Question::Latency => Strategy::Spin,
    };
    Launch {
        idle,
        ..Launch::default()
    }
}

/// The program's text.
fn text(task: &Task) -> String {
    let size = task.bytes as u64;
    match task.question {
        Question::Throughput => suite::program(size),
        Question::Latency => {
            // The first word is the time.
            let rest = Schema::of(size - 8);
            LATENCY
                .replace("%schema%", &rest.types())
                .replace("%values%", &rest.values("number"))
                .replace("%sum%", &rest.sum("Data", "sum"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_compile_and_fit_their_plans() {
        let scratch = scratch::Scratch::new().unwrap();
        for (question, bytes) in [
            (Question::Throughput, 8),
            (Question::Throughput, 1024),
            (Question::Latency, 64),
        ] {
            let task = Task {
                question,
                bytes,
                messages: 100,
                scratch: scratch.name().to_owned(),
            };
            let file = scratch::folder(scratch.name()).join("Main.spl");
            fs::write(&file, text(&task)).unwrap();
            let request = Request {
                file,
                submission_values: Some(vec![("tuples".to_owned(), "100".to_owned())]),
                ..Request::default()
            };
            let compilation = engine::compile(&request).unwrap();
            let said = compilation.findings.text(false);
            let program = compilation.program.unwrap_or_else(|| panic!("{said}"));
            for path in [Path::Threaded, Path::Shm, Path::Rum, Path::Tcp] {
                let plan = engine::read_plan(&suite::plan(path, None), &program).unwrap();
                assert_eq!(plan.pes.len(), if path.is_crossing() { 2 } else { 1 });
            }
        }
    }
}
