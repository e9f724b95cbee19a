//! The `thalweg` command: compiles, runs, checks, formats and monitors SPL programs.
//!
//! Parses the command line, calls the sub-command's file in `command`, and turns its result into an
//! exit status: 0 for success, 1 for a failure of the program, 2 for wrong usage.

mod command;
mod drawing;
mod failure;
mod file_search;
mod output;
mod output_file;
mod program;
mod progress_line;
mod signals;
mod terminal;
mod terminal_events;
mod testing;
mod text_table;

use std::process::ExitCode;

use clap::{ColorChoice, CommandFactory, Parser, Subcommand};
use command::{
    bench, calibrate, check, completions, doc, dump, explain, fmt, lsp, man, medium, new, pe, perf,
    plan, profile, run, tap, test, top,
};
use failure::CommandFailure;
use output::MessageStyle;

/// Compile and run stream programs written in SPL
#[derive(Debug, Parser)]
#[command(name = "thalweg", version, max_term_width = 100)]
struct CommandLine {
    /// The sub-command to run.
    #[command(subcommand)]
    command: CliCommand,

    /// When messages are coloured; `auto`: if a terminal reads them that understands colours, and
    /// NO_COLOR is not set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,

    /// Write errors only: no warnings, no notes, no progress line
    #[arg(short = 'q', long, global = true)]
    quiet: bool,
}

/// Sub-commands with their arguments; a doc here is the sub-command's help text.
#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Compile a program and run it until its sources end
    Run(run::RunArgs),
    /// Report errors and warnings in programs, without running them
    Check(check::CheckArgs),
    /// Run the tests beside programs, `NAME.test.toml`
    Test(test::TestCommandArgs),
    /// Write programs in the canonical layout, in place; with --check or --stdout they stay as they
    /// are
    Fmt(fmt::FmtArgs),
    /// Describe an operator, a function, a type or a topic; without a name, list all of them
    Doc(doc::DocArgs),
    /// Explain the code of an error or a warning; without a code, list all
    Explain(explain::ExplainArgs),
    /// Print what a stage of the compiler makes of a program
    Dump(dump::DumpArgs),
    /// Explain the plan that the optimiser finds for a program, compare two plans, or draw one
    Plan(plan::PlanCommandArgs),
    /// Serve an editor: the language server, over standard input and output
    Lsp(lsp::LspArgs),
    /// Show the running jobs: rates, queues, latencies, and who waits for whom
    Top(top::TopArgs),
    /// Print tuples of a stream of a running job, as they pass
    Tap(tap::TapArgs),
    /// Measure how fast streams are on this machine, beside raw controls
    Bench(bench::BenchArgs),
    /// Measure once what tuples cost on each medium of this machine, for plans
    Calibrate(calibrate::CalibrateArgs),
    /// List the media that streams cross processes on, or test a library that is one
    Medium(medium::MediumArgs),
    /// Merge profiles that `run --profile` has written
    Profile(profile::ProfileArgs),
    /// Create a small project that runs
    New(new::NewArgs),
    /// Measure rates and latencies of one-to-many shared memory, as smx_perf does
    Perf(perf::PerfArgs),
    /// Print the completions of this command for a shell
    Completions(completions::CompletionsArgs),
    /// Print the manual page of this command or a sub-command, or write all of them
    Man(man::ManArgs),
}

fn main() -> ExitCode {
    signals::ignore_file_size_signal();
    if is_pe() {
        return exit_code(pe::run());
    }
    let args = match CommandLine::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version are no errors, and go to standard output.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    output::set_message_style(MessageStyle {
        color: args.color,
        quiet: args.quiet,
    });
    let outcome = engine::with_deep_stack(|| execute(args.command));
    exit_code(outcome.map_err(Into::into).flatten())
}

/// Whether the launcher of a job has started this process as one of its PEs: `thalweg pe NUMBER
/// JOB`. The number and the job are for readers of the process list. `pe` is no sub-command of the
/// command line, because clap would list it and propose it for similar words.
fn is_pe() -> bool {
    std::env::args_os().nth(1).is_some_and(|word| word == "pe")
}

/// Reports a failure, and returns the exit status of an outcome.
fn exit_code(outcome: Result<(), CommandFailure>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(CommandFailure::Reported) => ExitCode::from(1),
        Err(CommandFailure::Program(message)) => {
            output::write_stderr(&format!("thalweg: {message}\n"));
            ExitCode::from(1)
        }
        Err(CommandFailure::Usage(message)) => {
            output::write_stderr(&format!("thalweg: {message}\n"));
            ExitCode::from(2)
        }
    }
}

/// Runs a sub-command with its arguments.
fn execute(command: CliCommand) -> Result<(), CommandFailure> {
    match command {
        CliCommand::Run(args) => run::run(args),
        CliCommand::Check(args) => check::run(args),
        CliCommand::Test(args) => test::run(args),
        CliCommand::Fmt(args) => fmt::run(args),
        CliCommand::Doc(args) => doc::run(args),
        CliCommand::Explain(args) => explain::run(args),
        CliCommand::Dump(args) => dump::run(args),
        CliCommand::Plan(args) => plan::run(args),
        CliCommand::Bench(args) => bench::run(args),
        CliCommand::Calibrate(args) => calibrate::run(args),
        CliCommand::Medium(args) => medium::run(args),
        CliCommand::Profile(args) => profile::run(args),
        CliCommand::Lsp(args) => lsp::run(args),
        CliCommand::New(args) => new::run(args),
        CliCommand::Top(args) => top::run(args),
        CliCommand::Tap(args) => tap::run(args),
        CliCommand::Perf(args) => perf::run(args),
        CliCommand::Completions(args) => completions::run(args, CommandLine::command()),
        CliCommand::Man(args) => man::run(args, CommandLine::command()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{Arg, Command};

    use super::*;

    const PAGE: &str = include_str!("../../../docs/commands.md");

    /// Sub-commands that have their options from another binary.
    const PASSED_ON: &[&str] = &["bench", "calibrate", "medium check", "perf"];

    /// The names of an option as they are written: `-M`, `--main`.
    fn names(option: &Arg) -> Vec<String> {
        let short = option.get_short().map(|short| format!("-{short}"));
        let long = option.get_long().map(|long| format!("--{long}"));
        short.into_iter().chain(long).collect()
    }

    /// The sub-commands that have none of their own, by their names as they are written.
    fn leaves<'c>(command: &'c Command, prefix: &str) -> Vec<(String, &'c Command)> {
        let subs = command.get_subcommands().flat_map(|sub| {
            let name = format!("{prefix}{}", sub.get_name());
            match sub.has_subcommands() {
                true => leaves(sub, &format!("{name} ")),
                false => vec![(name, sub)],
            }
        });
        subs.collect()
    }

    fn options(command: &Command) -> impl Iterator<Item = &Arg> {
        let options = command.get_arguments().filter(|arg| !arg.is_positional());
        options.filter(|option| option.get_id() != "help")
    }

    /// The default of an option: a value of clap's, or a word in its help.
    fn default_value(option: &Arg) -> Option<String> {
        let help = option.get_help().map(ToString::to_string);
        let help = help.unwrap_or_default();
        let said = help.split_once("[default: ").map(|(_, said)| said);
        let said = said
            .and_then(|said| said.split_once(']'))
            .map(|(word, _)| word);
        let takes_values = option.get_action().takes_values();
        let defaults = option.get_default_values().iter().filter(|_| takes_values);
        let given = defaults.map(|value| value.to_string_lossy().into_owned());
        let said = said.filter(|word| !word.contains(' ')).map(str::to_owned);
        given.chain(said).next()
    }

    /// The options that a text names.
    fn named(text: &str) -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let is_option = |word: &&str| word.starts_with('-') && word.contains(char::is_alphanumeric);
        words.filter(is_option).map(str::to_owned).collect()
    }

    /// The rows of the tables behind a heading, split into cells, without their heads.
    fn rows<'p>(heading: &str) -> impl Iterator<Item = Vec<&'p str>> {
        let (_, behind) = PAGE.split_once(heading).expect("the page has the heading");
        let section = behind.split("\n## ").next().unwrap_or_default();
        let rows = section.lines().filter(|line| line.starts_with("| `"));
        rows.map(|row| row[2..].split("| ").map(str::trim).collect())
    }

    #[test]
    fn the_page_lists_the_options_of_run_with_their_defaults() {
        let command = CommandLine::command();
        let run = command.find_subcommand("run").expect("a sub-command");
        let mut listed = BTreeSet::new();
        for row in rows("\n## Options of run\n") {
            let of_row = named(row[0]);
            let is_it = |option: &&Arg| names(option).iter().any(|name| of_row.contains(name));
            if let Some(option) = options(run).find(is_it) {
                let default = default_value(option).map(|value| format!("`{value}`"));
                assert!(default.is_none_or(|value| row[1] == value), "{row:?}");
                let values = option.get_possible_values().into_iter();
                let mut values = values.map(|value| value.get_name().to_owned());
                let lists_values = row[0].contains("\\|");
                assert!(
                    !lists_values || values.all(|value| row[0].contains(&value)),
                    "{row:?}"
                );
            }
            listed.extend(of_row);
        }
        let there: BTreeSet<_> = options(run).flat_map(names).collect();
        assert_eq!(listed, there);
    }

    #[test]
    fn the_page_lists_the_options_of_the_other_commands() {
        let of_run: BTreeSet<_> = rows("\n## Options of run\n")
            .flat_map(|row| named(row[0]))
            .collect();
        let command = CommandLine::command();
        let others = leaves(&command, "");
        let others = others.into_iter().filter(|(name, _)| {
            name != "run" && !name.ends_with("help") && !PASSED_ON.contains(&&**name)
        });
        for (name, sub) in others {
            let begin = format!("`thalweg {name}");
            let mut own = rows("# The command\n").filter(|row| row[0].starts_with(&begin));
            let row = own.next().expect(&begin).join(" ");
            let listed = named(&row);
            let there: BTreeSet<_> = options(sub).flat_map(names).collect();
            assert!(listed.is_subset(&there), "{row}");
            for option in options(sub) {
                let names = names(option);
                let is_listed = |name: &String| listed.contains(name) || of_run.contains(name);
                assert!(names.iter().any(is_listed), "{row} lacks {names:?}");
            }
        }
    }
}
