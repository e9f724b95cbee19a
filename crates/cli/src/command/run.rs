//! `thalweg run`: compile a program and run it until its sources end.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{BackendKind, CompileRequest, LaunchOptions, TraceLevel};

use super::{
    CommandFailure, SignalListener, colour, cores, mixed_args, plan, toolkit_path, write_stderr,
};
use crate::args::{LevelName, RunArgs};
use crate::progress_line::{self, ProgressLine};

/// Runs the program; returns when it has ended.
pub fn run(args: RunArgs) -> Result<(), CommandFailure> {
    let request = CompileRequest {
        file: args.program.file.clone(),
        main: args.program.main,
        toolkit_path: toolkit_path(&args.program.toolkit_path),
        compile_values: args.program.define,
        mixed_args: mixed_args(args.program.mm_args),
        submission_values: Some(args.values),
    };
    let compilation = engine::compile(&request)?;
    write_stderr(&compilation.findings.to_text(colour()));
    let Some(program) = &compilation.program else {
        return Err(CommandFailure::Reported);
    };
    let launch = LaunchOptions {
        application_dir: compilation.application_dir.clone(),
        data_dir: data_dir(args.data_dir, &compilation.application_dir, &request.file)?,
        trace: level(args.trace),
        log: level(args.log),
        backend: if args.interpret {
            BackendKind::Interpreted
        } else {
            BackendKind::Compiled
        },
        perf_map: args.perf_map,
        kill_after: args.kill_after.map(Duration::from_secs_f64),
        before_print: progress_line::before_print,
        unbuffered: std::io::stdout().is_terminal(),
        tag_output: args.tag_output,
        latency: args.latency,
        idle: args.idle,
        counters: true,
        hosts: args.plan.host.clone(),
        ..LaunchOptions::default()
    };
    let plan = plan(program, &args.plan)?;
    cores::check(&plan, &args.plan.pin)?;
    let signals = SignalListener::listen(launch.processes.clone())?;
    let mut job = engine::run(&compilation, program, &plan, &launch)?;
    signals.set_stop_handle(job.stop_handle());
    let mut progress = ProgressLine::new();
    while !job.wait(progress.period()) {
        progress.draw(job.source_counts());
    }
    signals.finish();
    progress_line::erase();
    match job.join() {
        Ok(sentences) => {
            for sentence in sentences {
                write_stderr(&format!("thalweg: warning: {sentence}\n"));
            }
            Ok(())
        }
        Err(engine::Error::OutputClosed) => Err(CommandFailure::Reported),
        Err(error) => Err(error.into()),
    }
}

/// What was asked for, else the folder `data` of the application directory or beside the program,
/// else the current folder.
fn data_dir(
    given: Option<PathBuf>,
    application_dir: &Path,
    file: &Path,
) -> Result<PathBuf, CommandFailure> {
    if let Some(folder) = given {
        return if engine::is_folder(&folder)? {
            Ok(folder)
        } else {
            Err(CommandFailure::Usage(format!(
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

fn level(level: LevelName) -> TraceLevel {
    match level {
        LevelName::Off => TraceLevel::Off,
        LevelName::Error => TraceLevel::Error,
        LevelName::Warn => TraceLevel::Warn,
        LevelName::Info => TraceLevel::Info,
        LevelName::Debug => TraceLevel::Debug,
        LevelName::Trace => TraceLevel::Trace,
    }
}
