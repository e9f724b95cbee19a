//! The command line as data.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use engine::IdleStrategy;

use crate::command::{BenchArgs, PerfArgs};

/// Runs stream programs written in SPL.
#[derive(Debug, Parser)]
#[command(name = "thalweg", version, about, max_term_width = 100)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub command: CliCommand,
}

/// The sub-commands.
#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// Compile a program and run it until its sources end
    Run(RunArgs),
    /// Say what is wrong with programs, without running them
    Check(CheckArgs),
    /// Write programs in the canonical layout, in place; with --check or --stdout they stay as they
    /// are
    Fmt(FmtArgs),
    /// Describe an operator or a function; without a name, list all
    Doc(DocArgs),
    /// Print what a stage of the compiler makes of a program
    Dump(DumpArgs),
    /// Show what jobs are doing
    Top(TopArgs),
    /// Measure how fast streams are on this machine, beside raw controls
    Bench(BenchArgs),
    /// Start a project that runs
    New(NewArgs),
    /// Measure rates and latencies of one-to-many shared memory, as smx_perf does
    Perf(PerfArgs),
}

/// Which program, and what it is compiled with.
#[derive(Debug, ClapArgs)]
pub struct ProgramArgs {
    /// The file that holds the main composite
    pub file: PathBuf,

    /// The main composite, NAMESPACE::NAME or NAME; needed if the file has several
    #[arg(short = 'M', long, value_name = "NS::COMPOSITE")]
    pub main: Option<String>,

    /// Toolkit directories, separated by colons
    #[arg(short = 't', long, value_name = "DIRS", env = "THALWEG_TOOLKIT_PATH")]
    pub toolkit_path: Vec<String>,

    /// A compile-time value
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = pair)]
    pub define: Vec<(String, String)>,

    /// Arguments of the Perl code in `.splmm` files, its @ARGV: words, those with blanks in quotes
    #[arg(long, value_name = "WORDS", value_parser = words, allow_hyphen_values = true)]
    pub mm_args: Vec<ShellWords>,
}

/// Which processes, threads and media a program gets. `None` and empty: the option is not given.
#[derive(Debug, ClapArgs)]
pub struct PlanArgs {
    /// Which operators share a process: all of them, none, those that config `placement` puts
    /// together, or those of a file with a plan (`dump --stage plan` prints one) [default: all]
    #[arg(long, value_name = "all|none|spl|FILE", value_parser = fuse)]
    pub fuse: Option<FuseChoice>,

    /// How streams cross between processes; `auto` takes the fastest that gets there [default:
    /// auto]
    #[arg(short = 'F', long, value_name = "auto|MEDIUM")]
    pub transport: Option<String>,

    /// How their tuples are written: as they lie in memory, or field by field [default: facade]
    #[arg(long, value_name = "CODEC")]
    pub codec: Option<CodecName>,

    /// Which input ports have threads of their own, of operators that say nothing of it [default:
    /// manual]
    #[arg(long, value_name = "MODEL")]
    pub threading: Option<ThreadingModel>,

    /// A host that the plan names: the address of its processes, and what a command begins with to
    /// run there
    #[arg(long, value_name = "NAME=ADDRESS[,COMMAND...]", value_parser = host)]
    pub host: Vec<engine::HostSpec>,

    /// The cores to run on, as in `0,2`; dealt out to the processes if there are several
    #[arg(long, value_name = "CPUS", value_delimiter = ',', value_parser = core)]
    pub pin: Vec<u32>,
}

/// `thalweg run`
#[derive(Debug, ClapArgs)]
pub struct RunArgs {
    /// The program.
    #[command(flatten)]
    pub program: ProgramArgs,

    /// Its plan.
    #[command(flatten)]
    pub plan: PlanArgs,

    /// Where relative file names lead [default: the `data` folder of the application directory,
    /// else the one beside the program, else the current folder]. The application directory is the
    /// folder of the program, or above the folders of its namespace
    #[arg(short = 'd', long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,

    /// What is traced to standard error
    #[arg(long, value_name = "LEVEL", default_value = "error")]
    pub trace: LevelName,

    /// What is logged to standard error
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    pub log: LevelName,

    /// Begin to shut down after so many seconds: sources end, and what is under way is carried
    /// through, however long that takes
    #[arg(short = 'k', long, value_name = "SECONDS", value_parser = seconds)]
    #[arg(allow_negative_numbers = true)]
    pub kill_after: Option<f64>,

    /// Run on the reference interpreter instead of compiled code
    #[arg(long)]
    pub interpret: bool,

    /// Put the PE's name before each line of output, if there are several
    #[arg(long)]
    pub tag_output: bool,

    /// Measure how long tuples are under way between processes; `thalweg top` shows it
    #[arg(long)]
    pub latency: bool,

    /// What threads do that wait for tuples: adaptive (spin if that pays, then sleep), spin, yield
    /// or park. Spinning takes a core for each such thread and gives the shortest latency
    #[arg(long, value_name = "STRATEGY", default_value_t, value_parser = str::parse::<IdleStrategy>)]
    pub idle: IdleStrategy,

    /// Write a map of the compiled code to /tmp/perf-PID.map for the perf tool
    #[arg(long)]
    pub perf_map: bool,

    /// Submission-time values
    #[arg(value_name = "NAME=VALUE", value_parser = pair)]
    pub values: Vec<(String, String)>,
}

/// `thalweg check`
#[derive(Debug, ClapArgs)]
pub struct CheckArgs {
    /// The programs
    #[arg(required = true)]
    pub files: Vec<PathBuf>,

    /// The main composite, NAMESPACE::NAME or NAME
    #[arg(short = 'M', long, value_name = "NS::COMPOSITE")]
    pub main: Option<String>,

    /// Toolkit directories, separated by colons
    #[arg(short = 't', long, value_name = "DIRS", env = "THALWEG_TOOLKIT_PATH")]
    pub toolkit_path: Vec<String>,

    /// A compile-time value
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = pair)]
    pub define: Vec<(String, String)>,

    /// Arguments of the Perl code in `.splmm` files, its @ARGV: words, those with blanks in quotes
    #[arg(long, value_name = "WORDS", value_parser = words, allow_hyphen_values = true)]
    pub mm_args: Vec<ShellWords>,

    /// One JSON array of findings instead of text
    #[arg(long)]
    pub json: bool,
}

/// `thalweg fmt`
#[derive(Debug, ClapArgs)]
pub struct FmtArgs {
    /// The files; `-` or none for standard input
    pub files: Vec<PathBuf>,

    /// Change nothing; fail if a file is not in the canonical layout
    #[arg(long)]
    pub check: bool,

    /// Print the result instead of writing it back
    #[arg(long, conflicts_with = "check")]
    pub stdout: bool,
}

/// `thalweg doc`
#[derive(Debug, ClapArgs)]
pub struct DocArgs {
    /// Operator or function: `Aggregate`, `spl.math::sqrt`
    pub name: Option<String>,
}

/// `thalweg dump`
#[derive(Debug, ClapArgs)]
pub struct DumpArgs {
    /// The program.
    #[command(flatten)]
    pub program: ProgramArgs,

    /// Its plan.
    #[command(flatten)]
    pub plan: PlanArgs,

    /// Which stage
    #[arg(short, long, value_name = "STAGE")]
    pub stage: DumpStage,

    /// How the graph is drawn
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: GraphFormat,

    /// Submission-time values
    #[arg(value_name = "NAME=VALUE", value_parser = pair)]
    pub values: Vec<(String, String)>,
}

/// `thalweg top`
#[derive(Debug, ClapArgs)]
pub struct TopArgs {
    /// One job: the number of its process or the name of its main composite
    pub job: Option<String>,

    /// One JSON object a line instead of tables
    #[arg(long)]
    pub json: bool,

    /// Show it once
    #[arg(long)]
    pub once: bool,
}

/// `thalweg new`
#[derive(Debug, ClapArgs)]
pub struct NewArgs {
    /// The folder to make, or an empty one; its name becomes that of the program
    pub folder: PathBuf,
}

/// Stages that can be printed, in the order of the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DumpStage {
    /// The text of the file, as mixed mode generates it
    Source,
    Tokens,
    Tree,
    Typed,
    Graph,
    Plan,
    Clif,
    Asm,
}

/// Forms of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    Text,
    Dot,
    Svg,
}

/// Levels of trace and log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LevelName {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

/// Which operators share a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FuseChoice {
    All,
    None,
    Spl,
    File(PathBuf),
}

/// Words of one option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellWords(pub Vec<String>);

/// How tuples are written between processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CodecName {
    Facade,
    Normal,
}

/// Models of threading: no threads but for ports that config names, one for every port, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ThreadingModel {
    Manual,
    Dedicated,
    Automatic,
    Dynamic,
}

impl PlanArgs {
    /// The first option given of those that a picture of the graph shows: which operators share a
    /// process, how streams get from one to another.
    pub fn first_graph_option(&self) -> Option<&'static str> {
        first_given(&[
            ("--fuse", self.fuse.is_some()),
            ("--transport", self.transport.is_some()),
            ("--host", !self.host.is_empty()),
        ])
    }

    /// The first option given of those that only the text of a plan shows.
    pub fn first_text_option(&self) -> Option<&'static str> {
        first_given(&[
            ("--codec", self.codec.is_some()),
            ("--threading", self.threading.is_some()),
            ("--pin", !self.pin.is_empty()),
        ])
    }
}

fn first_given(options: &[(&'static str, bool)]) -> Option<&'static str> {
    let given = options.iter().find(|(_, is_given)| *is_given);
    given.map(|(name, _)| *name)
}

fn fuse(text: &str) -> Result<FuseChoice, String> {
    Ok(match text {
        "all" => FuseChoice::All,
        "none" => FuseChoice::None,
        "spl" => FuseChoice::Spl,
        file => FuseChoice::File(PathBuf::from(file)),
    })
}

fn host(text: &str) -> Result<engine::HostSpec, String> {
    let wrong = || "must have the form NAME=ADDRESS or NAME=ADDRESS,COMMAND,...".to_owned();
    let (name, rest) = text
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(wrong)?;
    let mut words = rest.split(',');
    let address = words.next().filter(|word| !word.is_empty());
    let address = address.ok_or_else(wrong)?;
    let address: IpAddr = address.parse().map_err(|_| {
        format!("`{address}` is no IP address, as 192.0.2.7 and 2001:db8::7 are; names are not looked up")
    })?;
    if address.is_unspecified() || address.is_multicast() {
        return Err(format!(
            "{address} is no address of one host: others reach it at the one that is said here"
        ));
    }
    if words.clone().any(str::is_empty) {
        return Err(wrong());
    }
    Ok(engine::HostSpec {
        name: name.to_owned(),
        address,
        prefix: words.map(str::to_owned).collect(),
    })
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("must have the form NAME=VALUE".to_owned()),
    }
}

/// The words of a text, those with blanks in quotes; `\\` takes a character for itself.
fn words(text: &str) -> Result<ShellWords, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', None | Some('"')) => {
                let taken = chars.next().ok_or("ends with `\\`")?;
                word.get_or_insert_default().push(taken);
            }
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    match quote {
        Some(open) => Err(format!("has a `{open}` that is not closed")),
        None => Ok(ShellWords(words)),
    }
}

fn core(text: &str) -> Result<u32, String> {
    let wrong = |_| "must be numbers of cores with commas between, as in `0,2`".to_owned();
    text.parse().map_err(wrong)
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds >= 0.0 && seconds.is_finite() => Ok(seconds),
        _ => Err("must be a number of seconds, 0 or more".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_told_apart_as_a_shell_does() {
        let of = |text: &str| words(text).map(|words| words.0);
        let list = |words: &[&str]| Ok(words.iter().map(|w| (*w).to_owned()).collect());
        assert_eq!(of(" 4  depth=2 "), list(&["4", "depth=2"]));
        assert_eq!(
            of(r#"'a b' "c 'd'" "" e\ f"#),
            list(&["a b", "c 'd'", "", "e f"])
        );
        assert_eq!(of(r#"a"b"'c'"#), list(&["abc"]));
        assert_eq!(of(""), list(&[]));
        assert!(of("'a").is_err());
        assert!(of("a\\").is_err());
    }
}
