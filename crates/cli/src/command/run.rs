//! `thalweg run`: compiles a program and runs it until its sources end.

use std::io::IsTerminal;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};
use engine::{
    BackendKind, IdleStrategy, LaunchOptions, MEDIUM_OF_RANKS, ProfileCollector, ProfileRequest,
    RankEnvironment, RankOptions, TraceLevel,
};

use crate::failure::CommandFailure;
use crate::output::{warn, write_findings};
use crate::output_file::OutputFile;
use crate::program::{PlanArgs, ProgramArgs, check_cores, name_value, plan};
use crate::progress_line::{self, ProgressLine};
use crate::signals::{SignalListener, Signals};

/// Arguments of `thalweg run`.
#[derive(Debug, ClapArgs)]
pub struct RunArgs {
    /// Arguments of the program.
    #[command(flatten)]
    pub program: ProgramArgs,

    /// Options of the plan.
    #[command(flatten)]
    pub plan: PlanArgs,

    /// The directory of relative file names [default: the `data` folder of the application
    /// directory, else the one beside the program, else the current folder]. The application
    /// directory is the folder of the program, or the one above the folders of its namespace
    #[arg(short = 'd', long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,

    /// The most detailed level of trace messages that go to standard error
    #[arg(long, value_name = "LEVEL", default_value = "error")]
    pub trace: LevelName,

    /// The most detailed level of log messages that go to standard error
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    pub log: LevelName,

    /// Begin to shut down after this many seconds: sources end, and tuples under way are still
    /// processed, however long that takes
    #[arg(short = 'k', long, value_name = "SECONDS", value_parser = seconds)]
    #[arg(allow_negative_numbers = true)]
    pub kill_after: Option<f64>,

    /// Run on the reference interpreter instead of compiled code
    #[arg(long)]
    pub interpret: bool,

    /// Put the PE's number before each line of output, if there are several PEs
    #[arg(long)]
    pub tag_output: bool,

    /// Measure the latency of tuples between processes; `thalweg top` shows it
    #[arg(long)]
    pub latency: bool,

    /// Let `thalweg tap` see streams within compiled code, too; costs some instructions a tuple
    #[arg(long)]
    pub taps: bool,

    /// How threads wait for tuples: adaptive (spin while that pays, then sleep), spin, yield or
    /// park. Spinning takes a core for each waiting thread and gives the shortest latency
    #[arg(long, value_name = "STRATEGY", default_value_t, value_parser = str::parse::<IdleStrategy>)]
    pub idle: IdleStrategy,

    /// Address at which ranks on other hosts reach this command, if it is rank 0 of streams by mpi
    /// [default: all addresses of this host]
    #[arg(long, value_name = "ADDRESS")]
    pub control_address: Option<IpAddr>,

    /// Write what each operator, stream, queue and thread has been seen to do, for plans
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,

    /// How often threads are sampled for --profile, as a share of 1000 times in a second of a
    /// thread's processor time: above 0, at most 1; the kernel takes at most one sample at each of
    /// its ticks
    #[arg(long, value_name = "RATE", default_value_t = 0.25, value_parser = sampling_rate)]
    #[arg(requires = "profile")]
    pub profile_sample: f64,

    /// Intervals of a tenth of a second whose counts are kept of each stream, for --profile: the
    /// peaks of streams are taken from these
    #[arg(long, value_name = "N", default_value_t = ProfileRequest::default().reservoir)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..), requires = "profile")]
    pub profile_reservoir: u32,

    /// Write a map of the compiled code to /tmp/perf-PID.map for the perf tool
    #[arg(long)]
    pub perf_map: bool,

    /// Submission-time values of the program
    #[arg(value_name = "NAME=VALUE", value_parser = name_value)]
    pub values: Vec<(String, String)>,
}

fn sampling_rate(text: &str) -> Result<f64, String> {
    let rate = text
        .parse()
        .ok()
        .filter(|rate| (0.0..=1.0).contains(rate) && *rate > 0.0);
    rate.ok_or_else(|| "right would be a number above 0 and at most 1".to_owned())
}

/// The profile of a job, and the file that it goes to.
struct ProfileOutput {
    file: OutputFile,
    collector: ProfileCollector,
}

impl ProfileOutput {
    /// The profile that the arguments ask for, if they do.
    fn open(args: &RunArgs) -> Result<Option<ProfileOutput>, CommandFailure> {
        let Some(file) = &args.profile else {
            return Ok(None);
        };
        let request = ProfileRequest {
            samples_per_second: (args.profile_sample * 1_000.0).ceil() as u32,
            reservoir: args.profile_reservoir,
        };
        Ok(Some(ProfileOutput {
            file: OutputFile::create(file)?,
            collector: ProfileCollector::new(request)?,
        }))
    }

    /// Writes the profile of the job, which has ended.
    fn write(self) -> Result<(), CommandFailure> {
        let missing = || CommandFailure::Program("no process has sent its profile".to_owned());
        let profile = self.collector.profile().ok_or_else(missing)?;
        self.file.write(&profile.to_text())
    }
}

/// Time that rank 0 has to report an error before another rank reports the same.
const RANK_ZERO_TIME: Duration = Duration::from_secs(5);

/// Levels of trace and log messages: the values of `--trace` and `--log`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LevelName {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// Warns once that each of several ranks runs the whole job.
fn warn_of_copies(environment: &RankEnvironment) {
    let RankEnvironment {
        rank,
        size,
        started_by,
        ..
    } = environment;
    if *rank == 0 && *size > 1 {
        warn(&format!(
            "{started_by} has started {size} processes, and each runs the whole job; with \
             `-F {MEDIUM_OF_RANKS}` they run one job together"
        ));
    }
}

/// Compiles and runs the program; returns when it has ended.
pub fn run(args: RunArgs) -> Result<(), CommandFailure> {
    let profile = ProfileOutput::open(&args)?;
    let transport = args.plan.transport.clone().unwrap_or_default();
    let request = args.program.into_request(args.values);
    let ranks = RankOptions::of_medium(&transport, &request.media_path, args.control_address);
    if let Some(environment) = RankEnvironment::of_process()
        && environment.rank > 0
        && transport.eq_ignore_ascii_case(MEDIUM_OF_RANKS)
    {
        return run_as_rank(ranks.as_ref());
    }
    if !transport.eq_ignore_ascii_case(MEDIUM_OF_RANKS)
        && let Some(environment) = RankEnvironment::of_process()
    {
        warn_of_copies(&environment);
    }
    let compilation = engine::compile(&request)?;
    write_findings(&compilation.findings);
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
        taps: args.taps,
        idle: args.idle,
        counters: true,
        profile: profile.as_ref().map(|profile| profile.collector.clone()),
        hosts: args.plan.host.clone(),
        ranks,
        ..LaunchOptions::default()
    };
    let plan = plan(program, &args.plan)?;
    check_cores(&plan, &args.plan.pin)?;
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
                warn(&sentence);
            }
            profile.map_or(Ok(()), ProfileOutput::write)
        }
        Err(engine::Error::OutputClosed) => Err(CommandFailure::Reported),
        Err(error) => Err(error.into()),
    }
}

/// Runs this process as a PE of the job that rank 0 launches.
///
/// # Errors
/// The launcher of rank 0 cannot be reached. What rank 0 finds as well is its to say.
fn run_as_rank(ranks: Option<&RankOptions>) -> Result<(), CommandFailure> {
    let Some(ranks) = ranks else {
        // Rank 0 says so too, and its end ends this rank, unless the library is there.
        std::thread::sleep(RANK_ZERO_TIME);
        let words = format!("this rank does not find the library of `{MEDIUM_OF_RANKS}`");
        return Err(CommandFailure::Program(engine::with_media_search(&words)));
    };
    let signals = Signals::terminating();
    let asked =
        signals.map(|mut signals| std::iter::from_fn(move || signals.next().ok().map(drop)));
    Ok(engine::serve_rank(ranks, asked)?)
}

/// The data directory: the one given, else the folder `data` of the application directory or beside
/// the program, else the current folder.
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

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds >= 0.0 && seconds.is_finite() => Ok(seconds),
        _ => Err("must be a number of seconds, 0 or more".to_owned()),
    }
}
