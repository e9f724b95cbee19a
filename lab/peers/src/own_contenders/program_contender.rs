//! An SPL program with one source and one sink, on a path, as `thalweg run` would run it.
//!
//! A tuple of a given size has as many int64 as fit, each the number of the tuple, and the sink
//! adds up every one and prints the output of a turn. The plan puts the source on the first core
//! and the sink on the second, and says nothing else. Throughput is measured as `thalweg bench`
//! does.
//!
//! For latency the source waits until 10 µs after the tuple before, stamps a tuple and submits it.
//! The sink compares the stamp with the clock, which all processes share. No other tuple is under
//! way then. The threads spin, as those of the peers do.

use std::fs;

use engine::{CompileRequest, IdleStrategy, LaunchOptions};
use suite::{PayloadSchema, StreamPath};

use crate::{BoxError, PeerQuestion, PeerTask, scratch_folder};

const LATENCY: &str = include_str!("../../programs/latency.spl");

/// Does a task with an SPL program on a path.
pub fn run(path: StreamPath, task: &PeerTask) -> Result<String, BoxError> {
    let file = scratch_folder::folder(&task.scratch).join("Main.spl");
    fs::write(&file, program_text(task))?;
    let request = CompileRequest {
        file,
        submission_values: Some(vec![("tuples".to_owned(), task.messages.to_string())]),
        ..CompileRequest::default()
    };
    let compilation = engine::compile(&request)?;
    let Some(program) = &compilation.program else {
        return Err(compilation.findings.to_text(false).into());
    };
    let plan = engine::parse_plan(&suite::throughput_plan(path, None), program)?;
    let job = engine::run(&compilation, program, &plan, &launch_options(task.question))?;
    job.join()?;
    // The sink has printed the output.
    Ok(String::new())
}

/// The idle strategy: threads spin for latency, as with `thalweg run --idle spin` and in the peers.
fn launch_options(question: PeerQuestion) -> LaunchOptions {
    let idle = match question {
        PeerQuestion::Throughput => IdleStrategy::default(),
        PeerQuestion::Latency => IdleStrategy::Spin,
    };
    LaunchOptions {
        idle,
        ..LaunchOptions::default()
    }
}

/// The text of the SPL program.
fn program_text(task: &PeerTask) -> String {
    let size = task.bytes as u64;
    match task.question {
        PeerQuestion::Throughput => suite::throughput_program(size),
        PeerQuestion::Latency => {
            // The first word holds the time.
            let rest = PayloadSchema::with_bytes(size - 8);
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
        let scratch = scratch_folder::ScratchFolder::new().unwrap();
        for (question, bytes) in [
            (PeerQuestion::Throughput, 8),
            (PeerQuestion::Throughput, 1024),
            (PeerQuestion::Latency, 64),
        ] {
            let task = PeerTask {
                question,
                bytes,
                messages: 100,
                scratch: scratch.name().to_owned(),
            };
            let file = scratch_folder::folder(scratch.name()).join("Main.spl");
            fs::write(&file, program_text(&task)).unwrap();
            let request = CompileRequest {
                file,
                submission_values: Some(vec![("tuples".to_owned(), "100".to_owned())]),
                ..CompileRequest::default()
            };
            let compilation = engine::compile(&request).unwrap();
            let said = compilation.findings.to_text(false);
            let program = compilation.program.unwrap_or_else(|| panic!("{said}"));
            for path in [
                StreamPath::Threaded,
                StreamPath::Shm,
                StreamPath::Rum,
                StreamPath::Tcp,
            ] {
                let plan =
                    engine::parse_plan(&suite::throughput_plan(path, None), &program).unwrap();
                assert_eq!(plan.pes.len(), if path.is_crossing() { 2 } else { 1 });
            }
        }
    }
}
