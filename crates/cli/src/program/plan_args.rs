//! Options that decide which processes, threads and media a program gets.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

/// Options of the plan. `None` or empty: the option is not given.
#[derive(Debug, ClapArgs)]
pub struct PlanArgs {
    /// Which operators share a process: all of them, none, those that config `placement` puts
    /// together, those that the optimiser finds (cola), or those of a file with a plan (`dump
    /// --stage plan` prints one) [default: all]
    #[arg(long, value_name = "all|none|spl|cola|FILE", value_parser = fuse)]
    pub fuse: Option<FuseChoice>,

    /// The profile of earlier runs that `--fuse cola` goes by; without one it estimates. Drawings
    /// are coloured by it
    #[arg(long, value_name = "FILE")]
    pub use_profile: Option<PathBuf>,

    /// The number that `--fuse cola` makes best [default: throughput]
    #[arg(long, value_name = "GOAL")]
    pub goal: Option<GoalName>,

    /// A file with a plan that `--fuse cola` scores, too, and searches from
    #[arg(long, value_name = "FILE")]
    pub start_plan: Option<PathBuf>,

    /// How streams cross between processes, with settings as in a plan, behind blanks or commas:
    /// `rum`, `'rdma mode=channel'`; `auto` takes the fastest that gets there [default: auto]
    #[arg(short = 'F', long, value_name = "auto|MEDIUM", value_parser = transport)]
    pub transport: Option<String>,

    /// The file with measured costs, from which `auto` takes the least; `thalweg calibrate` writes
    /// one [default: `thalweg/calibration` in the user's cache folder, if it is there]
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,

    /// Settings of streams by `rdma`, unless a plan says otherwise: `provider` (tcp, verbs, shm),
    /// `mode` (write, channel, batch), `device`, `gid` and `class`
    /// [default: provider=tcp,mode=write]
    #[arg(long, value_name = "KEY=VALUE,...", value_parser = rdma)]
    pub rdma: Option<String>,

    /// How tuples are written between processes: as they lie in memory (facade), or field by field
    /// (normal) [default: facade]
    #[arg(long, value_name = "CODEC")]
    pub codec: Option<CodecName>,

    /// Which input ports get threads of their own, where the program does not say [default: manual]
    #[arg(long, value_name = "MODEL")]
    pub threading: Option<ThreadingModel>,

    /// A host that the plan names, and that `--fuse cola` may put processes on: the address at
    /// which other hosts reach it, and the words that start a command there
    #[arg(long, value_name = "NAME=ADDRESS[,COMMAND...]", value_parser = host)]
    pub host: Vec<engine::HostSpec>,

    /// Tags of a host, which pools of config `hostPool` ask for, for `--fuse cola`
    #[arg(long, value_name = "NAME=TAG[,TAG...]", value_parser = host_tags)]
    pub host_tags: Vec<HostTags>,

    /// Number of cores of a host, for `--fuse cola`; without it as many as the command may use
    #[arg(long, value_name = "NAME=CORES", value_parser = host_cores)]
    pub host_cores: Vec<(String, u32)>,

    /// The cores to run on, as in `0,2`; distributed over the processes if there are several
    #[arg(long, value_name = "CPUS", value_delimiter = ',', value_parser = core)]
    pub pin: Vec<u32>,
}

/// Tags of a host: a value of `--host-tags`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostTags {
    /// Name of the host.
    pub host: String,
    /// Tags of the host, in the order given.
    pub tags: Vec<String>,
}

/// Which operators share a process: the value of `--fuse`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FuseChoice {
    All,
    None,
    Spl,
    Cola,
    File(PathBuf),
}

/// The number that the optimiser makes best: the value of `--goal`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GoalName {
    Throughput,
    Latency,
    Cores,
}

/// How tuples are written between processes: the value of `--codec`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CodecName {
    Facade,
    Normal,
}

/// Which input ports get threads of their own: the value of `--threading`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ThreadingModel {
    Manual,
    Dedicated,
    Automatic,
    Dynamic,
}

impl PlanArgs {
    /// The first option given that changes a drawing of the graph: fusion, transport,
    /// hosts.
    pub fn first_graph_option(&self) -> Option<&'static str> {
        first_given(&[
            ("--fuse", self.fuse.is_some()),
            ("--use-profile", self.use_profile.is_some()),
            ("--goal", self.goal.is_some()),
            ("--start-plan", self.start_plan.is_some()),
            ("--transport", self.transport.is_some()),
            ("--host", !self.host.is_empty()),
            ("--host-tags", !self.host_tags.is_empty()),
            ("--host-cores", !self.host_cores.is_empty()),
        ])
    }

    /// The first option given that has an effect with `--fuse cola` only.
    pub fn first_cola_option(&self) -> Option<&'static str> {
        first_given(&[
            ("--use-profile", self.use_profile.is_some()),
            ("--goal", self.goal.is_some()),
            ("--start-plan", self.start_plan.is_some()),
            ("--host-tags", !self.host_tags.is_empty()),
            ("--host-cores", !self.host_cores.is_empty()),
        ])
    }

    /// The first option given that changes only the text of a plan.
    pub fn first_text_option(&self) -> Option<&'static str> {
        first_given(&[
            ("--calibration", self.calibration.is_some()),
            ("--rdma", self.rdma.is_some()),
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
        "cola" => FuseChoice::Cola,
        file => FuseChoice::File(PathBuf::from(file)),
    })
}

/// Words with blanks between them, as a plan has them, of a text that may have commas.
fn words(text: &str) -> String {
    let words = text.split([',', ' ']).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// A medium and its settings.
fn transport(text: &str) -> Result<String, String> {
    Ok(words(text))
}

/// Settings as a plan has them.
fn rdma(text: &str) -> Result<String, String> {
    let words = words(text);
    engine::check_medium_settings("rdma", &words)?;
    Ok(words)
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
            "{address} is not the address of a single host; give the one at which other hosts reach it"
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

fn host_tags(text: &str) -> Result<HostTags, String> {
    let wrong = "must have the form NAME=TAG or NAME=TAG,TAG,...";
    let (host, tags) = text.split_once('=').ok_or(wrong)?;
    let tags: Vec<String> = tags.split(',').map(str::to_owned).collect();
    if host.is_empty() || tags.iter().any(String::is_empty) {
        return Err(wrong.to_owned());
    }
    Ok(HostTags {
        host: host.to_owned(),
        tags,
    })
}

fn host_cores(text: &str) -> Result<(String, u32), String> {
    let wrong = "must have the form NAME=CORES, with a number of 1 or more";
    let (host, cores) = text.split_once('=').ok_or(wrong)?;
    match cores.parse() {
        Ok(cores @ 1..) if !host.is_empty() => Ok((host.to_owned(), cores)),
        _ => Err(wrong.to_owned()),
    }
}

fn core(text: &str) -> Result<u32, String> {
    let wrong = |_| "must be numbers of cores with commas between, as in `0,2`".to_owned();
    text.parse().map_err(wrong)
}
