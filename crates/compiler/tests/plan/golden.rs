//! Golden plans: each program of `programs/` ends with its plan, or with why there is none.
//!
//! The first line says what is chosen: `// fuse: none, transport: tcp, codec: normal, cores: 4,
//! threading: dedicated`; `fuse: text` is the plan in the file beside it. The expected lines at the
//! end begin with `//! `. `BLESS=1 cargo test -p thalweg-compiler --test plan` writes them anew.

use std::fs;
use std::path::Path;

use graph::{CrossingCodec, Plan, Program};
use planner::{FusionPolicy, PlanOptions, ThreadingPolicy, TransportPolicy};
use thalweg_compiler as compiler;

use crate::{MEDIA, support};

#[test]
fn programs_come_to_their_plans() {
    let mut failed = Vec::new();
    let folder = support::tests().join("plan/programs");
    let entries = fs::read_dir(folder).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("its entries can be read").path());
    let mut paths: Vec<_> = paths
        .filter(|p| p.extension().is_some_and(|e| e == "spl"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 8, "the programs are there");
    for path in paths {
        let text = fs::read_to_string(&path).expect("a program can be read");
        let end = text.find("\n//! ").map_or(text.len(), |at| at + 1);
        let (program, expected) = text.split_at(end);
        let found: String = plan(&path, program)
            .lines()
            .map(|line| format!("//! {line}").trim_end().to_owned() + "\n")
            .collect();
        if std::env::var_os("BLESS").is_some() {
            let text = program.to_owned() + &found;
            fs::write(&path, text).expect("a program can be written");
        } else if found != expected {
            failed.push(format!("{} comes to:\n{found}", path.display()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The plan of a program, or why there is none.
fn plan(path: &Path, text: &str) -> String {
    let name = path.file_name().expect("it has one").to_string_lossy();
    let output = compiler::compile(support::input(&name, text, None));
    let said = syntax::render(&output.diagnostics, &output.sources, false);
    let program = output.program.unwrap_or_else(|| panic!("{said}"));
    let first = text.lines().next().unwrap_or_default();
    let beside = fs::read_to_string(path.with_extension("plan")).unwrap_or_default();
    let written = match beside.is_empty() {
        true => Plan::default(),
        false => match planner::parse_plan_with_media(&beside, &program, &known_medium) {
            Ok(plan) => plan,
            Err(error) => return error.to_string(),
        },
    };
    let choice = choice(first.trim_start_matches('/').trim(), &written);
    match planner::plan(&program, &choice) {
        Ok(plan) => sound(&program, &choice, &plan),
        Err(errors) => {
            let errors: Vec<_> = errors.iter().map(|error| error.text(&program)).collect();
            errors.join("\n")
        }
    }
}

fn known_medium(name: &str, _settings: &str) -> Result<(), String> {
    planner::check_medium(name, MEDIA)
}

/// The text of a plan, which is read back and planned again.
fn sound(program: &Program, choice: &PlanOptions<'_>, plan: &Plan) -> String {
    let notes = planner::notes(program, choice, plan).into_iter();
    let notes: Vec<_> = notes.map(|note| note.text(program) + "\n").collect();
    let text = plan.display(program).to_string() + &planner::thread_comments(program, plan);
    assert_eq!(planner::check(plan, program), Ok(()));
    let again = planner::parse_plan(&text, program).expect("a plan that was printed");
    assert_eq!(again, *plan);
    let choice = PlanOptions {
        fusion: FusionPolicy::Text(&again),
        ..*choice
    };
    assert_eq!(planner::plan(program, &choice), Ok(again.clone()));
    notes.concat() + &text
}

fn choice<'a>(words: &'a str, written: &'a Plan) -> PlanOptions<'a> {
    let mut choice = PlanOptions {
        media: MEDIA,
        ..PlanOptions::default()
    };
    for pair in words.split(", ") {
        match pair.split_once(": ").unwrap_or_default() {
            ("fuse", "all") => choice.fusion = FusionPolicy::All,
            ("fuse", "spl") => choice.fusion = FusionPolicy::Spl,
            ("fuse", "none") => choice.fusion = FusionPolicy::None,
            ("fuse", "text") => choice.fusion = FusionPolicy::Text(written),
            ("threading", "dedicated") => choice.threading = ThreadingPolicy::Dedicated,
            ("threading", "automatic") => choice.threading = ThreadingPolicy::Automatic,
            ("cores", count) => choice.cores = count.parse().expect("a number"),
            ("transport", name) => choice.transport = TransportPolicy::Medium(name),
            ("codec", "normal") => choice.codec = CrossingCodec::Normal,
            _ => panic!("`{pair}` says nothing of a plan"),
        }
    }
    choice
}
