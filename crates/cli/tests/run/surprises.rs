//! Messages of the command where silence would surprise, or a list with names not for users.

use std::fs;
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::processes::terminal;
use crate::scratch::{Run, Scratch, command, thalweg};

const WRONG: &str = "composite Main { graph stream<int32 n> A = Beacn() {} }\n";

/// A chain over two processes, if config `placement` is kept.
const PLACED: &str = r#"composite Main { graph
    stream<int32 n> A = Beacon() {
        param iterations : 1;
        config placement : partitionColocation("first");
    }
    stream<int32 n> B = Filter(A) { config placement : partitionColocation("second"); }
    () as Out = Custom(B) {
        logic onTuple B : println(n);
        config placement : partitionColocation("third");
    }
}
"#;

fn with_input(args: &[&str], text: &str) -> Run {
    let mut command = command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(text.as_bytes()).unwrap();
    drop(stdin);
    child.wait_with_output().unwrap().into()
}

#[test]
fn fmt_compares_standard_input_too() {
    let formatted = with_input(&["fmt"], "composite Main{}").ok();
    for args in [&["fmt", "--check"][..], &["fmt", "--check", "-"]] {
        let run = with_input(args, "composite Main{}");
        assert_eq!(run.stdout, "");
        assert_eq!(run.fails(1), "thalweg: standard input is not formatted\n");
        assert_eq!(with_input(args, &formatted).ok(), "");
    }
    // Among files too.
    let scratch = Scratch::new();
    let file = scratch.write("A.spl", &formatted);
    let args = ["fmt", "--check", file.to_str().unwrap(), "-"];
    let said = with_input(&args, "composite Main{}").fails(1);
    assert_eq!(said, "thalweg: standard input is not formatted\n");
}

#[test]
fn check_tells_of_files_that_it_cannot_read_as_of_others() {
    let scratch = Scratch::new();
    let missing = scratch.path("Missing.spl");
    let missing = missing.to_str().unwrap();
    let wrong = scratch.write("Wrong.spl", WRONG);
    let wrong = wrong.to_str().unwrap();
    let run = thalweg(&["check", "--json", missing, wrong]);
    assert_eq!((run.status, run.stderr.as_str()), (1, ""));
    let findings: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let first = &findings[0];
    assert_eq!(first["code"], "unreadable-file");
    assert_eq!(first["severity"], "error");
    assert_eq!(first["file"], missing);
    assert!(first["line"].is_u64() && first["column"].is_u64());
    let message = first["message"].as_str().unwrap();
    assert!(message.starts_with("cannot read "), "{message}");
    assert_eq!(findings[1]["code"], "unknown-operator");
    // As text: the file after it is checked too.
    let said = thalweg(&["check", missing, wrong]).fails(1);
    assert!(said.contains(&format!("thalweg: cannot read {missing}: No such file")));
    assert!(said.contains("did you mean `Beacon`?"), "{said}");
}

#[test]
fn what_is_not_for_users_is_in_no_list() {
    let hello = "examples/hello/Hello.spl";
    let scratch = Scratch::new();
    let plan =
        "pe 0\noperators Greetings\npe 1\noperators *\ncrossing Greetings.0 -> pe 1 on simm\n";
    let plan = scratch.write("plan", plan);
    let program = "composite Main { graph () as A = Custom() { config inputTransport : simm; } }";
    for (list, run) in [
        (
            "there are auto, shm, rum, tcp, rdma, rum-rdma\n",
            thalweg(&["run", "-F", "simm", hello]),
        ),
        (
            "there are shm, rum, tcp, rdma, rum-rdma",
            thalweg(&["run", "--fuse", plan.to_str().unwrap(), hello]),
        ),
        (
            "is one of TCP, shm, rum, rdma, llm_rum_tcp (rum), llm_rum_ib (rum-rdma)\n",
            scratch.run(program, &[]),
        ),
    ] {
        assert!(run.stderr.contains(list), "{list}: {}", run.stderr);
        assert!(!run.stderr.contains("`sim`"), "{list}: {}", run.stderr);
    }
    for args in [
        &["--help"][..],
        &["help"],
        &["pee"],
        &["p"],
        &["help", "pee"],
    ] {
        let run = thalweg(args);
        let said = run.stdout + &run.stderr;
        let mut words = said.split(|c: char| !c.is_alphanumeric());
        assert!(!words.any(|word| word == "pe"), "{args:?}: {said}");
    }
    // Operators that plans insert are in these.
    let listed = thalweg(&["doc"]).ok();
    for namespace in ["thalweg.transport", "thalweg.eventtime"] {
        assert!(!listed.contains(namespace), "{listed}");
    }
}

#[test]
fn the_graph_is_drawn_with_the_processes_that_are_asked_for() {
    let scratch = Scratch::new();
    let file = scratch.write("Main.spl", PLACED);
    let file = file.to_str().unwrap();
    let dump = |options: &[&str]| thalweg(&[&["dump", file, "--stage"], options].concat());
    let plain = dump(&["graph"]).ok();
    assert!(!plain.contains("pe 0"), "{plain}");
    let split = dump(&["graph", "--fuse", "spl"]).ok();
    for line in [
        "pe 0\n",
        "pe 1\n",
        "pe 2\n",
        "<- A by shm\n",
        "<- B by shm\n",
    ] {
        assert!(split.contains(line), "{line}: {split}");
    }
    let by_tcp = dump(&["graph", "--fuse", "none", "-F", "tcp"]).ok();
    assert!(by_tcp.contains("<- A by tcp\n"), "{by_tcp}");
    let dot = dump(&["graph", "--fuse", "spl", "--format", "dot"]).ok();
    assert!(
        dot.contains("subgraph cluster_2 { label=\"pe 2\"; o2; }"),
        "{dot}"
    );
    assert!(
        dot.contains("o0 -> o1 [label=\"A by shm\", style=bold];"),
        "{dot}"
    );
    let svg = dump(&["graph", "--fuse", "spl", "--format", "svg"]).ok();
    assert!(svg.contains(">pe 2</text>") && svg.contains("class=\"edge crossing\""));
    assert!(svg.contains(">A by shm</text>"), "{svg}");
    // Where an option would do nothing it is refused.
    for (stage, option, value) in [
        ("typed", "--fuse", "none"),
        ("clif", "--fuse", "none"),
        ("asm", "-F", "tcp"),
        ("tree", "--codec", "normal"),
        ("graph", "--rdma", "mode=channel"),
        ("graph", "--threading", "dedicated"),
    ] {
        let said = dump(&[stage, option, value]).fails(2);
        assert!(said.contains("has no effect on this stage"), "{said}");
    }
}

#[test]
fn each_colocation_id_has_a_process_of_its_own() {
    let scratch = Scratch::new();
    let run = scratch.run(PLACED, &["--fuse", "spl", "--tag-output"]);
    assert_eq!(run.stderr, "");
    assert_eq!(run.ok(), "[pe 2] 0\n");
}

/// The output of the command on a terminal of this kind.
fn on_terminal(term: &str, args: &[&str]) -> String {
    let (mut ours, theirs) = terminal();
    let mut command: Command = command(args);
    command.env("TERM", term).env_remove("NO_COLOR");
    let theirs = File::from(theirs);
    command.stdout(theirs.try_clone().unwrap()).stderr(theirs);
    let mut child = command.spawn().unwrap();
    drop(command);
    // The terminal is closed when nothing of the command is left.
    let mut said = Vec::new();
    let mut room = [0; 4096];
    while let Ok(count @ 1..) = ours.read(&mut room) {
        said.extend_from_slice(&room[..count]);
    }
    child.wait().unwrap();
    String::from_utf8(said).unwrap()
}

#[test]
fn a_dumb_terminal_gets_no_escapes() {
    let scratch = Scratch::new();
    let file = scratch.write("Wrong.spl", WRONG);
    let args = ["check", file.to_str().unwrap()];
    assert!(on_terminal("xterm", &args).contains("\x1b[1;31m"));
    let plain = on_terminal("dumb", &args);
    assert!(plain.contains("error[unknown-operator]"), "{plain}");
    assert!(!plain.contains('\x1b'), "{plain}");
    assert!(!on_terminal("dumb", &["top", "--once"]).contains('\x1b'));
}

#[test]
fn new_projects_run_whatever_their_folders_are_called() {
    let scratch = Scratch::new();
    for (folder, composite) in [
        ("7up", "App7up"),
        ("2024", "App2024"),
        ("file-source", "AppFileSource"),
        ("filter", "AppFilter"),
        ("sys", "AppSys"),
        ("list", "List"),
        ("names", "Names"),
        ("printer", "Printer"),
    ] {
        let path = scratch.path(folder);
        let made = thalweg(&["new", path.to_str().unwrap()]).ok();
        let program = path.join(format!("{composite}.spl"));
        let program = program.to_str().unwrap();
        assert!(
            made.ends_with(&format!("thalweg run {program}\n")),
            "{made}"
        );
        let run = thalweg(&["run", program]);
        assert_eq!(run.stderr, "", "{folder}");
        assert_eq!(run.ok(), "river 3\nvalley 2\n", "{folder}");
    }
    let said = thalweg(&["new", scratch.path("---").to_str().unwrap()]).fails(2);
    assert!(
        said.contains("needs a letter of a to z or a digit"),
        "{said}"
    );
}

#[test]
fn new_fills_a_folder_that_is_there_and_empty() {
    let scratch = Scratch::new();
    scratch.write("9lives/.git/HEAD", "");
    let folder = scratch.path("9lives");
    let here = |name: &str| -> Run {
        let mut command = command(&["new", name]);
        command.current_dir(&folder).output().unwrap().into()
    };
    let made = here(".").ok();
    assert!(
        made.ends_with("\n    thalweg run App9lives.spl\n"),
        "{made}"
    );
    let program = folder.join("App9lives.spl");
    let run = thalweg(&["run", program.to_str().unwrap()]);
    assert_eq!(run.ok(), "river 3\nvalley 2\n");
    let said = here(".").fails(1);
    assert!(
        said.contains("`.` exists already and is not empty"),
        "{said}"
    );
    assert!(here("/").fails(2).contains("is named after its folder"));
    fs::write(scratch.path("file"), "").unwrap();
    let said = thalweg(&["new", scratch.path("file").to_str().unwrap()]).fails(1);
    assert!(said.contains("exists already and is no folder"), "{said}");
}

#[test]
fn strings_of_another_encoding_are_refused() {
    let scratch = Scratch::new();
    let latin1 = b"// Caf\xe9 in a comment does no harm.\ncomposite Main {\n  graph () as P = Custom() {\n    \
                   logic onProcess : println(\"caf\xe9\");\n  }\n}\n";
    fs::write(scratch.path("Main.spl"), latin1).unwrap();
    let said = thalweg(&["run", scratch.path("Main.spl").to_str().unwrap()]).fails(1);
    assert!(
        said.contains("error[wrong-encoding]") && said.contains("Main.spl:4:35"),
        "{said}"
    );
    assert!(said.contains("iconv -f ISO-8859-1 -t UTF-8"), "{said}");
    assert!(said.ends_with("\n1 error\n"), "{said}");
}
