//! `thalweg run`: compile a program and run it until its sources end.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{Backend, Launch, Request, TraceLevel};

use super::{Failure, Stops, colour, cores, mixed_args, plan, tell, toolkit_path};
use crate::args::{Level, RunArgs};
use crate::progress::{self, Progress};

/// Runs the program; returns when it has ended.
pub fn run(args: RunArgs) -> Result<(), Failure> {
    let request = Request {
        file: args.program.file.clone(),
        main: args.program.main,
        toolkit_path: toolkit_path(&args.program.toolkit_path),
        compile_values: args.program.define,
        mixed_args: mixed_args(args.program.mm_args),
        submission_values: Some(args.values),
    };
    let compilation = engine::compile(&request)?;
    tell(&compilation.findings.text(colour()));
    let Some(program) = &compilation.program else {
        return Err(Failure::Reported);
    };
    let launch = Launch {
        application_dir: compilation.application_dir.clone(),
        data_dir: data_dir(args.data_dir, &compilation.application_dir, &request.file)?,
        trace: level(args.trace),
        log: level(args.log),
        backend: if args.interpret {
            Backend::Interpreted
        } else {
            Backend::Compiled
        },
        perf_map: args.perf_map,
        kill_after: args.kill_after.map(Duration::from_secs_f64),
        before_print: progress::before,
        unbuffered: std::io::stdout().is_terminal(),
        tag_output: args.tag_output,
        latency: args.latency,
        idle: args.idle,
        counters: true,
        hosts: args.plan.host.clone(),
        ..Launch::default()
    };
    let plan = plan(program, &args.plan)?;
    cores::check(&plan, &args.plan.pin)?;
    let stops = Stops::listen(launch.processes.clone())?;
    let mut job = engine::run(&compilation, program, &plan, &launch)?;
    stops.lead_to(job.stop_handle());
    let mut line = Progress::new();
    while !job.wait(line.period()) {
        line.draw(job.sources());
    }
    stops.are_over();
    progress::make_way();
    match job.join() {
        Ok(sentences) => {
            for sentence in sentences {
                tell(&format!("thalweg: warning: {sentence}\n"));
            }
            Ok(())
        }
        Err(engine::Error::Quiet) => Err(Failure::Reported),
        Err(error) => Err(error.into()),
    }
}

/// What was asked for, else the folder `data` of the application directory or beside the program, else
/// the current folder.
fn data_dir(
    given: Option<PathBuf>,
    application_dir: &Path,
    file: &Path,
) -> Result<PathBuf, Failure> {
    if let Some(folder) = given {
        return if engine::is_folder(&folder)? {
            Ok(folder)
        } else {
            Err(Failure::Usage(format!(
                "the data directory {} does not exist",
                folder.display()
            )))
        };
    }
    let beside = file.parent().unwrap_or(Path::new(""));
    for folder in [application_dir, beside] {
        let data = folder.join("data");
        if engine::is_folder(&data)? {
            return Ok(data);
        }
    }
    Ok(PathBuf::from("."))
}

fn level(level: Level) -> TraceLevel {
    match level {
        Level::Off => TraceLevel::Off,
        Level::Error => TraceLevel::Error,
        Level::Warn => TraceLevel::Warn,
        Level::Info => TraceLevel::Info,
        Level::Debug => TraceLevel::Debug,
        Level::Trace => TraceLevel::Trace,
    }
}
