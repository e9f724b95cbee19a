//! Launching a compiled program by its plan: in this process, or in a process for each PE.

use std::sync::mpsc::channel;
use std::thread::Builder;

use graph::{PeId, Plan, Program};
use runtime::FailureReport;
use transport::media;

use crate::compilation::Compilation;
use crate::error::Error;
use crate::job::{Job, LaunchOptions, check_hosts};
use crate::launcher;
use crate::monitor::{JobMetadata, RunningPlan, Sampler};
use crate::part::{self, PartOptions, UnfiredWindows};
use crate::profiling::{PartNames, PeProfiler, ProfileCollector, machine};

/// Runs a compiled program by its plan: in this process if there is one PE without a host, else in
/// a process for each PE.
///
/// Returns as soon as the job is on its way; [`Job::join`] waits for its end. The processes of a
/// job compile the sources that `compilation` has recorded, not the files as they are now. If one
/// of the processes fails or dies, the others are ended. All of them end with this process, even by
/// SIGKILL.
///
/// # Example
/// ```
/// # const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hello/Hello.spl");
/// use std::time::Duration;
/// use thalweg_engine::{CompileRequest, LaunchOptions, PlanOptions, compile, plan, run};
///
/// # let request = CompileRequest {
/// #     file: HELLO.into(),
/// #     submission_values: Some(Vec::new()),
/// #     ..CompileRequest::default()
/// # };
/// let compilation = compile(&request)?;
/// let program = compilation.program.as_ref().expect("the program has no errors");
/// let plan = plan(program, &PlanOptions::default())?;
/// let mut job = run(&compilation, program, &plan, &LaunchOptions::default())?;
/// while !job.wait(Some(Duration::from_secs(1))) {
///     println!("{:?}", job.source_counts());
/// }
/// job.join()?;
/// # Ok::<(), thalweg_engine::Error>(())
/// ```
///
/// # Errors
/// [`Error::Plan`] if a host of the plan is not described, [`Error::DataDirectory`],
/// [`Error::Codegen`], [`Error::Program`] if an operator cannot be set up in this process,
/// [`Error::System`]. What cannot be set up in other processes is an error of [`Job::join`].
pub fn run(
    compilation: &Compilation,
    program: &Program,
    plan: &Plan,
    launch: &LaunchOptions,
) -> Result<Job, Error> {
    check_hosts(plan, &launch.hosts)?;
    check_ranks(plan, launch)?;
    match &plan.pes[..] {
        [_, _, ..] => launcher::launch(compilation, program, plan, launch),
        [only] if only.host.is_some() => launcher::launch(compilation, program, plan, launch),
        _ => {
            let (part, options) = part::cut_only_pe(program, plan)?;
            launch_part((program, plan), &part, launch, options)
        }
    }
}

/// Checks that streams on a medium of ranks cross between ranks, one for each PE.
fn check_ranks(plan: &Plan, launch: &LaunchOptions) -> Result<(), Error> {
    if let Some(ranks) = &launch.ranks {
        if plan.pes.iter().any(|pe| pe.host.is_some()) {
            let why = "the command that starts ranks says on which hosts they run, so the plan of a \
                       job of ranks has no `host`";
            return Err(Error::Plan(why.to_owned()));
        }
        return ranks.check(plan.pes.len());
    }
    let media = plan.crossings.iter().map(|crossing| &*crossing.medium);
    let of_ranks = media
        .into_iter()
        .find(|name| media::plugin::ranks_of(name).is_some());
    of_ranks.map_or(Ok(()), |name| {
        Err(Error::Plan(format!(
            "a stream of the plan crosses by {name}, so the PEs have to be ranks: `mpirun -n {} \
             thalweg run -F {name} ...`",
            plan.pes.len()
        )))
    })
}

/// Runs a program in this process, with all operators fused into one PE: by the plan that the
/// default [`PlanOptions`](crate::PlanOptions) give.
///
/// # Example
/// ```
/// # const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hello/Hello.spl");
/// use std::sync::Mutex;
/// use thalweg_engine::{CompileRequest, LaunchOptions, compile, launch};
///
/// // Collects the output of the program, which is still written to standard output.
/// static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
///
/// # let request = CompileRequest { file: HELLO.into(), ..CompileRequest::default() };
/// let program = compile(&request)?.program.expect("the program has no errors");
/// let options = LaunchOptions {
///     before_print: |bytes| OUTPUT.lock().unwrap().extend_from_slice(bytes),
///     ..LaunchOptions::default()
/// };
/// launch(&program, &options)?.join()?;
/// let output = String::from_utf8(OUTPUT.lock().unwrap().clone()).unwrap();
/// assert!(output.starts_with("hello, world 0\nhello, world 1\n"));
/// # Ok::<(), thalweg_engine::Error>(())
/// ```
///
/// # Errors
/// [`Error::Plan`], [`Error::DataDirectory`], [`Error::Codegen`], [`Error::Program`] if an operator
/// cannot be set up, [`Error::System`] if a thread cannot be started.
pub fn launch(program: &Program, launch: &LaunchOptions) -> Result<Job, Error> {
    let plan = part::default_plan(program)?;
    let (part, options) = part::cut_only_pe(program, &plan)?;
    launch_part((program, &plan), &part, launch, options)
}

/// Runs the only part of a program in this process, with the ends of its rings.
fn launch_part(
    (whole, plan): (&Program, &Plan),
    program: &Program,
    launch: &LaunchOptions,
    options: PartOptions,
) -> Result<Job, Error> {
    let failed = |report: FailureReport| part::job_error(&program.files, &report);
    let pe = part::wire(program, launch, options)?.map_err(failed)?;
    if let Some(time) = launch.kill_after {
        let later = pe.stop_signal().request_after(time.as_secs_f64());
        later.map_err(|error| Error::system("start a thread", error))?;
    }
    let stop = pe.stop_signal();
    let running = pe.start().map_err(failed)?;
    let operator_counts = running.operator_counts_handle();
    let (sender, ended) = channel();
    let files = program.files.clone();
    let metadata = launch.counters.then(|| JobMetadata::new(&program.name, 1));
    let leftovers = running.leftovers();
    let running_plan = || RunningPlan {
        program: whole.clone(),
        plan: plan.clone(),
        pe: PeId(0),
    };
    let sampler =
        metadata.and_then(|metadata| Sampler::start(metadata, program, &running, running_plan()));
    let stopped = stop.clone();
    let (profile, stopped_early) = (launch.profile.clone(), stop.clone());
    let start_profiler = |profile: &ProfileCollector| {
        let names = PartNames::new(program, (PeId(0), machine()), None);
        PeProfiler::start(profile.request(), names, &running)
    };
    let profiler = profile.as_ref().map(start_profiler).transpose();
    let profiler = profiler.inspect_err(|_| stopped_early.request())?;
    let wait = move || {
        let outcome = running.join();
        drop(sampler);
        if let (Some(collector), Some(profiler)) = (profile, profiler) {
            profiler
                .finish()
                .into_iter()
                .for_each(|part| collector.add(part));
        }
        let sentences = |_| {
            let leftovers = leftovers();
            let leftovers = leftovers
                .iter()
                .map(|left| UnfiredWindows::new(&files, left));
            part::unfired_sentences(&leftovers.collect::<Vec<_>>())
        };
        sender.send(
            outcome
                .map(sentences)
                .map_err(|r| part::job_error(&files, &r)),
        )
    };
    let waiting = Builder::new().name("job".to_owned()).spawn(wait);
    waiting.map_err(|error| {
        // Without the thread, nobody would learn how the job ends.
        stopped.request();
        Error::system("start a thread", error)
    })?;
    let names = part::source_names(program);
    Ok(Job::new(
        stop,
        Box::new(move || part::source_counts(&names, &operator_counts())),
        ended,
    ))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use crate::{CompileRequest, LaunchOptions, compile, launch};

    static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

    #[test]
    fn a_program_without_a_plan_has_its_watermarks() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/programs");
        let request = CompileRequest {
            file: format!("{folder}/eventtime/channels.spl").into(),
            submission_values: Some(Vec::new()),
            ..CompileRequest::default()
        };
        let program = compile(&request).expect("a readable file").program;
        let options = LaunchOptions {
            before_print: |bytes| OUTPUT.lock().unwrap().extend_from_slice(bytes),
            ..LaunchOptions::default()
        };
        let job = launch(&program.expect("a right program"), &options);
        job.and_then(crate::Job::join).expect("a run to the end");
        let printed = String::from_utf8(OUTPUT.lock().unwrap().clone()).expect("text");
        assert!(printed.ends_with("5000: (4,0,0)\n"), "{printed}");
    }
}
