//! Plans: the processes, threads and media that a program gets.

use graph::{Crossing, CrossingRails, Plan, PlanTextError, Program};
use planner::{
    MediumCapabilities, Optimisation, OptimisedPlan, PlanExplanation, PlanOptions, PlanPrediction,
    ProgramThread,
};
use transport::{MediumSetting, media};

use crate::error::Error;

/// Makes the plan of a program: which operators share a process, and which medium each stream
/// between processes has.
///
/// # Example
/// ```
/// # const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hello/Hello.spl");
/// use thalweg_engine::{CompileRequest, FusionPolicy, PlanOptions, compile, media, plan};
///
/// # let request = CompileRequest { file: HELLO.into(), ..CompileRequest::default() };
/// let program = compile(&request)?.program.expect("the program has no errors");
/// let media = media();
/// let options = PlanOptions {
///     fusion: FusionPolicy::None,
///     media: &media,
///     ..PlanOptions::default()
/// };
/// let plan = plan(&program, &options)?;
/// assert_eq!(plan.pes.len(), program.operators.len());
/// assert_eq!(&*plan.crossings[0].medium, "shm");
/// # Ok::<(), thalweg_engine::Error>(())
/// ```
///
/// # Errors
/// [`Error::Plan`] with a line for each requirement that cannot be met.
pub fn plan(program: &Program, options: &PlanOptions<'_>) -> Result<Plan, Error> {
    let plan = planner::plan(program, options);
    let plan = plan.map_err(|errors| Error::plan(program, &errors))?;
    check_all_rails(program, &plan)?;
    Ok(plan)
}

/// Finds the plan of a program that the cost model predicts most of; [`plan()`] with
/// [`FusionPolicy::Cola`](crate::FusionPolicy) returns the plan alone.
///
/// # Errors
/// [`Error::Plan`] with a line for each requirement that cannot be met.
pub fn optimise(
    program: &Program,
    options: &PlanOptions<'_>,
    optimisation: &Optimisation<'_>,
) -> Result<OptimisedPlan, Error> {
    let optimised = planner::optimise(program, options, optimisation);
    let optimised = optimised.map_err(|errors| Error::plan(program, &errors))?;
    check_all_rails(program, &optimised.plan)?;
    Ok(optimised)
}

/// Explains the plan that [`optimise`] has found with these options, in sentences.
///
/// # Errors
/// [`Error::Plan`] if there is no plan for one more core.
pub fn explain_plan(
    program: &Program,
    options: &PlanOptions<'_>,
    optimisation: &Optimisation<'_>,
    optimised: &OptimisedPlan,
) -> Result<PlanExplanation, Error> {
    let explained = PlanExplanation::new(program, options, optimisation, optimised);
    explained.map_err(|errors| Error::plan(program, &errors))
}

/// The threads of each PE of a complete plan, with the operators of the program that each enters.
///
/// # Errors
/// [`Error::Plan`] if the plan is not complete, or not one of the program.
pub fn program_threads(program: &Program, plan: &Plan) -> Result<Vec<Vec<ProgramThread>>, Error> {
    let threads = planner::program_threads(program, plan);
    threads.map_err(|fault| Error::Plan(fault.message))
}

/// The throughput and the processor time of a prediction, in words.
pub fn prediction_text(prediction: &PlanPrediction) -> String {
    format!(
        "{}, {:.1} ns of processor time for each, {} threads",
        planner::rate_text(prediction.throughput),
        prediction.total_ns,
        prediction.threads.len()
    )
}

fn check_all_rails(program: &Program, plan: &Plan) -> Result<(), Error> {
    let wrong = plan.crossings.iter().filter_map(|crossing| {
        let why = check_rails(crossing).err()?;
        Some(format!("`{}`: {why}", program.sender_name(crossing)))
    });
    match wrong.collect::<Vec<_>>() {
        none if none.is_empty() => Ok(()),
        wrong => Err(Error::Plan(wrong.join("\n"))),
    }
}

/// Checks that the medium of a crossing, with its settings, has the rails that the crossing has.
///
/// # Errors
/// The medium has none; the sentence says which media have.
fn check_rails(crossing: &Crossing) -> Result<(), String> {
    let is_mptcp = match crossing.rails {
        CrossingRails::None => return Ok(()),
        CrossingRails::Striped(_) => false,
        CrossingRails::Mptcp => true,
    };
    // Another error of the medium is that of its crossing.
    let Ok(medium) = media::find_with(&crossing.medium, &crossing.medium_settings) else {
        return Ok(());
    };
    medium.check_rails(is_mptcp).map_err(|why| {
        let all = media::all().into_iter();
        let others = all.filter(|other| !other.caps().is_for_tests);
        let others = others.filter(|other| other.check_rails(is_mptcp).is_ok());
        let others: Vec<_> = others.map(transport::Medium::name).collect();
        let rails = if is_mptcp { "rails mptcp" } else { "rails" };
        format!("{why}; media with `{rails}`: {}", others.join(", "))
    })
}

/// Parses the text of a plan for a program, as `dump --stage plan` prints it or people write it.
///
/// # Example
/// ```
/// # const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hello/Hello.spl");
/// use thalweg_engine::{CompileRequest, compile, parse_plan};
///
/// # let request = CompileRequest { file: HELLO.into(), ..CompileRequest::default() };
/// let program = compile(&request)?.program.expect("the program has no errors");
/// let text = "plan Hello
/// pe 0
///   operators Greetings
/// pe 1
///   operators Printer
/// crossing Greetings.0 -> pe 1 on tcp
/// ";
/// let plan = parse_plan(text, &program).unwrap();
/// assert_eq!(plan.crossings.len(), 1);
/// let error = parse_plan("plan Hello\npe 0\n  operators Greeting\n", &program).unwrap_err();
/// assert!(error.to_string().contains("Greetings"));
/// # Ok::<(), thalweg_engine::Error>(())
/// ```
///
/// # Errors
/// The first error in the text, with its line and column.
pub fn parse_plan(text: &str, program: &Program) -> Result<Plan, PlanTextError> {
    let media = media();
    planner::parse_plan_with_media(text, program, &|name, settings| {
        let checked = planner::check_medium(name, &media);
        checked.map_err(|why| missing_medium(name, &why))?;
        check_medium_settings(name, settings)
    })
}

/// Checks that a medium has these settings: words `key=value`, with blanks between them.
///
/// # Example
/// ```
/// use thalweg_engine::check_medium_settings;
///
/// assert_eq!(check_medium_settings("rdma", "mode=channel"), Ok(()));
/// let why = check_medium_settings("rdma", "mode=best").unwrap_err();
/// assert_eq!(
///     why,
///     "settings of rdma: there is no mode `best`; there are write, channel and batch"
/// );
/// let why = check_medium_settings("rdma", "mode=chanel").unwrap_err();
/// assert!(why.ends_with("; did you mean `mode=channel`?"));
/// ```
///
/// # Errors
/// One line: the medium has no such settings.
pub fn check_medium_settings(name: &str, settings: &str) -> Result<(), String> {
    let own = planner::own_medium_name(name).to_lowercase();
    let Err(error) = media::find_with(&own, settings) else {
        return Ok(());
    };
    let known = media::find(&own).map(transport::Medium::settings);
    match nearest_setting(known.unwrap_or_default(), settings) {
        Some(meant) => Err(format!("{error}; did you mean `{meant}`?")),
        None => Err(error.to_string()),
    }
}

/// The setting that is probably meant by the first word that is none of the medium's.
fn nearest_setting(known: &[MediumSetting], settings: &str) -> Option<String> {
    let of_key = |key: &str| known.iter().find(|setting| setting.key == key);
    let is_wrong = |(key, value): &(&str, &str)| {
        of_key(key).is_none_or(|one| !one.values.is_empty() && !one.values.contains(value))
    };
    let words = settings.split_whitespace();
    let mut words = words.map(|word| word.split_once('=').unwrap_or((word, "")));
    let (key, value) = words.find(is_wrong)?;
    if let Some(setting) = of_key(key) {
        let near = syntax::nearest(value, setting.values.iter().copied())?;
        return Some(format!("{key}={near}"));
    }
    // A value without its key.
    if let Some(setting) = known.iter().find(|one| one.values.contains(&key)) {
        return Some(format!("{}={key}", setting.key));
    }
    let near = of_key(syntax::nearest(key, known.iter().map(|one| one.key))?)?;
    match value {
        "" => Some(near.example.to_owned()),
        _ => Some(format!("{}={value}", near.key)),
    }
}

/// Notes on where a plan departs from the program's config clauses, a sentence each, with the place
/// in the source. They are no errors: the plan runs as it is.
///
/// # Example
/// ```
/// # const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hello/Hello.spl");
/// use thalweg_engine::{CompileRequest, PlanOptions, compile, plan, plan_notes};
///
/// # let request = CompileRequest { file: HELLO.into(), ..CompileRequest::default() };
/// let program = compile(&request)?.program.expect("the program has no errors");
/// let options = PlanOptions::default();
/// let plan = plan(&program, &options)?;
/// // The program says nothing about its plan.
/// assert!(plan_notes(&program, &options, &plan).is_empty());
/// # Ok::<(), thalweg_engine::Error>(())
/// ```
pub fn plan_notes(program: &Program, options: &PlanOptions<'_>, plan: &Plan) -> Vec<String> {
    let notes = planner::notes(program, options, plan).into_iter();
    notes.map(|note| note.text(program)).collect()
}

/// The media that a plan may use and their abilities, the fastest first. Media for tests are among
/// them; `auto` never takes those.
///
/// # Example
/// ```
/// let media = thalweg_engine::media();
/// let between_processes = media.iter().filter(|medium| medium.crosses_processes);
/// let fastest = between_processes.map(|medium| medium.name).next();
/// assert_eq!(fastest, Some("shm"));
/// ```
pub fn media() -> Vec<MediumCapabilities<'static>> {
    let capabilities = |(rank, medium): (u32, &'static dyn transport::Medium)| {
        let caps = medium.caps();
        MediumCapabilities {
            name: medium.name(),
            crosses_processes: caps.crosses_processes,
            crosses_hosts: caps.crosses_hosts,
            is_one_to_many: caps.is_one_to_many,
            batches: caps.is_batching,
            receivers_max: caps.receivers_max,
            rails_max: medium.rails_max() as u32,
            is_for_tests: caps.is_for_tests,
            is_by_name_only: medium.library().is_some(),
            needs_fabric: transport::media::rdma::is_for_adapters(medium.name()),
            rank,
        }
    };
    (0..).zip(media::all()).map(capabilities).collect()
}

/// The media of [`media()`] that can work on this machine: `rdma` needs a library.
///
/// # Example
/// ```
/// let media = thalweg_engine::available_media();
/// assert!(media.iter().any(|medium| medium.name == "rum"));
/// ```
pub fn available_media() -> Vec<MediumCapabilities<'static>> {
    let mut media = media();
    media.retain(|medium| {
        let found = media::find(medium.name);
        found.is_some_and(|medium| medium.check_available().is_ok())
    });
    media
}

/// Name of the medium whose library `thalweg medium build` compiles: its processes are ranks of an
/// MPI job.
pub const MEDIUM_OF_RANKS: &str = "mpi";

/// A sentence about a medium of this name that is not there: why its library cannot be used, how
/// that of the ranks comes about, else `sentence`; and where libraries were looked for.
///
/// # Example
/// ```
/// let sentence = thalweg_engine::missing_medium("pigeon", "there is no medium `pigeon`");
/// assert_eq!(sentence, "there is no medium `pigeon`");
/// let sentence = thalweg_engine::missing_medium("mpi", "there is no medium `mpi`");
/// assert!(sentence.contains("`thalweg medium build mpi`"));
/// ```
pub fn missing_medium(name: &str, sentence: &str) -> String {
    let own = planner::own_medium_name(name).to_lowercase();
    let of_ranks = (own == MEDIUM_OF_RANKS)
        .then(|| format!("`thalweg medium build {own}` compiles it with the mpicc of this host"));
    let mut libraries = media::plugin::unusable().into_iter();
    let library = libraries.find(|library| library.name.as_ref() == Some(&own));
    match (library.filter(|_| media::find(&own).is_none()), of_ranks) {
        (Some(library), None) => format!("the medium `{own}` cannot be used: {}", library.why),
        (Some(library), Some(build)) => {
            format!(
                "the medium `{own}` cannot be used: {}; {build}",
                library.why
            )
        }
        (None, Some(build)) => with_media_search(&format!(
            "the library of `{own}` is not there: {build}, and --media-path names its folder"
        )),
        (None, None) => with_media_search(sentence),
    }
}

/// A sentence about a medium that is not there, and where others were looked for, if they were.
///
/// # Example
/// ```
/// let sentence = thalweg_engine::with_media_search("there is no medium `pigeon`");
/// assert_eq!(sentence, "there is no medium `pigeon`");
/// ```
pub fn with_media_search(sentence: &str) -> String {
    let search = media::plugin::describe_search();
    search.map_or_else(
        || sentence.to_owned(),
        |search| format!("{sentence}; {search}"),
    )
}

/// The name of a medium that a name means: its own, or that of a transport of IBM Streams.
///
/// # Example
/// ```
/// assert_eq!(thalweg_engine::own_medium_name("LLM_RUM_TCP"), "rum");
/// assert_eq!(thalweg_engine::own_medium_name("tcp"), "tcp");
/// ```
pub fn own_medium_name(name: &str) -> &str {
    planner::own_medium_name(name)
}

/// Words by which config may name the media that cross processes, without those for tests, and
/// transports of IBM Streams. A name with a hyphen is no word of SPL.
pub(crate) fn crossing_media() -> impl Iterator<Item = &'static str> {
    let all = media().into_iter();
    let all = all.filter(|medium| medium.crosses_processes && !medium.is_for_tests);
    let words = all.map(|medium| medium.name);
    let words = words.filter(|name| !name.contains('-'));
    words.chain(planner::streams_medium_names())
}

/// Number of cores that this process may run on, as its affinity mask and control group allow; 0 if
/// the system does not say.
pub fn usable_core_count() -> u32 {
    std::thread::available_parallelism().map_or(0, |count| count.get() as u32)
}

/// Distributes cores over the PEs of a plan, in turn: with more cores than PEs each gets several,
/// with fewer some share one. Without cores the plan stays as it is.
///
/// # Example
/// ```
/// use thalweg_engine::{Plan, pin_pes};
///
/// let mut plan = Plan::default();
/// plan.pes.resize_with(2, Default::default);
/// pin_pes(&mut plan, &[0, 1, 2]);
/// assert_eq!(plan.pes[0].cores, [0, 2]);
/// assert_eq!(plan.pes[1].cores, [1]);
/// ```
pub fn pin_pes(plan: &mut Plan, cores: &[u32]) {
    let count = plan.pes.len();
    if cores.is_empty() {
        return;
    }
    for (number, pe) in plan.pes.iter_mut().enumerate() {
        let from_own = cores.iter().skip(number % cores.len());
        pe.cores = from_own.step_by(count).copied().collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dealt(pes: usize, cores: &[u32]) -> Vec<Vec<u32>> {
        let mut plan = Plan {
            pes: vec![graph::PePlan::default(); pes],
            crossings: Vec::new(),
        };
        pin_pes(&mut plan, cores);
        plan.pes.into_iter().map(|pe| pe.cores).collect()
    }

    #[test]
    fn cores_are_dealt_out() {
        assert_eq!(dealt(1, &[0, 3]), [vec![0, 3]]);
        assert_eq!(dealt(2, &[0, 3]), [vec![0], vec![3]]);
        assert_eq!(dealt(3, &[0, 3]), [vec![0], vec![3], vec![0]]);
        assert_eq!(dealt(2, &[0, 1, 2]), [vec![0, 2], vec![1]]);
        assert_eq!(dealt(2, &[]), [Vec::<u32>::new(), Vec::new()]);
    }
}
