//! Right programs: each file of `right/` comes to the graph and the plan beside it.
//!
//! `BLESS=1 cargo test -p thalweg-compiler --test right` writes the expected files anew.

mod support;

use std::fs;
use std::path::PathBuf;

use planner::PlanOptions;
use support::{input, tests};
use thalweg_compiler as compiler;

#[test]
fn right_programs_come_to_their_graphs() {
    let mut failed = Vec::new();
    for path in programs() {
        let text = fs::read_to_string(&path).expect("a program can be read");
        let name = path
            .file_name()
            .expect("a file has a name")
            .to_string_lossy();
        let output = compiler::compile(input(&name, &text, None));
        let said = syntax::render(&output.diagnostics, &output.sources, false);
        let Some(program) = output.program else {
            failed.push(format!("{} is refused:\n{said}", path.display()));
            continue;
        };
        let plan = planner::plan(&program, &PlanOptions::default()).expect("a plan");
        let natives = toolkit::functions().iter();
        let natives: Vec<&str> = natives.map(|native| native.prototype).collect();
        let (graph, plan) = (
            program.display_with_natives(&natives),
            plan.display(&program).to_string() + &planner::thread_comments(&program, &plan),
        );
        let found = format!("{said}{graph}\n{plan}");
        let beside = path.with_extension("graph");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&beside, found).expect("the expected file can be written");
        } else if fs::read_to_string(&beside).unwrap_or_default() != found {
            failed.push(format!("{} differs; it is now:\n{found}", beside.display()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn the_examples_are_right() {
    let folder = tests().join("../../../examples");
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("its entries can be read").path();
        let files = fs::read_dir(&path).into_iter().flatten().flatten();
        let is_program = |file: &fs::DirEntry| file.path().extension().is_some_and(|e| e == "spl");
        // The queries of NEXMark share files, and are compiled by the tests of the command.
        for file in files
            .filter(is_program)
            .filter(|_| !path.ends_with("nexmark"))
        {
            let text = fs::read_to_string(file.path()).expect("a program can be read");
            let name = file.file_name().to_string_lossy().into_owned();
            let output = compiler::compile(input(&name, &text, None));
            let said = syntax::render(&output.diagnostics, &output.sources, false);
            assert!(!output.has_errors(), "{said}");
            let program = output.program.expect("it has no errors");
            println!("{name}: {} operators\n{said}", program.operators.len());
        }
    }
}

fn programs() -> Vec<PathBuf> {
    let entries = fs::read_dir(tests().join("right")).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("its entries can be read").path());
    let mut programs: Vec<_> = paths
        .filter(|p| p.extension().is_some_and(|e| e == "spl"))
        .collect();
    programs.sort();
    assert!(programs.len() > 10, "the right programs are there");
    programs
}
