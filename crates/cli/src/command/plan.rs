//! `thalweg plan`: why the optimiser's plan is as it is, how two plans compare, and drawings.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use engine::{FusionPolicy, Plan, PlanExplanation, PlanOptions, Program};

use super::top::named_job;
use crate::drawing::{self, DrawnProgram};
use crate::failure::CommandFailure;
use crate::output::{self, write_findings, write_stdout};
use crate::output_file::OutputFile;
use crate::program::{
    FuseChoice, PlanArgs, PlanInputs, ProgramArgs, name_value, plan, read_plan, take_drawn_profile,
};

/// Arguments of `thalweg plan`.
#[derive(Debug, ClapArgs)]
pub struct PlanCommandArgs {
    /// The sub-command to run.
    #[command(subcommand)]
    command: PlanCommand,
}

/// Sub-commands with their arguments; a doc here is the sub-command's help text.
#[derive(Debug, Subcommand)]
enum PlanCommand {
    /// Explain the plan of `--fuse cola`: its bottleneck, and what each move would cost
    Explain(PlanExplainArgs),
    /// Compare two plans of a program by the throughput that is predicted of both
    Compare(PlanCompareArgs),
    /// Draw a plan as SVG: hosts, processes, operators and threads, streams by medium and rate
    Draw(PlanDrawArgs),
    /// Give a running job the cores, sizes of queues and pools of another plan
    Apply(PlanApplyArgs),
}

/// Arguments of `thalweg plan apply`.
#[derive(Debug, ClapArgs)]
struct PlanApplyArgs {
    /// The job: the number of its process or the name of its main composite
    job: String,

    /// File with the plan
    plan: PathBuf,
}

/// Arguments of `thalweg plan draw`.
#[derive(Debug, ClapArgs)]
struct PlanDrawArgs {
    /// Arguments of the program.
    #[command(flatten)]
    program: ProgramArgs,

    /// Options of the plan.
    #[command(flatten)]
    plan: PlanArgs,

    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Draw composites within this many others as one box each
    #[arg(long, value_name = "LEVELS")]
    depth: Option<usize>,

    /// Submission-time values of the program
    #[arg(value_name = "NAME=VALUE", value_parser = name_value)]
    values: Vec<(String, String)>,
}

/// Arguments of `thalweg plan explain`.
#[derive(Debug, ClapArgs)]
struct PlanExplainArgs {
    /// Arguments of the program.
    #[command(flatten)]
    program: ProgramArgs,

    /// Options of the plan.
    #[command(flatten)]
    plan: PlanArgs,

    /// Submission-time values of the program
    #[arg(value_name = "NAME=VALUE", value_parser = name_value)]
    values: Vec<(String, String)>,
}

/// Arguments of `thalweg plan compare`.
#[derive(Debug, ClapArgs)]
struct PlanCompareArgs {
    /// File with one plan
    #[arg(value_name = "PLAN")]
    one: PathBuf,

    /// File with the other plan
    #[arg(value_name = "PLAN")]
    other: PathBuf,

    /// Arguments of the program.
    #[command(flatten)]
    program: ProgramArgs,

    /// Options of the plan.
    #[command(flatten)]
    plan: PlanArgs,

    /// Submission-time values of the program
    #[arg(value_name = "NAME=VALUE", value_parser = name_value)]
    values: Vec<(String, String)>,
}

/// Explains a plan, compares two, draws one, or applies one to a running job.
///
/// # Errors
/// The program has errors, or a file or an option of the plan is wrong.
pub fn run(args: PlanCommandArgs) -> Result<(), CommandFailure> {
    match args.command {
        PlanCommand::Explain(args) => explain(args),
        PlanCommand::Compare(args) => compare(args),
        PlanCommand::Draw(args) => draw(args),
        PlanCommand::Apply(args) => apply(&args),
    }
}

/// Gives a running job the settings of a plan.
fn apply(args: &PlanApplyArgs) -> Result<(), CommandFailure> {
    let text = std::fs::read_to_string(&args.plan);
    let text = text.map_err(|error| {
        CommandFailure::Program(format!("cannot read {}: {error}", args.plan.display()))
    })?;
    let job = named_job(&args.job)?;
    engine::apply_plan(&job, &text).map_err(|error| {
        let (name, number, file) = (&job.name, job.job, args.plan.display());
        let what = format!("{file} cannot be applied to the job {name} ({number}): {error}");
        CommandFailure::Program(what)
    })
}

/// Draws the plan of `--fuse cola`, or of another `--fuse`.
fn draw(mut args: PlanDrawArgs) -> Result<(), CommandFailure> {
    args.plan.fuse.get_or_insert(FuseChoice::Cola);
    let program = compile(args.program, args.values)?;
    let out = args.out.as_deref().map(OutputFile::create).transpose()?;
    let profile = take_drawn_profile(&program, &mut args.plan)?;
    let plan = plan(&program, &args.plan)?;
    let picture = drawing::svg(DrawnProgram {
        program: &program,
        plan: Some(&plan),
        profile: profile.as_ref(),
        depth: args.depth,
    });
    match out {
        Some(file) => file.write(&picture),
        None => write_stdout(&picture),
    }
}

fn compile(program: ProgramArgs, values: Vec<(String, String)>) -> Result<Program, CommandFailure> {
    let compilation = engine::compile(&program.into_request(values))?;
    write_findings(&compilation.findings);
    compilation.program.ok_or(CommandFailure::Reported)
}

/// Sets `--fuse cola`, which explaining and comparing are about.
fn set_cola(args: &mut PlanArgs) -> Result<(), CommandFailure> {
    match args.fuse.replace(FuseChoice::Cola) {
        None | Some(FuseChoice::Cola) => Ok(()),
        Some(_) => Err(CommandFailure::Usage(
            "`thalweg plan` is about plans of `--fuse cola`; leave --fuse out".to_owned(),
        )),
    }
}

fn explain(mut args: PlanExplainArgs) -> Result<(), CommandFailure> {
    set_cola(&mut args.plan)?;
    let program = compile(args.program, args.values)?;
    let inputs = PlanInputs::load(&program, &args.plan)?;
    let options = inputs.options()?;
    let FusionPolicy::Cola(optimisation) = &options.fusion else {
        return Err(CommandFailure::Program(
            "the plan is not one of `--fuse cola`".to_owned(),
        ));
    };
    let optimised = engine::optimise(&program, &options, optimisation)?;
    for note in &optimised.notes {
        output::note(note);
    }
    let explanation = engine::explain_plan(&program, &options, optimisation, &optimised)?;
    write_explanation(&explanation)
}

fn write_explanation(explanation: &PlanExplanation) -> Result<(), CommandFailure> {
    write_stdout(&explanation.to_string())
}

fn compare(mut args: PlanCompareArgs) -> Result<(), CommandFailure> {
    set_cola(&mut args.plan)?;
    let program = compile(args.program, args.values)?;
    let inputs = PlanInputs::load(&program, &args.plan)?;
    let options = inputs.options()?;
    let mut predictions = Vec::new();
    for file in [&args.one, &args.other] {
        let written = read_plan(file, &program, "")?;
        let plan = complete(&program, &options, &written)?;
        let found = engine::predict(&program, &options, inputs.profile(), &plan);
        let text = format!("{}: {}\n", file.display(), engine::prediction_text(&found));
        predictions.push((found.throughput, text));
    }
    let [(one, first), (other, second)] = &predictions[..] else {
        return Ok(());
    };
    let (faster, ratio) = match other > one {
        true => (&args.other, other / one),
        false => (&args.one, one / other),
    };
    let verdict = match one == other || ratio.is_nan() {
        true => "Both are predicted to carry the same.\n".to_owned(),
        false => format!(
            "{} is predicted to carry {ratio:.2} times as much.\n",
            faster.display()
        ),
    };
    write_stdout(&[&**first, second, &verdict].concat())
}

/// A plan's text with all that the planner adds to it.
fn complete(
    program: &Program,
    options: &PlanOptions<'_>,
    written: &Plan,
) -> Result<Plan, CommandFailure> {
    let options = PlanOptions {
        fusion: FusionPolicy::Text(written),
        ..*options
    };
    Ok(engine::plan(program, &options)?)
}
