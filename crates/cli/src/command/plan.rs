//! The plan that the options of `run` and `dump` ask for.

use std::path::Path;

use engine::{Choice, Codec, MediumFacts, Plan, Program, Threading, Transport};

use super::Failure;
use crate::args::{CodecName, Fuse, PlanArgs, ThreadingModel};

/// Makes the plan of a program.
pub fn plan(program: &Program, args: &PlanArgs) -> Result<Plan, Failure> {
    let media = engine::media();
    let written = match &args.fuse {
        Fuse::File(file) => Some(read(file, program)?),
        _ => None,
    };
    let fuse = match (&args.fuse, &written) {
        (_, Some(plan)) => engine::Fuse::Text(plan),
        (Fuse::None, _) => engine::Fuse::None,
        (Fuse::Spl, _) => engine::Fuse::Spl,
        _ => engine::Fuse::All,
    };
    let codec = match args.codec {
        CodecName::Facade => Codec::Facade,
        CodecName::Normal => Codec::Normal,
    };
    let choice = Choice {
        fuse,
        transport: transport(&args.transport, &media)?,
        codec,
        threading: threading(args.threading),
        cores: cores(&args.pin),
        media: &media,
    };
    let mut plan = engine::plan(program, &choice)?;
    for note in engine::plan_notes(program, &choice, &plan) {
        eprintln!("note: {note}");
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
    let text = std::fs::read_to_string(file);
    let text =
        text.map_err(|error| Failure::Program(format!("cannot read {}: {error}", file.display())))?;
    engine::read_plan(&text, program)
        .map_err(|error| Failure::Program(format!("{}:{error}", file.display())))
}

fn transport<'a>(name: &'a str, media: &[MediumFacts<'_>]) -> Result<Transport<'a>, Failure> {
    if name == "auto" {
        return Ok(Transport::Auto);
    }
    if media.iter().any(|medium| medium.name == name) {
        return Ok(Transport::Medium(name));
    }
    let names: Vec<_> = media.iter().map(|medium| medium.name).collect();
    let names = names.join(", ");
    let message = format!("there is no transport `{name}`; there are auto, {names}");
    Err(Failure::Usage(message))
}
