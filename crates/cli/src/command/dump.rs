//! `thalweg dump`: what a stage makes of a program.

use engine::Request;

use super::{Failure, colour, mixed_args, plan, print, tell, toolkit_path};
use crate::args::{DumpArgs, GraphFormat, Stage};

/// Prints one stage.
pub fn dump(args: DumpArgs) -> Result<(), Failure> {
    if args.format != GraphFormat::Text && args.stage != Stage::Graph {
        return Err(Failure::Usage("--format is for --stage graph".to_owned()));
    }
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
    let text = match (args.stage, args.format) {
        (Stage::Typed, _) => engine::dump_typed(&program),
        (Stage::Graph, GraphFormat::Dot) => engine::dump_dot(&program),
        (Stage::Graph, GraphFormat::Svg) => engine::dump_svg(&program),
        (Stage::Graph, GraphFormat::Text) => engine::dump_graph(&program),
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
