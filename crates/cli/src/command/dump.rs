//! `thalweg dump`: what a stage makes of a program.

use engine::Request;

use super::{Failure, colour, mixed_args, plan, print, tell, toolkit_path};
use crate::args::{DumpArgs, GraphFormat, PlanArgs, Stage};

/// Prints one stage.
pub fn dump(args: DumpArgs) -> Result<(), Failure> {
    if args.format != GraphFormat::Text && args.stage != Stage::Graph {
        return Err(Failure::Usage("--format is for --stage graph".to_owned()));
    }
    check_plan_options(args.stage, &args.plan)?;
    let request = Request {
        file: args.program.file,
        main: args.program.main,
        toolkit_path: toolkit_path(&args.program.toolkit_path),
        compile_values: args.program.define,
        mixed_args: mixed_args(args.program.mm_args),
        submission_values: Some(args.values),
    };
    if let Stage::Source | Stage::Tokens | Stage::Tree = args.stage {
        return print_text(&request, args.stage);
    }
    let compilation = engine::compile(&request)?;
    tell(&compilation.findings.text(colour()));
    let Some(program) = compilation.program else {
        return Err(Failure::Reported);
    };
    // The graph is drawn as the compiler has it, unless something is said of its processes.
    let drawn = match (args.stage, args.plan.drawn()) {
        (Stage::Graph, Some(_)) => Some(plan(&program, &args.plan)?),
        _ => None,
    };
    let text = match (args.stage, args.format) {
        (Stage::Typed, _) => engine::dump_typed(&program),
        (Stage::Graph, GraphFormat::Dot) => engine::dump_dot(&program, drawn.as_ref()),
        (Stage::Graph, GraphFormat::Svg) => engine::dump_svg(&program, drawn.as_ref()),
        (Stage::Graph, GraphFormat::Text) => engine::dump_graph(&program, drawn.as_ref()),
        (Stage::Plan, _) => engine::dump_plan(&program, &plan(&program, &args.plan)?),
        (Stage::Clif, _) => engine::dump_clif(&program)?,
        _ => engine::dump_asm(&program)?,
    };
    print(&text)
}

/// Prints the text of the file, or what the parser makes of it.
fn print_text(request: &Request, stage: Stage) -> Result<(), Failure> {
    let (text, findings) = engine::source_text(&request.file, &request.mixed_args)?;
    tell(&findings.text(colour()));
    if findings.has_errors() {
        return Err(Failure::Reported);
    }
    print(&match stage {
        Stage::Source => text,
        Stage::Tokens => engine::dump_tokens(&text),
        _ => engine::dump_tree(&text),
    })
}

/// Refuses options of the plan for a stage on which they have no effect.
fn check_plan_options(stage: Stage, args: &PlanArgs) -> Result<(), Failure> {
    let (drawn, not_drawn) = (args.drawn(), args.not_drawn());
    let refused = match stage {
        Stage::Plan => None,
        Stage::Graph => not_drawn.map(|option| (option, "--stage plan")),
        _ => not_drawn
            .map(|option| (option, "--stage plan"))
            .or(drawn.map(|option| (option, "--stage plan and --stage graph"))),
    };
    match refused {
        None => Ok(()),
        Some((option, stages)) => Err(Failure::Usage(format!(
            "{option} has no effect on this stage; it is for {stages}"
        ))),
    }
}
