//! `thalweg dump`: a program as a stage of the compiler makes it.

use clap::{Args as ClapArgs, ValueEnum};
use engine::{CompileRequest, Program};

use crate::drawing::{self, DrawnProgram};
use crate::failure::CommandFailure;
use crate::output::{write_findings, write_stdout};
use crate::program::{PlanArgs, ProgramArgs, name_value, plan, take_drawn_profile};

/// Arguments of `thalweg dump`.
#[derive(Debug, ClapArgs)]
pub struct DumpArgs {
    /// Arguments of the program.
    #[command(flatten)]
    pub program: ProgramArgs,

    /// Options of the plan.
    #[command(flatten)]
    pub plan: PlanArgs,

    /// The stage to print
    #[arg(short, long, value_name = "STAGE")]
    pub stage: DumpStage,

    /// The format of the graph, with --stage graph
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: GraphFormat,

    /// Draw composites within this many others as one box each, with --format svg
    #[arg(long, value_name = "LEVELS")]
    pub depth: Option<usize>,

    /// Submission-time values of the program
    #[arg(value_name = "NAME=VALUE", value_parser = name_value)]
    pub values: Vec<(String, String)>,
}

/// Stages that can be printed, in the order of compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DumpStage {
    /// The text of the file, as mixed mode generates it
    Source,
    /// The tokens of the text
    Tokens,
    /// The lossless syntax tree of the text
    Tree,
    /// The definitions of all files: kind, name, file and line
    Symbols,
    /// The operator instances with their ports, before they are connected
    Instances,
    /// The operators and functions with typed expressions
    Typed,
    /// The operators and the streams between them
    Graph,
    /// The processes, threads and media
    Plan,
    /// Cranelift's intermediate code of everything that is compiled
    Clif,
    /// The machine code of everything that is compiled
    Asm,
}

/// Formats in which a graph can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// A paragraph for each operator
    Text,
    /// The language of Graphviz
    Dot,
    /// A picture for browsers
    Svg,
}

/// Prints one stage of a program.
pub fn run(mut args: DumpArgs) -> Result<(), CommandFailure> {
    if args.format != GraphFormat::Text && args.stage != DumpStage::Graph {
        return Err(CommandFailure::Usage(
            "--format is for --stage graph".to_owned(),
        ));
    }
    if args.depth.is_some() && args.format != GraphFormat::Svg {
        return Err(CommandFailure::Usage(
            "--depth is for --stage graph --format svg".to_owned(),
        ));
    }
    check_plan_options(args.stage, &args.plan)?;
    let request = args.program.into_request(args.values);
    if let DumpStage::Source | DumpStage::Tokens | DumpStage::Tree = args.stage {
        return print_text(&request, args.stage);
    }
    if let DumpStage::Symbols | DumpStage::Instances = args.stage {
        return print_stage(&request, args.stage);
    }
    let compilation = engine::compile(&request)?;
    write_findings(&compilation.findings);
    let Some(program) = compilation.program else {
        return Err(CommandFailure::Reported);
    };
    let text = match args.stage {
        DumpStage::Typed => engine::dump_typed(&program),
        DumpStage::Graph => graph(&program, &mut args.plan, (args.format, args.depth))?,
        DumpStage::Plan => engine::dump_plan(&program, &plan(&program, &args.plan)?),
        DumpStage::Clif => engine::dump_clif(&program)?,
        _ => engine::dump_asm(&program)?,
    };
    write_stdout(&text)
}

/// Draws the graph: without a plan unless an option changes the processes.
fn graph(
    program: &Program,
    args: &mut PlanArgs,
    (format, depth): (GraphFormat, Option<usize>),
) -> Result<String, CommandFailure> {
    let profile = take_drawn_profile(program, args)?;
    let plan = match args.first_graph_option() {
        Some(_) => Some(plan(program, args)?),
        None => None,
    };
    let drawn = DrawnProgram {
        program,
        plan: plan.as_ref(),
        profile: profile.as_ref(),
        depth,
    };
    Ok(match format {
        GraphFormat::Dot => drawing::dot(drawn),
        GraphFormat::Svg => drawing::svg(drawn),
        GraphFormat::Text => drawing::text(drawn),
    })
}

/// Prints the text, the tokens or the syntax tree of the file.
fn print_text(request: &CompileRequest, stage: DumpStage) -> Result<(), CommandFailure> {
    let (text, findings) = engine::source_text(&request.file, &request.mixed_args)?;
    write_findings(&findings);
    if findings.has_errors() {
        return Err(CommandFailure::Reported);
    }
    write_stdout(&match stage {
        DumpStage::Source => text,
        DumpStage::Tokens => engine::dump_tokens(&text),
        _ => engine::dump_tree(&text),
    })
}

/// Prints what the compiler makes on the way to the program.
fn print_stage(request: &CompileRequest, stage: DumpStage) -> Result<(), CommandFailure> {
    let (text, findings) = match stage {
        DumpStage::Symbols => engine::dump_symbols(request)?,
        _ => engine::dump_instances(request)?,
    };
    write_findings(&findings);
    match text {
        Some(text) => write_stdout(&text),
        None => Err(CommandFailure::Reported),
    }
}

/// Refuses options of the plan for a stage on which they have no effect.
fn check_plan_options(stage: DumpStage, args: &PlanArgs) -> Result<(), CommandFailure> {
    let (drawn, not_drawn) = (args.first_graph_option(), args.first_text_option());
    let refused = match stage {
        DumpStage::Plan => None,
        DumpStage::Graph => not_drawn.map(|option| (option, "--stage plan")),
        _ => not_drawn
            .map(|option| (option, "--stage plan"))
            .or(drawn.map(|option| (option, "--stage plan and --stage graph"))),
    };
    match refused {
        None => Ok(()),
        Some((option, stages)) => Err(CommandFailure::Usage(format!(
            "{option} has no effect on this stage; it is for {stages}"
        ))),
    }
}
