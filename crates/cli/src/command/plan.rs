//! The plan that the options of `run` and `dump` ask for.

use std::path::Path;

use engine::{Choice, Codec, MediumFacts, Plan, Program, Threading, Transport};

use super::{Failure, tell};
use crate::args::{CodecName, Fuse, PlanArgs, ThreadingModel};

/// Makes the plan of a program.
pub fn plan(program: &Program, args: &PlanArgs) -> Result<Plan, Failure> {
    let media = engine::media();
    let written = match &args.fuse {
        Some(Fuse::File(file)) => Some(read(file, program)?),
        _ => None,
    };
    let fuse = match (&args.fuse, &written) {
        (_, Some(plan)) => engine::Fuse::Text(plan),
        (Some(Fuse::None), _) => engine::Fuse::None,
        (Some(Fuse::Spl), _) => engine::Fuse::Spl,
        _ => engine::Fuse::All,
    };
    let codec = match args.codec {
        None | Some(CodecName::Facade) => Codec::Facade,
        Some(CodecName::Normal) => Codec::Normal,
    };
    let choice = Choice {
        fuse,
        transport: transport(args.transport.as_deref().unwrap_or("auto"), &media)?,
        codec,
        threading: threading(args.threading.unwrap_or(ThreadingModel::Manual)),
        cores: cores(&args.pin),
        media: &media,
    };
    let mut plan = engine::plan(program, &choice)?;
    for note in engine::plan_notes(program, &choice, &plan) {
        tell(&format!("note: {note}\n"));
    }
    engine::pin(&mut plan, &args.pin);
    Ok(plan)
}

fn threading(model: ThreadingModel) -> Threading {
    match model {
        ThreadingModel::Manual => Threading::Manual,
        ThreadingModel::Dedicated => Threading::Dedicated,
        ThreadingModel::Automatic => Threading::Automatic,
        ThreadingModel::Dynamic => Threading::Dynamic,
    }
}

/// How many cores there are for the threads.
fn cores(pinned: &[u32]) -> u32 {
    match pinned.len() {
        0 => engine::cores(),
        count => count as u32,
    }
}

fn read(file: &Path, program: &Program) -> Result<Plan, Failure> {
    let text = engine::bounded::read_text(file).map_err(|error| {
        let file = file.display();
        let message = format!(
            "cannot read the plan {file}: {error}; --fuse takes all, none, spl or \
                               a file with a plan"
        );
        Failure::Usage(message)
    })?;
    engine::read_plan(&text, program)
        .map_err(|error| Failure::Program(format!("{}:{error}", file.display())))
}

fn transport<'a>(name: &str, media: &[MediumFacts<'a>]) -> Result<Transport<'a>, Failure> {
    if name == "auto" {
        return Ok(Transport::Auto);
    }
    // SPL writes TCP.
    let named = |medium: &&MediumFacts<'a>| medium.name.eq_ignore_ascii_case(name);
    let between = media.iter().filter(|medium| medium.crosses_processes);
    if let Some(medium) = between.clone().find(named) {
        return Ok(Transport::Medium(medium.name));
    }
    let listed = between.filter(|medium| !medium.is_for_tests);
    let names: Vec<_> = listed.map(|medium| medium.name).collect();
    let names = names.join(", ");
    let message = match media.iter().find(named) {
        Some(medium) => format!("`{}` joins threads, not processes", medium.name),
        None => format!("there is no transport `{name}`"),
    };
    Err(Failure::Usage(format!(
        "{message}; there are auto, {names}"
    )))
}
