//! Options of every command, and commands about the command: colours, quiet, warnings as errors,
//! programs from standard input, folders of programs, completions and manual pages.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::scratch::{Run, Scratch, command, thalweg};

/// A program with a warning: a value of this name is not asked for.
const PROGRAM: &str = r#"composite Main {
    graph
        stream<int32 n> Numbers = Beacon() { param iterations : 1; }
        () as Printer = Custom(Numbers) { logic onTuple Numbers : println(n); }
}
"#;

const WRONG: &str = "composite Wrong { graph stream<int32 n> A = Beacn() {} }\n";

fn with_input(mut command: Command, input: &str) -> Run {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    child.wait_with_output().unwrap().into()
}

#[test]
fn colours_are_there_when_asked_for_alone() {
    let scratch = Scratch::new();
    let file = scratch.write("Wrong.spl", WRONG);
    let file = file.to_str().unwrap();
    for (options, coloured) in [
        (&[][..], false),
        (&["--color", "never"], false),
        (&["--color", "auto"], false),
        (&["--color", "always"], true),
    ] {
        let stderr = thalweg(&[&["check", file], options].concat()).fails(1);
        assert_eq!(stderr.contains("\x1b["), coloured, "{options:?}");
        assert!(stderr.contains("there is no operator `Beacn`"), "{stderr}");
    }
    let mut refused = command(&["--color", "always", "check", file]);
    let output: Run = refused.env("NO_COLOR", "1").output().unwrap().into();
    assert!(output.fails(1).contains("\x1b["));
}

#[test]
fn quiet_leaves_errors_alone() {
    let scratch = Scratch::new();
    let file = scratch.write("Main.spl", PROGRAM);
    let file = file.to_str().unwrap();
    let loud = thalweg(&["run", file, "some=1"]);
    assert!(loud.stderr.contains("warning[unused-value]"));
    let quiet = thalweg(&["run", "-q", file, "some=1"]);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("0\n", ""));
    let wrong = scratch.write("Wrong.spl", WRONG);
    let stderr = thalweg(&["--quiet", "check", wrong.to_str().unwrap()]).fails(1);
    assert!(stderr.ends_with("\n1 error\n"), "{stderr}");
}

#[test]
fn warnings_are_errors_when_asked_for() {
    let scratch = Scratch::new();
    let file = scratch.write("Main.spl", PROGRAM);
    let file = file.to_str().unwrap();
    assert_eq!(thalweg(&["run", file, "some=1"]).ok(), "0\n");
    let refused = thalweg(&["run", "-W", "error", file, "some=1"]);
    assert_eq!(refused.stdout, "");
    let stderr = refused.fails(1);
    assert!(stderr.starts_with("error[unused-value]"), "{stderr}");
    assert!(
        stderr.ends_with("\n1 error (1 warning made an error)\n"),
        "{stderr}"
    );
    assert_eq!(thalweg(&["run", "--warnings", "error", file]).ok(), "0\n");
}

#[test]
fn a_program_may_come_from_standard_input() {
    for plan in [&[][..], &["--fuse", "none"], &["--interpret"]] {
        let run = with_input(command(&[&["run", "-"], plan].concat()), PROGRAM);
        assert_eq!(run.ok(), "0\n", "{plan:?}");
    }
    let stderr = with_input(command(&["check", "-"]), WRONG).fails(1);
    assert!(stderr.contains("--> standard input:1:"), "{stderr}");
    let typed = with_input(command(&["dump", "--stage", "typed", "-"]), PROGRAM).ok();
    assert!(typed.contains("spl.utility::Beacon()"), "{typed}");
}

#[test]
fn a_folder_stands_for_the_programs_below_it() {
    let scratch = Scratch::new();
    scratch.write("Main.spl", PROGRAM);
    scratch.write("below/Wrong.spl", WRONG);
    scratch.write("below/.hidden/Wrong.spl", WRONG);
    scratch.write("below/notes.txt", "composite");
    let folder = scratch.path("");
    let folder = folder.to_str().unwrap();
    let stderr = thalweg(&["check", folder]).fails(1);
    assert_eq!(stderr.matches("unknown-operator").count(), 1, "{stderr}");
    let stderr = thalweg(&["fmt", "--check", folder]).fails(1);
    let files = |of: &str| stderr.matches(of).count();
    assert_eq!((files("Main.spl"), files("Wrong.spl")), (1, 1), "{stderr}");
    thalweg(&["fmt", folder]).ok();
    thalweg(&["fmt", "--check", folder]).ok();
    assert_eq!(scratch.read("below/.hidden/Wrong.spl"), WRONG);
    scratch.write("empty/notes.txt", "");
    let empty = scratch.path("empty");
    for command in ["check", "fmt"] {
        let stderr = thalweg(&[command, empty.to_str().unwrap()]).fails(2);
        assert!(stderr.contains("in the folder `"), "{stderr}");
    }
}

/// A mistake in a file that two programs use is reported once.
#[test]
fn a_finding_of_several_programs_is_reported_once() {
    let scratch = Scratch::new();
    scratch.write(
        "lib/Broken.spl",
        "namespace lib;\npublic composite Broken(output A) { graph stream<int32 n> A = Beacn() {} }\n",
    );
    for name in ["One", "Two"] {
        let program = format!(
            "use lib::Broken;\ncomposite {name} {{ graph stream<int32 n> A = Broken() {{}} }}\n"
        );
        scratch.write(&format!("{name}.spl"), program);
    }
    let folder = scratch.path("");
    let folder = folder.to_str().unwrap();
    let stderr = thalweg(&["check", folder]).fails(1);
    assert_eq!(stderr.matches("unknown-operator").count(), 1, "{stderr}");
    let json = thalweg(&["check", "--json", folder]);
    assert_eq!(json.status, 1);
    assert_eq!(json.stdout.matches("unknown-operator").count(), 1);
}

#[test]
fn shells_get_completions_of_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = thalweg(&["completions", shell]).ok();
        for word in ["calibrate", "fuse", "threading"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    thalweg(&["completions", "tcsh"]).fails(2);
    let scratch = Scratch::new();
    let script = thalweg(&["completions", "bash"]).ok();
    let file = scratch.write("completions.bash", script);
    // As bash asks for words that begin with `--th` behind `thalweg run`.
    let asked = format!(
        "source {}; COMP_WORDS=(thalweg run --th); COMP_CWORD=2; _thalweg thalweg --th run; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        file.display()
    );
    let output = Command::new("bash").args(["-c", &asked]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "--threading\n");
}

#[test]
fn every_command_has_a_manual_page() {
    let scratch = Scratch::new();
    let folder = scratch.path("man1");
    thalweg(&["man", "--out", folder.to_str().unwrap()]).ok();
    let main = scratch.read("man1/thalweg.1");
    for name in ["run", "check", "plan", "completions"] {
        assert!(main.contains(&format!("thalweg\\-{name}(1)")), "{name}");
        assert!(scratch.path(&format!("man1/thalweg-{name}.1")).is_file());
    }
    let draw = scratch.read("man1/thalweg-plan-draw.1");
    assert!(draw.contains("\\-\\-out"), "{draw}");
    assert_eq!(thalweg(&["man", "plan", "draw"]).ok(), draw);
    let stderr = thalweg(&["man", "soup"]).fails(2);
    assert!(stderr.contains("there are run, check"), "{stderr}");
}

#[test]
fn topics_types_and_toolkits_are_described() {
    let page = thalweg(&["doc", "windows"]).ok();
    assert!(page.starts_with("# Windows\n"), "{page}");
    assert!(thalweg(&["doc", "rstring"]).ok().starts_with("# Types\n"));
    assert!(thalweg(&["doc"]).ok().contains("\n  windows "));
    let found = thalweg(&["doc", "--search", "hotFile"]).ok();
    assert!(found.contains("topic cookbook\n"), "{found}");
    let scratch = Scratch::new();
    scratch.write(
        "kit/my.kit/Kit.spl",
        "namespace my.kit;\n/** Doubles numbers. */\npublic int32 twice(int32 n) { return 2 * n; }\n",
    );
    let kit = scratch.path("kit");
    let kit = kit.to_str().unwrap();
    let listed = thalweg(&["doc", "-t", kit]).ok();
    assert_eq!(listed, "my.kit::twice  Doubles numbers.\n");
    let described = thalweg(&["doc", "-t", kit, "twice"]).ok();
    assert!(
        described.contains("public int32 twice(int32 n)"),
        "{described}"
    );
    let stderr = thalweg(&["doc", "-t", kit, "twise"]).fails(1);
    assert!(stderr.contains("did you mean twice?"), "{stderr}");
}
