//! Graphs at random whose tuples have every type: compiled operators and those of the toolkit, with one
//! to three ports, pass tuples on whole, put them together from parts, keep and change them. Each
//! program gives what the interpreter gives, byte for byte, compiled and on plans at random.
//!
//! `THALWEG_GRAPHS=500` tries more of them, `THALWEG_GRAPHS_FROM=17` begins with another seed than 0.

mod program;
mod types;

use program::Program;

use crate::processes::media;
use crate::random::Random;
use crate::scratch::Scratch;

/// Programs, each compiled and on [`PLANS`] plans.
const PROGRAMS: u64 = 12;
const PLANS: u64 = 3;

fn asked(variable: &str, otherwise: u64) -> u64 {
    let asked = std::env::var(variable).ok();
    asked.map_or(otherwise, |count| count.parse().expect("a number"))
}

#[test]
fn what_passes_a_graph_is_what_the_interpreter_makes_of_it() {
    let from = asked("THALWEG_GRAPHS_FROM", 0);
    let scratch = Scratch::new();
    for seed in from..from + asked("THALWEG_GRAPHS", PROGRAMS) {
        let random = &mut Random::new(seed);
        let program = Program::new(random);
        let text = &program.text;
        let about = |args: &[&str]| format!("THALWEG_GRAPHS_FROM={seed}: {args:?}\n{text}");
        let expected = outcome(&scratch, &program, &["--interpret"])
            .unwrap_or_else(|error| panic!("{}{error}", about(&["--interpret"])));
        for number in 0..=PLANS {
            let plan = program.plan(random);
            let plan = scratch.write("Main.plan", &plan);
            let media: Vec<_> = media().collect();
            let medium = *random.pick(&media);
            let mut args = vec!["-F", medium];
            match number {
                0 => args.clear(),
                1 => args.extend(["--fuse", "none"]),
                _ => args.extend(["--fuse", plan.to_str().unwrap()]),
            }
            match outcome(&scratch, &program, &args) {
                Err(error) => panic!("{}{error}", about(&args)),
                Ok(found) if found != expected => {
                    let each = found.iter().zip(&expected);
                    let other = each.clone().position(|(a, b)| a != b).unwrap_or(0);
                    let plan = std::fs::read_to_string(&plan).unwrap();
                    panic!(
                        "{}{plan}{}: {}\nnot\n{}",
                        about(&args),
                        program.files[other],
                        found[other],
                        expected[other]
                    );
                }
                Ok(_) => {}
            }
        }
    }
}

/// What a program writes to its files; what it says if it fails.
fn outcome(scratch: &Scratch, program: &Program, args: &[&str]) -> Result<Vec<String>, String> {
    let run = scratch.run(&program.text, args);
    if (run.status, &*run.stderr) != (0, "") {
        return Err(format!("status {}: {}", run.status, run.stderr));
    }
    Ok(program
        .files
        .iter()
        .map(|file| scratch.read(file))
        .collect())
}
