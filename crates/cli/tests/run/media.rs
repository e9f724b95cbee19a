//! Media of libraries in C: found in folders, selected by their names, listed, and named with what
//! is wrong with them.
//!
//! A C compiler must be installed, as the README says: `cc`, or the one that `CC` names.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use crate::processes::{Live, media, until};
use crate::programs::split_programs_of;
use crate::scratch::{Run, Scratch, command, root, thalweg};

const HELLO: &str = "examples/hello/Hello.spl";

/// Folder with the library of `examples/media/pipe.c`, compiled once for all tests.
pub fn folder() -> &'static str {
    static FOLDER: OnceLock<String> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("media");
        fs::create_dir_all(&folder).unwrap();
        let library = folder.join("libthalweg_medium_pipe.so");
        compile(Path::new("examples/media/pipe.c"), &library);
        folder.to_str().unwrap().to_owned()
    })
}

/// Compiles a library of one file.
fn compile(source: &Path, library: &Path) {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let done = Command::new(&compiler)
        .args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC"])
        .args(["-shared", "-I", "crates/plugin/include", "-o"])
        .args([library, source])
        .current_dir(root())
        .output();
    let done = done.unwrap_or_else(|error| panic!("no C compiler, `{compiler}`: {error}"));
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
}

/// A folder with the library of the example as the medium `name`, whose commit begins with a
/// statement.
fn changed_folder(name: &str, statement: &str) -> Scratch {
    let source = fs::read_to_string(root().join("examples/media/pipe.c")).unwrap();
    let commit = "static void pipe_commit(thalweg_medium_sender *s, uint64_t bytes) {";
    assert!(source.contains(commit));
    let source = source.replace(commit, &format!("{commit}\n    {statement}"));
    let scratch = Scratch::new();
    let source = scratch.write(&format!("{name}.c"), source);
    compile(
        &source,
        &scratch.path(&format!("libthalweg_medium_{name}.so")),
    );
    scratch
}

/// The PE that is in the call can say nothing itself.
#[test]
fn a_library_that_blocks_is_named_while_the_program_runs() {
    let scratch = changed_folder("stuck", "for (;;) poll(NULL, 0, -1);");
    let folder = scratch.path("");
    let run = ["run", HELLO, "--fuse", "none", "-F", "stuck"];
    let media_path = ["--media-path", folder.to_str().unwrap()];
    let live = Live::start(&scratch, &[&run[..], &media_path].concat());
    let pid = live.pid().to_string();
    let library = scratch.path("libthalweg_medium_stuck.so");
    let line = format!("\npe 0 is in `commit` of {} for ", library.display());
    until("the call that does not return is said", || {
        let top = thalweg(&["top", "--once", &pid]);
        top.stdout.contains(&line)
    });
    let top = thalweg(&["top", "--once", "--json", &pid]).ok();
    let top: serde_json::Value = serde_json::from_str(&top).unwrap();
    let calls = &top["jobs"][0]["pes"][0]["library_calls"];
    assert_eq!(calls[0]["stream"], "Greetings.0", "{calls}");
    assert!(
        calls[0]["inside_ns"].as_u64() >= Some(1_000_000_000),
        "{calls}"
    );
    assert_eq!(calls[1], serde_json::Value::Null, "{calls}");
}

#[test]
fn a_library_is_named_when_the_process_that_uses_it_crashes() {
    let scratch = changed_folder("trap", "__builtin_trap();");
    let folder = scratch.path("");
    let media_path = ["--media-path", folder.to_str().unwrap()];
    let args = [
        &["run", HELLO, "--fuse", "none", "-F", "trap"][..],
        &media_path,
    ]
    .concat();
    let said = thalweg(&args).fails(1);
    let library = scratch.path("libthalweg_medium_trap.so");
    let library = library.display();
    let hint = format!("its streams go by {library}, which `thalweg medium check {library}` tests");
    assert!(
        said.starts_with("thalweg: pe 0 (Greetings): killed by signal 4 (SIGILL); ")
            && said.contains(&hint),
        "{said}"
    );
}

/// A folder with a file that is named like a library and is none.
fn broken_folder() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("libthalweg_medium_broken.so", "no library\n");
    scratch
}

fn expected_hello() -> String {
    fs::read_to_string(root().join("examples/hello/expected.txt")).unwrap()
}

#[test]
fn programs_give_over_a_pipe_what_they_say() {
    let options = ["--fuse", "none", "--media-path", folder(), "-F", "pipe"];
    let kinds = ["/aggregate/", "/functor/", "/join/", "/punct/", "/custom/"];
    split_programs_of(&options, |path| {
        kinds.iter().any(|kind| path.contains(kind))
    });
}

/// Compiled code writes tuples into the runs of this library by itself.
#[test]
fn programs_give_over_a_ring_in_c_what_they_say() {
    let scratch = Scratch::new();
    let library = scratch.path("libthalweg_medium_shared_ring.so");
    compile(Path::new("examples/media/shared_ring.c"), &library);
    let folder = scratch.path("").to_str().unwrap().to_owned();
    let options = [
        "--fuse",
        "none",
        "--media-path",
        &folder,
        "-F",
        "shared_ring",
    ];
    let kinds = ["/aggregate/", "/functor/", "/join/", "/punct/", "/custom/"];
    split_programs_of(&options, |path| {
        kinds.iter().any(|kind| path.contains(kind))
    });
}

#[test]
fn a_plan_and_a_config_name_the_medium_of_a_library() {
    let scratch = Scratch::new();
    let plan = "plan Hello\npe 0\n  operators Greetings\npe 1\n  operators Printer\n\
                crossing Greetings.0 -> pe 1 on pipe\n";
    let plan = scratch.write("hello.plan", plan);
    let run = command(&["run", HELLO, "--fuse", plan.to_str().unwrap()])
        .env("THALWEG_MEDIA_PATH", folder())
        .output()
        .unwrap();
    assert_eq!(Run::from(run).ok(), expected_hello());
    let program = "composite Main { graph\n\
                   stream<int32 n> A = Beacon() { param iterations : 3; output A : n = 7;\n\
                   config outputTransport : pipe; }\n\
                   () as B = Custom(A) { logic onTuple A : printStringLn((rstring) n); } }";
    let options = ["--fuse", "none", "--media-path", folder()];
    assert_eq!(scratch.run(program, &options).ok(), "7\n7\n7\n");
    let file = scratch.path("Main.spl");
    let file = file.to_str().unwrap();
    let options = ["dump", "--stage", "plan", "--fuse", "none", "--media-path"];
    let plan = thalweg(&[&options[..], &[folder(), file]].concat()).ok();
    assert!(plan.contains(" on pipe"), "{plan}");
    thalweg(&["check", "--media-path", folder(), file]).ok();
    let said = thalweg(&["check", file]).fails(1);
    // A name with a hyphen is no word of SPL; the list has the word for it.
    let hyphen = program.replace("pipe", "rum-rdma");
    let hyphen = scratch.write("Hyphen.spl", hyphen);
    let of_hyphen = thalweg(&["check", hyphen.to_str().unwrap()]).fails(1);
    let words = "[config-value]: config `outputTransport` is one of TCP, shm, rum, rdma, llm_rum_tcp \
                 (rum), llm_rum_ib (rum-rdma)\n";
    assert!(said.contains(words), "{said}");
    assert!(of_hyphen.contains(words), "{of_hyphen}");
}

#[test]
fn auto_takes_no_library() {
    let options = ["dump", "--stage", "plan", "--fuse", "none", "--media-path"];
    let plan = thalweg(&[&options[..], &[folder(), HELLO]].concat()).ok();
    assert!(plan.contains(" on shm"), "{plan}");
}

#[test]
fn an_unknown_medium_is_answered_with_those_found_and_where() {
    let broken = broken_folder();
    let broken = broken.path("");
    let folders = format!("{}:{}", folder(), broken.to_str().unwrap());
    let options = ["run", HELLO, "--fuse", "none", "-F", "pigeon"];
    let said = thalweg(&[&options[..], &["--media-path", &folders]].concat()).fails(2);
    for words in [
        "there is no transport `pigeon`; there are auto, shm, rum, tcp, rdma, rum-rdma, pipe;",
        "others were looked for in ",
        folder(),
        "libthalweg_medium_broken.so: cannot be loaded",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let said = thalweg(&options).fails(2);
    assert!(
        said.ends_with("there are auto, shm, rum, tcp, rdma, rum-rdma\n"),
        "{said}"
    );
}

/// A plan of two PEs whose stream crosses on a medium.
fn plan_on(scratch: &Scratch, medium: &str) -> String {
    let pes = "pe 0\n operators Greetings\npe 1\n operators Printer\n";
    let plan = format!("{pes}crossing Greetings.0 -> pe 1 on {medium}\n");
    let file = scratch.write("by.plan", plan);
    file.to_str().unwrap().to_owned()
}

/// The reason comes first, by `-F` and in a plan.
#[test]
fn a_library_that_is_there_and_cannot_be_used_is_said_to_be_so() {
    let broken = broken_folder();
    let folder = broken.path("");
    let media_path = ["--media-path", folder.to_str().unwrap()];
    let library = broken.path("libthalweg_medium_broken.so");
    let why = format!(
        "the medium `broken` cannot be used: {}: cannot be loaded: ",
        library.display()
    );
    let run = ["run", HELLO, "--fuse", "none", "-F", "broken"];
    let said = thalweg(&[&run[..], &media_path].concat()).fails(2);
    assert!(said.starts_with(&format!("thalweg: {why}")), "{said}");
    assert!(!said.contains("looked for"), "{said}");
    let scratch = Scratch::new();
    let plan = plan_on(&scratch, "broken");
    let run = ["run", HELLO, "--fuse", &plan];
    let said = thalweg(&[&run[..], &media_path].concat()).fails(1);
    assert!(said.contains(&format!("5:33: {why}")), "{said}");
}

#[test]
fn a_plan_that_names_mpi_without_its_library_is_told_how_to_build_it() {
    let scratch = Scratch::new();
    let plan = plan_on(&scratch, "mpi");
    let said = thalweg(&["run", HELLO, "--fuse", &plan]).fails(1);
    let why = "5:33: the library of `mpi` is not there: `thalweg medium build mpi` compiles it with \
               the mpicc of this host, and --media-path names its folder\n";
    assert!(said.ends_with(why), "{said}");
}

#[test]
fn a_slip_in_the_name_of_a_medium_or_setting_is_answered_with_what_was_meant() {
    let run = |options: &[&str]| {
        let run = ["run", HELLO, "--fuse", "none"];
        thalweg(&[&run[..], options].concat()).fails(2)
    };
    for (options, sentence) in [
        (
            ["-F", "rmu"],
            "there is no transport `rmu`; did you mean `rum`?\n",
        ),
        (
            ["-F", "Auto"],
            "there is no transport `Auto`; did you mean `auto`?\n",
        ),
        (
            ["-F", "rdma mode=wriet"],
            "there are write, channel and batch; did you mean `mode=write`?\n",
        ),
        (
            ["-F", "rum-rdma provder=tcp"],
            "there are provider, mode, device, gid and class; did you mean `provider=tcp`?\n",
        ),
        (
            ["--rdma", "provider=Verbs"],
            "did you mean `provider=verbs`?\n",
        ),
        (["--rdma", "channel"], "did you mean `mode=channel`?\n"),
        (["--rdma", "devise"], "did you mean `device=mlx5_0`?\n"),
        (
            ["--rdma", "mode"],
            "settings of rdma: `mode` needs a value, as in `mode=write`\n",
        ),
    ] {
        let said = run(&options);
        assert!(said.contains(sentence), "{options:?}: {said}");
    }
}

/// Settings of a medium may be separated by commas on the command line, as in a plan.
#[test]
fn settings_behind_a_medium_may_have_commas_between_them() {
    let dump = ["dump", "--stage", "plan", "--fuse", "none", HELLO, "-F"];
    for text in [
        "rdma mode=channel provider=tcp",
        "rdma mode=channel,provider=tcp",
        "rdma, mode=channel, provider=tcp",
    ] {
        let plan = thalweg(&[&dump[..], &[text]].concat()).ok();
        let crossing = " on rdma mode=channel provider=tcp\n";
        assert!(plan.contains(crossing), "{text}: {plan}");
    }
    let said = thalweg(&[&dump[..], &["rdma mode=channel,mode=write"]].concat()).fails(2);
    assert!(said.contains("`mode` is there twice"), "{said}");
}

/// Where no adapter is, or no libfabric: each stream fails for one reason.
#[test]
fn a_reason_for_which_all_streams_fail_is_said_once() {
    let scratch = Scratch::new();
    let program = "composite Main { graph
        stream<int32 n> A = Beacon() { param iterations : 3; output A : n = 7; }
        stream<int32 n> B = Functor(A) {}
        () as C = Custom(B) { logic onTuple B : printStringLn((rstring) n); } }";
    let options = [
        "--fuse",
        "none",
        "-F",
        "rdma provider=verbs,device=no-adapter",
    ];
    let said = scratch.run(program, &options).fails(1);
    assert_eq!(said.lines().count(), 1, "{said}");
    let words = "; 1 more stream fails for this reason\n";
    assert!(
        said.starts_with("thalweg: pe ") && said.ends_with(words),
        "{said}"
    );
}

#[test]
fn a_folder_that_is_not_there_is_warned_of() {
    let run = thalweg(&["run", HELLO, "--media-path", "/nonexistent/media"]);
    let warning = "thalweg: warning: there is no media directory /nonexistent/media\n";
    assert_eq!((run.status, &*run.stderr), (0, warning));
}

#[test]
fn lists_say_what_media_can_do_and_which_cannot_be_used() {
    let broken = broken_folder();
    let broken = broken.path("");
    let paths = [
        "--media-path",
        folder(),
        "--media-path",
        broken.to_str().unwrap(),
    ];
    let text = thalweg(&[&["medium", "list"], &paths[..]].concat()).ok();
    let row = |name: &str| text.lines().find(|line| line.starts_with(name));
    let pipe = row("pipe ").unwrap_or_else(|| panic!("{text}"));
    for words in [
        "processes",
        "1500 ns + 300 ps a byte",
        "libthalweg_medium_pipe.so",
        "a pipe, and an eventfd",
    ] {
        assert!(pipe.contains(words), "{pipe}");
    }
    assert!(row("shm ").is_some() && row("sim ").is_none(), "{text}");
    let problem = row("cannot be used: broken: ").unwrap_or_else(|| panic!("{text}"));
    assert!(
        problem.contains("libthalweg_medium_broken.so: cannot be loaded"),
        "{problem}"
    );
    let json = thalweg(&[&["medium", "list", "--json"], &paths[..]].concat()).ok();
    let media: serde_json::Value = serde_json::from_str(&json).unwrap();
    let named = |name: &str| {
        let found = media.as_array().unwrap().iter();
        found
            .into_iter()
            .find(|medium| medium["name"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(named("pipe")["capabilities"]["receivers_max"], 1);
    assert_eq!(named("pipe")["capabilities"]["is_by_name_only"], true);
    assert_eq!(
        named("tcp")["capabilities"]["receivers_max"],
        serde_json::Value::Null
    );
    assert!(
        named("broken")["problem"]
            .as_str()
            .unwrap()
            .contains("cannot be loaded")
    );
}

/// Runs a line of the shell with arguments. Files that tests execute are written by it: while this
/// process has one open to write, a child that another thread starts keeps it so, and the file
/// cannot be executed.
fn shell(line: &str, arguments: [&Path; 2]) {
    let done = Command::new("sh")
        .args(["-c", line])
        .args(arguments)
        .status();
    assert!(done.unwrap().success(), "{line}");
}

/// The command in a folder where no other command lies beside it.
fn command_alone(scratch: &Scratch) -> Command {
    let copy = scratch.path("thalweg");
    let binary = Path::new(env!("CARGO_BIN_EXE_thalweg"));
    shell("cp \"$0\" \"$1\"", [binary, &copy]);
    Command::new(copy)
}

#[test]
fn check_becomes_the_command_of_the_suite() {
    let scratch = Scratch::new();
    let words = ["medium", "check", "lib.so", "--only", "wake"];
    let mut alone = command_alone(&scratch);
    let alone = alone.args(words).env("PATH", "/nonexistent");
    let said = Run::from(alone.output().unwrap()).fails(1);
    assert_eq!(
        said,
        "thalweg: there is no `thalweg-conformance` beside this command or in PATH; build it with \
         `cargo build --release -p thalweg-conformance`\n"
    );
    let script = scratch.write("script", "#!/bin/sh\necho \"$@\"\n");
    let suite = scratch.path("bin/thalweg-conformance");
    let bin = suite.parent().unwrap();
    fs::create_dir(bin).unwrap();
    shell("cp \"$0\" \"$1\" && chmod 700 \"$1\"", [&script, &suite]);
    let mut alone = command_alone(&scratch);
    let printed = Run::from(alone.args(words).env("PATH", bin).output().unwrap()).ok();
    assert_eq!(printed, "check lib.so --only wake\n");
}

/// Names that IBM Streams has for transports, in capitals or not, mean media of this engine.
#[test]
fn transports_of_streams_are_known() {
    let names = [
        ("llm_rum_tcp", "rum"),
        ("LLM_RUM_TCP", "rum"),
        ("llm_rum_ib", "rum-rdma"),
    ];
    for (name, own) in names {
        let args = [
            "dump", "--stage", "plan", "--fuse", "none", "-F", name, HELLO,
        ];
        let plan = thalweg(&args).ok();
        assert!(plan.contains(&format!(" on {own}\n")), "{name}: {plan}");
        let scratch = Scratch::new();
        let program = format!(
            "composite Main {{ graph stream<int32 n> A = Beacon() {{ param iterations : 3; \
             output A : n = 7; config outputTransport : {name}; }}\n\
             () as B = Custom(A) {{ logic onTuple A : printStringLn((rstring) n); }} }}"
        );
        let file = scratch.write("Main.spl", &program);
        let args = [
            "dump",
            "--stage",
            "plan",
            "--fuse",
            "none",
            file.to_str().unwrap(),
        ];
        let plan = thalweg(&args).ok();
        assert!(plan.contains(&format!(" on {own}\n")), "{name}: {plan}");
        if media().any(|medium| medium == own) {
            assert_eq!(scratch.run(&program, &["--fuse", "none"]).ok(), "7\n7\n7\n");
        }
    }
}

/// Settings of `--rdma` reach the name that a mode of `rdma` has, but for another mode.
#[test]
fn settings_of_rdma_reach_rum_rdma() {
    let dump = |medium: &str, settings: &str| {
        let args = ["dump", "--stage", "plan", "--fuse", "none", "-F", medium];
        thalweg(&[&args[..], &["--rdma", settings, HELLO]].concat())
    };
    for medium in ["rum-rdma", "llm_rum_ib"] {
        let plan = dump(medium, "provider=verbs,device=mlx5_0").ok();
        let crossing = " on rum-rdma provider=verbs device=mlx5_0\n";
        assert!(plan.contains(crossing), "{plan}");
        assert!(
            dump(medium, "mode=batch")
                .ok()
                .contains(" on rum-rdma mode=batch\n")
        );
        let said = dump(medium, "mode=channel").fails(2);
        let why = "rum-rdma is rdma in mode batch, and has no other";
        assert!(said.contains(why), "{said}");
        let said = dump(medium, "provider=shm").fails(2);
        assert!(
            said.contains("mode batch runs over the providers tcp and verbs"),
            "{said}"
        );
    }
    let said = dump("tcp", "mode=batch").stderr;
    assert!(
        said.contains("no stream crosses by rdma, so --rdma has no effect"),
        "{said}"
    );
}
