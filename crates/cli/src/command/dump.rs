//! `thalweg dump`: what a stage makes of a program.

use engine::CompileRequest;

use super::{CommandFailure, colour, mixed_args, plan, toolkit_path, write_stderr, write_stdout};
use crate::args::{DumpArgs, DumpStage, GraphFormat, PlanArgs};

/// Prints one stage.
pub fn dump(args: DumpArgs) -> Result<(), CommandFailure> {
    if args.format != GraphFormat::Text && args.stage != DumpStage::Graph {
        return Err(CommandFailure::Usage(
            "--format is for --stage graph".to_owned(),
        ));
    }
    check_plan_options(args.stage, &args.plan)?;
    let request = CompileRequest {
        file: args.program.file,
        main: args.program.main,
        toolkit_path: toolkit_path(&args.program.toolkit_path),
        compile_values: args.program.define,
        mixed_args: mixed_args(args.program.mm_args),
        submission_values: Some(args.values),
    };
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
        (DumpStage::Graph, GraphFormat::Dot) => engine::dump_dot(&program, drawn.as_ref()),
        (DumpStage::Graph, GraphFormat::Svg) => engine::dump_svg(&program, drawn.as_ref()),
        (DumpStage::Graph, GraphFormat::Text) => engine::dump_graph(&program, drawn.as_ref()),
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
