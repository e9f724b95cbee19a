//! Mixed mode: `.splmm` files. Where there is no Perl the tests that need it say so.

use std::process::Command;

use rustix::process::Signal;

use crate::processes::{Live, Process, until};
use crate::scratch::{Run, Scratch, command, thalweg};

/// As many filters in a row as the first argument says, each for a divisor.
const MAIN: &str = r#"namespace my.app;

<%
use strict;
my $depth = $ARGV[0];
unless (defined($depth) and $depth > 0) {
    print STDERR "ERROR: give the number of filters\n";
    exit 1;
}
sub stream { my $n = shift; return $n ? "F$n" : 'In'; }
%>
composite Main {
    graph
        stream<Number> In = Beacon() {
            param
                iterations : 30;
            output
                In : n = (int32) IterationCount();
        }
<% for my $n (1..$depth) { %>
        stream<Number> <%=stream($n)%> = Filter(<%=stream($n - 1)%>) {
            param
                filter : n % <%= $n + 1 %> == 0;
        }
<% } %>
        () as Out = Custom(<%=stream($depth)%> as Last) {
            logic
                onTuple Last : {
                    println(n);
                    if (n == 12) { println(getThisLine()); }
                }
        }
}
"#;

const TYPES: &str = "namespace my.app;\n<% print \"type Number = int32 n;\\n\"; %>\n";

fn has_perl() -> bool {
    let found = Command::new("perl").arg("-e1").status().is_ok();
    if !found {
        eprintln!("there is no Perl here: not tested");
    }
    found
}

fn project(main: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("my.app/Main.splmm", main);
    scratch.write("my.app/Types.splmm", TYPES);
    scratch
}

/// Runs the command with a file of the project as its last argument.
fn with(scratch: &Scratch, args: &[&str]) -> Run {
    let file = scratch.path("my.app/Main.splmm");
    thalweg(&[args, &[file.to_str().unwrap()]].concat())
}

#[test]
fn perl_makes_the_program_of_its_arguments() {
    if !has_perl() {
        return;
    }
    let scratch = project(MAIN);
    for fuse in ["all", "none"] {
        let run = ["run", "--fuse", fuse, "--mm-args", "2 unused"];
        assert_eq!(with(&scratch, &run).ok(), "0\n6\n12\n30\n18\n24\n");
        let run = ["run", "--fuse", fuse, "--mm-args", "3", "--interpret"];
        assert_eq!(with(&scratch, &run).ok(), "0\n12\n30\n24\n");
    }
    with(&scratch, &["check", "--mm-args", "1"]).ok();
    let source = with(&scratch, &["dump", "--mm-args=2", "--stage", "source"]).ok();
    assert!(
        source.contains("stream<Number> F2 = Filter(F1) {"),
        "{source}"
    );
    let graph = with(&scratch, &["dump", "--mm-args=2", "--stage", "graph"]).ok();
    assert!(graph.contains("F2"), "{graph}");
    with(&scratch, &["dump", "--mm-args=2", "--stage", "tokens"]).ok();
}

#[test]
fn what_perl_says_is_said_of_the_lines_of_the_file() {
    if !has_perl() {
        return;
    }
    let scratch = project(MAIN);
    for command in [&["run"][..], &["check"], &["dump", "--stage", "tree"]] {
        let said = with(&scratch, command).fails(1);
        let first = "error[mixed-mode]: Perl: ERROR: give the number of filters\n";
        assert!(said.starts_with(first), "{said}");
        assert!(said.contains("Main.splmm:8:5\n"), "{said}");
        assert_eq!(said.matches("error[").count(), 1, "{said}");
    }
    let wrong = MAIN.replace("my $depth =", "my $depth");
    let said = with(&project(&wrong), &["check"]).fails(1);
    assert!(said.starts_with("error[mixed-mode]: Perl: "), "{said}");
    assert!(said.contains("Main.splmm:5:1\n"), "{said}");
}

/// Errors of SPL and faults of the running program name the lines of the file too.
#[test]
fn errors_and_faults_name_the_lines_of_the_file() {
    if !has_perl() {
        return;
    }
    let wrong = project(&MAIN.replace("== 0;", "== 0l;"));
    let said = with(&wrong, &["check", "--mm-args", "2"]).fails(1);
    assert!(said.contains("Main.splmm:23:"), "{said}");
    assert!(
        said.contains("\n 23 |                 filter : n % 3 == 0l;\n"),
        "{said}"
    );
    let json = with(&wrong, &["check", "--json", "--mm-args", "1"]);
    assert!(json.stdout.contains("\"line\": 23"), "{}", json.stdout);
    let faulty = project(&MAIN.replace("println(n);", "println(1 / (n - 6));"));
    for fuse in ["all", "none"] {
        let run = with(&faulty, &["run", "--fuse", fuse, "--mm-args", "2"]);
        let said = run.fails(1);
        assert!(said.contains("Main.splmm:29:"), "{said}");
    }
}

#[test]
fn toolkits_may_have_files_of_mixed_mode() {
    if !has_perl() {
        return;
    }
    let scratch = Scratch::new();
    let main = "use kit::*;\ncomposite Main { graph stream<int32 n> A = Made() {}\n\
        () as Out = Custom(A) { logic onTuple A : println(n); } }";
    let main = scratch.write("app/Main.spl", main);
    scratch.write(
        "kit/kit/Made.splmm",
        "namespace kit;\npublic composite Ma<%= 'de' %>(output Out) {\n\
        graph stream<int32 n> Out = Beacon() { param iterations : <%= $ARGV[0] %>; } }\n",
    );
    scratch.write(
        "kit/kit/Broken.splmm",
        "namespace kit;\n<% die 'never'; %>\n",
    );
    let toolkit = scratch.path("kit");
    let (main, toolkit) = (main.to_str().unwrap(), toolkit.to_str().unwrap());
    for fuse in ["all", "none"] {
        let args = ["run", "--fuse", fuse, "-t", toolkit, "--mm-args", "2", main];
        assert_eq!(thalweg(&args).ok(), "0\n0\n");
    }
    // What keeps a name from being known is said where one is missing.
    let args = ["check", "-t", toolkit, "--mm-args", "x", main];
    let said = thalweg(&args).fails(1);
    assert!(said.contains("Made.splmm:3:"), "{said}");
    scratch.write("kit/kit/Made.splmm", "namespace kit;\n<% die 'now'; %>\n");
    let said = thalweg(&args).fails(1);
    assert!(said.contains("there is no operator `Made`"), "{said}");
    for reason in ["Perl: now", "Perl: never"] {
        let warning = format!("warning[mixed-mode]: {reason}\n");
        assert!(said.contains(&warning), "{said}");
    }
}

/// A program without mixed mode runs no code of the files beside it.
#[test]
fn code_runs_only_where_it_is_needed() {
    let scratch = Scratch::new();
    let main = "composite Main { graph stream<int32 n> A = Beacon() { param iterations : 1; }\n\
        () as Out = Custom(A) { logic onTuple A : println(n); } }";
    let main = scratch.write("Main.spl", main);
    let ran = scratch.path("ran");
    let code = format!("<% open(my $f, '>', '{}'); %>\n", ran.display());
    scratch.write("Other.splmm", code);
    assert_eq!(thalweg(&["run", main.to_str().unwrap()]).ok(), "0\n");
    let wrong = scratch.write(
        "Wrong.spl",
        "composite Wrong { graph stream<int32 n> A = Beacon() }",
    );
    thalweg(&["run", wrong.to_str().unwrap()]).fails(1);
    assert!(!ran.exists());
}

#[test]
fn without_perl_one_error_says_what_is_missing() {
    let scratch = project(MAIN);
    let file = scratch.path("my.app/Main.splmm");
    let mut command = command(&["run", "--mm-args", "2", file.to_str().unwrap()]);
    let run: Run = command
        .env("PATH", scratch.path(""))
        .output()
        .unwrap()
        .into();
    let said = run.fails(1);
    let first =
        "error[mixed-mode]: this file is SPL with Perl in it, and there is no `perl` to run\n";
    assert!(said.starts_with(first), "{said}");
    assert!(said.ends_with("\n1 error\n"), "{said}");
}

/// Perl has a process group of its own, which no signal for the command reaches.
#[test]
fn perl_ends_with_the_command() {
    if !has_perl() {
        return;
    }
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let scratch = Scratch::new();
        let runs = scratch.path("runs");
        // By itself it would go on for longer than a test waits.
        let code = "alarm(600); open(my $f, '>', $ARGV[0]); while (1) {}";
        let file = scratch.write("Main.splmm", format!("<% {code} %>\n"));
        let live = Live::start(
            &scratch,
            &[
                "check",
                "--mm-args",
                runs.to_str().unwrap(),
                file.to_str().unwrap(),
            ],
        );
        until("Perl runs", || runs.exists());
        let children = live.children();
        assert_eq!(children.len(), 1, "{children:?}");
        live.signal(signal);
        live.end();
        children.iter().for_each(Process::is_gone);
    }
}

#[test]
fn fmt_says_that_it_takes_no_mixed_mode() {
    let scratch = project(MAIN);
    let said = with(&scratch, &["fmt"]).fails(1);
    assert!(
        said.contains("it is Perl and SPL; format `.spl` files"),
        "{said}"
    );
}
