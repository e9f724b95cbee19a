//! `thalweg dump`: what a stage makes of a program.

use clap::{Args as ClapArgs, ValueEnum};
use engine::CompileRequest;

use crate::drawing;
use crate::failure::CommandFailure;
use crate::output::{colour, write_stderr, write_stdout};
use crate::program::{PlanArgs, ProgramArgs, name_value, plan};

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
    #[arg(value_name = "NAME=VALUE", value_parser = name_value)]
    pub values: Vec<(String, String)>,
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

/// Prints one stage.
pub fn run(args: DumpArgs) -> Result<(), CommandFailure> {
    if args.format != GraphFormat::Text && args.stage != DumpStage::Graph {
        return Err(CommandFailure::Usage(
            "--format is for --stage graph".to_owned(),
        ));
    }
    check_plan_options(args.stage, &args.plan)?;
    let request = args.program.into_request(args.values);
    if let DumpStage::Source | DumpStage::Tokens | DumpStage::Tree = args.stage {
        return print_text(&request, args.stage);
    }
    let compilation = engine::compile(&request)?;
    write_stderr(&compilation.findings.to_text(colour()));
    let Some(program) = compilation.program else {
        return Err(CommandFailure::Reported);
    };
    // The graph is drawn as the compiler has it, unless something is said of its processes.
    let drawn = match (args.stage, args.plan.first_graph_option()) {
        (DumpStage::Graph, Some(_)) => Some(plan(&program, &args.plan)?),
        _ => None,
    };
    let text = match (args.stage, args.format) {
        (DumpStage::Typed, _) => engine::dump_typed(&program),
        (DumpStage::Graph, GraphFormat::Dot) => drawing::dot(&program, drawn.as_ref()),
        (DumpStage::Graph, GraphFormat::Svg) => drawing::svg(&program, drawn.as_ref()),
        (DumpStage::Graph, GraphFormat::Text) => drawing::text(&program, drawn.as_ref()),
        (DumpStage::Plan, _) => engine::dump_plan(&program, &plan(&program, &args.plan)?),
        (DumpStage::Clif, _) => engine::dump_clif(&program)?,
        _ => engine::dump_asm(&program)?,
    };
    write_stdout(&text)
}

/// Prints the text of the file, or what the parser makes of it.
fn print_text(request: &CompileRequest, stage: DumpStage) -> Result<(), CommandFailure> {
    let (text, findings) = engine::source_text(&request.file, &request.mixed_args)?;
    write_stderr(&findings.to_text(colour()));
    if findings.has_errors() {
        return Err(CommandFailure::Reported);
    }
    write_stdout(&match stage {
        DumpStage::Source => text,
        DumpStage::Tokens => engine::dump_tokens(&text),
        _ => engine::dump_tree(&text),
    })
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
