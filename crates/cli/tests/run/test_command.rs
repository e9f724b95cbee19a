//! `thalweg test`: what it finds, how it judges, and what it says of test files that are wrong.

use crate::scratch::{Run, Scratch, command};

const PROGRAM: &str = r#"composite Main {
    graph
        stream<int32 n> In = FileSource() {
            param
                file : "in.csv";
        }
        () as Out = FileSink(In) {
            param
                file : "out.csv";
        }
        () as Printer = Custom(In) {
            logic
                onTuple In : {
                    println(n);
                    if (n == 9) {
                        printStringLn((rstring) (1 / (n - 9)));
                    }
                }
        }
}
"#;

/// Runs `thalweg test` in a folder.
fn test(folder: &Scratch, args: &[&str]) -> Run {
    let args = [&["test"], args].concat();
    let output = command(&args).current_dir(folder.path("")).output();
    output.unwrap().into()
}

/// A folder with the program and its test file.
fn folder(tests: &str) -> Scratch {
    let folder = Scratch::new();
    folder.write("Main.spl", PROGRAM);
    folder.write("Main.test.toml", tests);
    folder
}

#[test]
fn output_files_faults_and_messages_are_judged() {
    let folder = folder(
        r#"
plans = ["", "--interpret", "--fuse none"]
data = "input"

[[test]]
name = "in order"
expect = "1\n2\n"
expect-files."out.csv" = "1\n2\n"

[[test]]
name = "in any order"
order = "any"
expect = "2\n1\n"

[[test]]
name = "a fault"
files."in.csv" = "3\n9\n"
fault = "division by zero"
messages = ["Main.spl:16"]
expect = "3\n9\n"
"#,
    );
    folder.write("input/in.csv", "1\n2\n");
    let said = test(&folder, &[]).ok();
    assert!(
        said.contains("\ntest result: ok. 9 passed; 0 failed; 0 left out;"),
        "{said}"
    );
    assert!(
        said.contains("\ntest Main.test.toml: a fault (--fuse none) ... ok\n"),
        "{said}"
    );
    let said = test(&folder, &["Main.spl", "--only", "any order"]).ok();
    assert!(
        said.contains("ok. 3 passed; 0 failed; 6 left out;"),
        "{said}"
    );
}

#[test]
fn what_differs_is_told() {
    let folder = folder(
        r#"
[[test]]
name = "sequence"
files."in.csv" = "1\n2\n"
expect = "1\n3\n"

[[test]]
name = "set"
files."in.csv" = "1\n2\n"
order = "any"
expect = "2\n4\n"

[[test]]
name = "file"
files."in.csv" = "1\n"
expect-files."out.csv" = "2\n"
expect-files."none.csv" = ""

[[test]]
name = "no fault"
files."in.csv" = "1\n"
fault = "division"

[[test]]
name = "fault"
files."in.csv" = "9\n"
expect = ""
"#,
    );
    let run = test(&folder, &[]);
    assert_eq!(run.status, 1);
    let said = run.stdout;
    for part in [
        "---- Main.test.toml: sequence ----\nstandard output differs, from line 2 on:\n- 3\n+ 2\n",
        "---- Main.test.toml: set ----\nstandard output differs, - 4\n+ 1\n",
        "the file `out.csv` differs, from line 1 on:\n- 2\n+ 1\n",
        "the file `none.csv` cannot be read: No such file",
        "---- Main.test.toml: no fault ----\nthe run did not fail; expected: division\n",
        "---- Main.test.toml: fault ----\nthe run failed (exit status: 1)\n",
        "test result: FAILED. 0 passed; 5 failed; 0 left out;",
    ] {
        assert!(said.contains(part), "{part}\nin\n{said}");
    }
}

#[test]
fn blessing_changes_expected_texts_alone() {
    let folder = folder(
        "# About the tests.\n[[test]] # first\nname = \"a\"\nfiles.\"in.csv\" = \"1\\n\"\n\
         expect = \"\" # what it prints\nexpect-files.\"out.csv\" = \"\"\n\n\
         [[test]]\nname = \"b\"\nfiles.\"in.csv\" = \"9\\n\"\nexpect = \"\"\n",
    );
    let run = test(&folder, &["--bless"]);
    assert_eq!(run.status, 1, "the second test faults");
    assert!(run.stdout.contains("blessed 1 of "), "{}", run.stdout);
    let text = folder.read("Main.test.toml");
    assert!(
        text.starts_with("# About the tests.\n[[test]] # first\n"),
        "{text}"
    );
    assert!(text.contains("# what it prints\n"), "{text}");
    assert!(text.ends_with("expect = \"\"\n"), "{text}");
    let said = test(&folder, &["--only", ": a"]).ok();
    assert!(said.contains("ok. 1 passed;"), "{said}");
}

#[test]
fn a_run_without_end_is_ended() {
    let folder = folder(
        "[[test]]\nname = \"endless\"\ntimeout = 0.5\nfiles.\"in.csv\" = \"\"\nexpect = \"\"\n\
         program = \"Endless.spl\"\n",
    );
    let refused = test(&folder, &[]).fails(1);
    assert!(refused.contains("unknown field `program`"), "{refused}");
    folder.write(
        "Main.test.toml",
        "program = \"Endless.spl\"\n[[test]]\nname = \"endless\"\ntimeout = 0.5\nexpect = \"\"\n",
    );
    folder.write(
        "Endless.spl",
        "composite Main { graph () as Out = Custom() { logic onProcess : while (!isShutdown()) \
         block(0.01); } }",
    );
    let run = test(&folder, &[]);
    assert_eq!(run.status, 1);
    assert!(
        run.stdout
            .contains("the run was ended after 0.5 seconds (`timeout`)"),
        "{}",
        run.stdout
    );
}

#[test]
fn test_files_that_are_wrong_are_refused() {
    let cases = [
        ("name = 1", "unknown field `name`"),
        ("[[test]]\nexpect = \"\"", "missing field `name`"),
        ("[[test]]\nname = \"a\"", "the test `a` expects nothing"),
        ("", "there is no test in it"),
        (
            "plans = [\"--fuse 'none\"]\n[[test]]\nname = \"a\"\nexpect = \"\"",
            "is not closed",
        ),
        (
            "[[test]]\nname = \"a\"\nexpect = \"\"\ntimeout = -1.0",
            "seconds above 0",
        ),
    ];
    for (text, message) in cases {
        let folder = folder(text);
        let refused = test(&folder, &[]).fails(1);
        assert!(refused.contains("Main.test.toml"), "{refused}");
        assert!(refused.contains(message), "{message}\nin\n{refused}");
    }
    let folder = folder("[[test]]\nname = \"a\"\nfiles.\"../x\" = \"\"\nexpect = \"\"");
    let run = test(&folder, &[]);
    assert!(
        run.stdout.contains("`../x` is not the name of a file"),
        "{}",
        run.stdout
    );
    let empty = Scratch::new();
    let refused = test(&empty, &[]).fails(2);
    assert!(refused.contains("there are no tests here"), "{refused}");
    let refused = test(&folder, &["Other.spl"]).fails(2);
    assert!(
        refused.contains("there is no test file `Other.test.toml`"),
        "{refused}"
    );
}
