//! Random plans of generated programs, which keep the programs' placements.

use std::fmt::Write;

use ::nexmark::Random;

use super::generated_program::GeneratedProgram;

/// Most processes of a random plan.
const MOST_PROCESSES: u64 = 4;

/// The text of the plan with that number: 2 to 4 processes, whose operators are neighbours in half
/// of the plans, and any in the others.
pub fn random_plan(program: &GeneratedProgram, seed: u64, number: u32) -> String {
    let mut random = Random::of(seed, u64::from(number) + (1 << 40));
    let processes = random.below(MOST_PROCESSES - 1) + 2;
    let count = program.operators.len();
    let are_neighbours = random.below(2) == 0;
    let mut process_of: Vec<u64> = (0..count).map(|_| random.below(processes)).collect();
    if are_neighbours {
        process_of.sort_unstable();
    }
    for &(one, other) in &program.together {
        process_of[other] = process_of[one];
    }
    for &(one, other) in &program.apart {
        // A placed operator has one partner only, so this undoes nothing.
        if process_of[one] == process_of[other] {
            process_of[other] = (process_of[one] + 1) % processes;
        }
    }
    let mut used: Vec<u64> = process_of.clone();
    used.sort_unstable();
    used.dedup();
    let mut text = "plan Generated\n".to_owned();
    for (pe, process) in used.iter().enumerate() {
        let _ = write!(text, "pe {pe}\n  operators");
        let operators = program.operators.iter().zip(&process_of);
        for (name, _) in operators.filter(|(_, of)| *of == process) {
            let _ = write!(text, " {name}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::generated_program::generate;
    use super::*;

    #[test]
    fn plans_name_each_operator_once_and_keep_placements() {
        for seed in 0..50 {
            let program = generate(seed, 15);
            let text = random_plan(&program, seed, 3);
            let lines = text.lines().filter(|line| line.starts_with("  operators"));
            let processes: Vec<Vec<&str>> = lines
                .map(|line| line.split_whitespace().skip(1).collect())
                .collect();
            let named: usize = processes.iter().map(Vec::len).sum();
            assert_eq!(named, program.operators.len());
            let process_of = |at: usize| {
                let name = program.operators[at].as_str();
                processes.iter().position(|names| names.contains(&name))
            };
            for &(one, other) in &program.together {
                assert_eq!(process_of(one), process_of(other), "{text}");
            }
            for &(one, other) in &program.apart {
                assert_ne!(process_of(one), process_of(other), "{text}");
            }
        }
    }
}
