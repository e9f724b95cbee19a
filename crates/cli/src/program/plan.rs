//! The plan that the options of `run` and `dump` ask for.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use engine::{
    Calibration, CrossingCodec, FusionPolicy, HostSpec, JobFabrics, LoadedProfile,
    MediumCapabilities, Optimisation, Plan, PlanGoal, PlanHost, PlanOptions, Profile, Program,
    ThreadingPolicy, TransportPolicy,
};

use super::plan_args::{CodecName, FuseChoice, GoalName, PlanArgs, ThreadingModel};
use crate::drawing::missing_operators_note;
use crate::failure::CommandFailure;
use crate::output;

/// Makes the plan of a program from the options, and prints notes on departures from its config.
///
/// # Errors
/// [`CommandFailure::Usage`] for options that cannot be met, [`CommandFailure::Program`] for a plan
/// that cannot be made.
pub fn plan(program: &Program, args: &PlanArgs) -> Result<Plan, CommandFailure> {
    let inputs = PlanInputs::load(program, args)?;
    let options = inputs.options()?;
    let mut plan = match &options.fusion {
        FusionPolicy::Cola(optimisation) => {
            let optimised = engine::optimise(program, &options, optimisation)?;
            for note in &optimised.notes {
                output::note(note);
            }
            optimised.plan
        }
        _ => engine::plan(program, &options)?,
    };
    for note in engine::plan_notes(program, &options, &plan) {
        output::note(&note);
    }
    check_rdma(args, &plan)?;
    let is_for_throughput = matches!(&options.fusion, FusionPolicy::Cola(optimisation)
        if optimisation.goal == PlanGoal::Throughput);
    let has_cores = is_for_throughput && {
        let domains = engine::cache_domains(&args.pin);
        engine::choose_cores(program, inputs.profile(), &mut plan, &domains)
    };
    if !has_cores {
        engine::pin_pes(&mut plan, &args.pin);
    }
    Ok(plan)
}

/// The files and facts that the options of a plan name, read.
pub struct PlanInputs<'a> {
    args: &'a PlanArgs,
    media: Vec<MediumCapabilities<'static>>,
    written: Option<Plan>,
    start: Option<Plan>,
    profile: Option<Profile>,
    calibration: Option<Calibration>,
    fabrics: JobFabrics<'a>,
    hosts: Vec<PlanHost<'a>>,
}

impl<'a> PlanInputs<'a> {
    /// Reads the files that the options name, and prints notes on them.
    ///
    /// # Errors
    /// [`CommandFailure::Usage`] for a file that cannot be read, and options that have no effect
    /// beside the others; [`CommandFailure::Program`] for a file that is garbled.
    pub fn load(program: &Program, args: &'a PlanArgs) -> Result<PlanInputs<'a>, CommandFailure> {
        let is_cola = args.fuse == Some(FuseChoice::Cola);
        if let Some(option) = args.first_cola_option().filter(|_| !is_cola) {
            let message = format!("{option} has an effect with `--fuse cola` only");
            return Err(CommandFailure::Usage(message));
        }
        let written = match &args.fuse {
            Some(FuseChoice::File(file)) => Some(read(
                file,
                program,
                "; --fuse takes all, none, spl, cola or a file with a plan",
            )?),
            _ => None,
        };
        let start = args.start_plan.as_deref();
        Ok(PlanInputs {
            media: engine::media(),
            start: start.map(|file| read(file, program, "")).transpose()?,
            profile: args.use_profile.as_deref().map(profile).transpose()?,
            calibration: calibration(args)?,
            fabrics: JobFabrics::new(&args.host, list_fabrics),
            hosts: if is_cola { hosts(args)? } else { Vec::new() },
            written,
            args,
        })
    }

    /// The profile, if there is one.
    pub fn profile(&self) -> Option<&Profile> {
        self.profile.as_ref()
    }

    /// The options for the planner.
    ///
    /// # Errors
    /// [`CommandFailure::Usage`] for a medium that is not there.
    pub fn options(&self) -> Result<PlanOptions<'_>, CommandFailure> {
        let args = self.args;
        let by_name = args.transport.as_deref().unwrap_or("auto");
        let (transport, settings) = transport(by_name, &self.media)?;
        let by_rdma = args.rdma.as_deref().map(|settings| ("rdma", settings));
        Ok(PlanOptions {
            fusion: self.fusion(),
            transport,
            codec: match args.codec {
                None | Some(CodecName::Facade) => CrossingCodec::Facade,
                Some(CodecName::Normal) => CrossingCodec::Normal,
            },
            threading: threading(args.threading.unwrap_or(ThreadingModel::Manual)),
            cores: cores(&args.pin),
            media: &self.media,
            medium_settings: settings.or(by_rdma),
            calibration: self.calibration.as_ref(),
            fabrics: Some(&self.fabrics),
            hosts: &self.hosts,
        })
    }

    fn fusion(&self) -> FusionPolicy<'_> {
        match (&self.args.fuse, &self.written) {
            (_, Some(plan)) => FusionPolicy::Text(plan),
            (Some(FuseChoice::None), _) => FusionPolicy::None,
            (Some(FuseChoice::Spl), _) => FusionPolicy::Spl,
            (Some(FuseChoice::Cola), _) => FusionPolicy::Cola(self.optimisation()),
            _ => FusionPolicy::All,
        }
    }

    fn optimisation(&self) -> Optimisation<'_> {
        Optimisation {
            goal: match self.args.goal {
                None | Some(GoalName::Throughput) => PlanGoal::Throughput,
                Some(GoalName::Latency) => PlanGoal::Latency,
                Some(GoalName::Cores) => PlanGoal::Cores,
            },
            profile: self.profile.as_ref(),
            start: self.start.as_ref(),
        }
    }
}

/// Reads a profile, and prints notes on it.
fn profile(file: &Path) -> Result<Profile, CommandFailure> {
    let loaded = load_profile(file)?;
    for note in loaded.notes {
        output::note(&note);
    }
    Ok(loaded.profile)
}

fn load_profile(file: &Path) -> Result<LoadedProfile, CommandFailure> {
    engine::load_profile(file).map_err(|error| match error {
        engine::Error::Read(..) => CommandFailure::Usage(error.to_string()),
        _ => error.into(),
    })
}

/// Reads the profile whose costs a drawing shows, if there is one, and prints a note on operators
/// that it does not have. Only `--fuse cola` plans by it, too: for other plans the option is taken
/// out of the arguments.
///
/// # Errors
/// [`CommandFailure::Usage`] for a file that cannot be read, [`CommandFailure::Program`] for one
/// that is garbled.
pub fn take_drawn_profile(
    program: &Program,
    args: &mut PlanArgs,
) -> Result<Option<Profile>, CommandFailure> {
    let Some(file) = args.use_profile.clone() else {
        return Ok(None);
    };
    // The machine of the profile does not matter to a drawing.
    let profile = load_profile(&file)?.profile;
    if args.fuse != Some(FuseChoice::Cola) {
        args.use_profile = None;
        if let Some(note) = missing_operators_note(program, &profile) {
            output::note(&note);
        }
    }
    Ok(Some(profile))
}

/// Checks that the settings of `--rdma` fit each stream that gets them, with a note if none does.
fn check_rdma(args: &PlanArgs, plan: &Plan) -> Result<(), CommandFailure> {
    if args.rdma.is_none() {
        return Ok(());
    }
    let by_rdma = plan.crossings.iter();
    let mut by_rdma = by_rdma.filter(|one| ["rdma", "rum-rdma"].contains(&&*one.medium));
    if by_rdma.clone().next().is_none() {
        output::note("no stream crosses by rdma, so --rdma has no effect");
    }
    by_rdma.try_for_each(|one| {
        let checked = engine::check_medium_settings(&one.medium, &one.medium_settings);
        checked.map_err(CommandFailure::Usage)
    })
}

/// The calibration by which `auto` chooses, with a note if it is one of another machine. A job in
/// one process, or whose user names the medium, needs none.
fn calibration(args: &PlanArgs) -> Result<Option<Calibration>, CommandFailure> {
    let is_asked = args.calibration.is_some();
    let is_auto = args.transport.as_deref().is_none_or(|name| name == "auto");
    let is_split = !matches!(args.fuse, None | Some(FuseChoice::All));
    if !(is_asked || is_auto && is_split) {
        return Ok(None);
    }
    let loaded = engine::load_calibration(args.calibration.as_deref());
    let loaded = loaded.map_err(|error| match error {
        // A file that an option names.
        engine::Error::Read(..) if is_asked => CommandFailure::Usage(error.to_string()),
        _ => error.into(),
    });
    let Some(loaded) = loaded? else {
        return Ok(None);
    };
    for note in loaded.notes {
        output::note(&note);
    }
    Ok(Some(loaded.calibration))
}

/// The command that prints the fabrics of the host on which it runs: this binary, even if its file
/// has been replaced since.
fn list_fabrics() -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("thalweg").args(["medium", "fabrics"]);
    command
}

/// The hosts of the options, with their tags and cores.
fn hosts(args: &PlanArgs) -> Result<Vec<PlanHost<'_>>, CommandFailure> {
    let tagged = args
        .host_tags
        .iter()
        .map(|tags| ("--host-tags", &tags.host));
    let with_cores = args
        .host_cores
        .iter()
        .map(|(host, _)| ("--host-cores", host));
    let named: Vec<(&str, &String)> = tagged.chain(with_cores).collect();
    for (at, (option, name)) in named.iter().enumerate() {
        if args.host.iter().all(|host| host.name != **name) {
            return Err(CommandFailure::Usage(format!(
                "{option}: host {name} is not described: --host {name}=ADDRESS says where it is"
            )));
        }
        if named[..at].contains(&(option, name)) {
            return Err(CommandFailure::Usage(format!(
                "{option} is given twice for host {name}"
            )));
        }
    }
    let twice = |(at, host): &(usize, &HostSpec)| {
        let mut before = args.host[..*at].iter();
        before.any(|other| other.name == host.name)
    };
    if let Some((_, host)) = args.host.iter().enumerate().find(twice) {
        // The launch says the same of other plans.
        let name = &host.name;
        return Err(CommandFailure::Program(format!(
            "host {name} is described twice by --host"
        )));
    }
    let all = args.host.iter().map(|host| {
        let tags = args.host_tags.iter().find(|tags| tags.host == host.name);
        let given = args.host_cores.iter().find(|(name, _)| *name == host.name);
        PlanHost {
            name: &host.name,
            tags: tags.map_or(&[], |tags| &tags.tags),
            cores: given.map_or_else(|| cores(&args.pin), |(_, cores)| *cores),
        }
    });
    Ok(all.collect())
}

fn threading(model: ThreadingModel) -> ThreadingPolicy {
    match model {
        ThreadingModel::Manual => ThreadingPolicy::Manual,
        ThreadingModel::Dedicated => ThreadingPolicy::Dedicated,
        ThreadingModel::Automatic => ThreadingPolicy::Automatic,
        ThreadingModel::Dynamic => ThreadingPolicy::Dynamic,
    }
}

/// Number of cores for the job's threads: those of `--pin`, else all that this process may use.
fn cores(pinned: &[u32]) -> u32 {
    match pinned.len() {
        0 => engine::usable_core_count(),
        count => count as u32,
    }
}

/// Reads the plan in a file; `help` stands behind the reason why it cannot be read.
///
/// # Errors
/// [`CommandFailure::Usage`] if it cannot be read, [`CommandFailure::Program`] if it is garbled.
pub fn read(file: &Path, program: &Program, help: &str) -> Result<Plan, CommandFailure> {
    let text = engine::bounded::read_text(file).map_err(|error| {
        let file = file.display();
        CommandFailure::Usage(format!("cannot read the plan {file}: {error}{help}"))
    })?;
    engine::parse_plan(&text, program)
        .map_err(|error| CommandFailure::Program(format!("{}:{error}", file.display())))
}

/// The name of a medium, and settings for it.
type MediumSettings<'a> = (&'a str, &'a str);

/// The medium of `--transport`, and the settings behind its name.
fn transport<'a>(
    text: &'a str,
    media: &[MediumCapabilities<'a>],
) -> Result<(TransportPolicy<'a>, Option<MediumSettings<'a>>), CommandFailure> {
    let (name, settings) = text.split_once(' ').unwrap_or((text, ""));
    let policy = find_transport(name, media)?;
    let TransportPolicy::Medium(own) = policy else {
        let why = "settings belong behind the name of a medium".to_owned();
        return match settings {
            "" => Ok((policy, None)),
            _ => Err(CommandFailure::Usage(why)),
        };
    };
    engine::check_medium_settings(own, settings).map_err(CommandFailure::Usage)?;
    Ok((policy, (!settings.is_empty()).then_some((own, settings))))
}

fn find_transport<'a>(
    name: &str,
    media: &[MediumCapabilities<'a>],
) -> Result<TransportPolicy<'a>, CommandFailure> {
    if name == "auto" {
        return Ok(TransportPolicy::Auto);
    }
    // SPL's `inputTransport` writes `TCP`, so case does not matter.
    let own = engine::own_medium_name(name);
    let named = |medium: &&MediumCapabilities<'a>| medium.name.eq_ignore_ascii_case(own);
    let between = media.iter().filter(|medium| medium.crosses_processes);
    if let Some(medium) = between.clone().find(named) {
        return Ok(TransportPolicy::Medium(medium.name));
    }
    let listed = between.filter(|medium| !medium.is_for_tests);
    let names = ["auto"].into_iter().chain(listed.map(|medium| medium.name));
    let names: Vec<_> = names.collect();
    let what = match media.iter().find(named) {
        Some(medium) => format!("`{}` joins threads, not processes", medium.name),
        None => format!("there is no transport `{name}`"),
    };
    let help = match engine::nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", names.join(", ")),
    };
    let sentence = engine::missing_medium(name, &format!("{what}; {help}"));
    Err(CommandFailure::Usage(sentence))
}
