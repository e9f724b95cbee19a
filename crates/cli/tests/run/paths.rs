//! Where a program's other files lie: the application directory, toolkits, data.

use std::fs;
use std::path::Path;

use crate::scratch::{Run, Scratch, command};

const MAIN: &str = r#"namespace my.ns;

use other::Doubled;

composite Main {
    graph
        stream<Number> In = FileSource() {
            param file : "in.csv"; format : csv;
        }
        stream<Number> Twice = Doubled(In) {}
        () as Out = Custom(Twice) {
            logic
                onTuple Twice : println(n);
                onPunct Twice : if (currentPunct() == Sys.FinalMarker) {
                    printStringLn(getApplicationDir());
                    printStringLn(getThisToolkitDir());
                    printStringLn(getThisFileDir());
                    printStringLn(getThisFilePath());
                    printStringLn(dataDirectory());
                }
        }
}
"#;

const TYPES: &str = "namespace my.ns;\n\ntype Number = int32 n;\n";

const DOUBLED: &str = r#"namespace other;

public composite Doubled(input In; output Out) {
    graph
        stream<In> Out = Functor(In) {
            output Out : n = In.n * 2;
        }
}
"#;

/// A project with two namespaces and data; the first namespace lies in `folder`.
fn project(folder: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write(&format!("{folder}/Main.spl"), MAIN);
    scratch.write(&format!("{folder}/Types.spl"), TYPES);
    scratch.write("other/Doubled.spl", DOUBLED);
    scratch.write("data/in.csv", "1\n2\n");
    scratch
}

fn run_in(folder: &Path, args: &[&str]) -> Run {
    let mut command = command(args);
    command.current_dir(folder);
    command.output().unwrap().into()
}

/// The folder without symbolic links, as programs are told it.
fn real(scratch: &Scratch) -> String {
    let folder = fs::canonicalize(scratch.path("")).unwrap();
    folder.to_str().unwrap().to_owned()
}

/// The output of the program when it finds everything.
fn expected(scratch: &Scratch, folder: &str) -> String {
    let root = real(scratch);
    let namespace = format!("{root}/{folder}");
    format!("2\n4\n{root}\n{root}\n{namespace}\n{namespace}/Main.spl\n{root}/data\n")
}

#[test]
fn the_application_directory_is_found_from_every_working_folder() {
    for folder in ["my.ns", "my/ns"] {
        let scratch = project(folder);
        let expected = expected(&scratch, folder);
        let root = scratch.path("");
        let namespace = scratch.path(folder);
        let absolute = namespace.join("Main.spl");
        let relative = format!("{folder}/Main.spl");
        let elsewhere = scratch.path("data");
        let from = [
            (&root, relative.as_str()),
            (&namespace, "Main.spl"),
            (&elsewhere, absolute.to_str().unwrap()),
        ];
        for (at, file) in from {
            for fuse in ["all", "none"] {
                let found = run_in(at, &["run", "--fuse", fuse, file]).ok();
                assert_eq!(found, expected, "{file} in {}", at.display());
            }
        }
    }
}

/// Without a namespace the folder of the program is the root.
#[test]
fn a_program_without_namespace_lies_in_the_root() {
    let scratch = project("my.ns");
    let main = MAIN.replace("namespace my.ns;", "use my.ns::Number;");
    scratch.write("Main.spl", main);
    let root = real(&scratch);
    let expected = format!("2\n4\n{root}\n{root}\n{root}\n{root}/Main.spl\n{root}/data\n");
    let namespace = scratch.path("my.ns");
    for (at, file) in [(scratch.path(""), "Main.spl"), (namespace, "../Main.spl")] {
        assert_eq!(run_in(&at, &["run", file]).ok(), expected);
        let split = run_in(&at, &["run", "--fuse", "none", file]).ok();
        assert_eq!(split, expected);
    }
}

/// Data may lie in the folder of the namespace too.
#[test]
fn data_beside_the_program_is_found_where_the_root_has_none() {
    let scratch = project("my.ns");
    fs::rename(scratch.path("data"), scratch.path("my.ns/data")).unwrap();
    let expected = expected(&scratch, "my.ns").replace("/data\n", "/my.ns/data\n");
    for (at, file) in [("", "my.ns/Main.spl"), ("my.ns", "Main.spl")] {
        assert_eq!(run_in(&scratch.path(at), &["run", file]).ok(), expected);
    }
}

/// A folder or file that is reached by two paths is one.
#[test]
fn a_toolkit_that_holds_the_program_or_is_named_twice_is_one() {
    let scratch = project("my.ns");
    let root = scratch.path("");
    std::os::unix::fs::symlink(&root, scratch.path("link")).unwrap();
    let whole = root.to_str().unwrap();
    let expected = expected(&scratch, "my.ns");
    let twice = format!("{whole}:{whole}/:./other/..:link");
    for toolkits in [".", "./", "my.ns/..", "link", whole, &twice] {
        for fuse in ["all", "none"] {
            let args = ["run", "-t", toolkits, "--fuse", fuse, "my.ns/Main.spl"];
            assert_eq!(run_in(&root, &args).ok(), expected, "-t {toolkits}");
        }
        let below = ["run", "-t", "..", "-t", toolkits, "Main.spl"];
        assert_eq!(run_in(&scratch.path("my.ns"), &below).ok(), expected);
        let linked = ["run", "-t", toolkits, "link/my.ns/Main.spl"];
        assert_eq!(run_in(&root, &linked).ok(), expected, "-t {toolkits}");
    }
}

/// A program that is a symbolic link belongs to where the link lies.
#[test]
fn a_linked_program_belongs_to_the_folder_of_the_link() {
    let scratch = project("my.ns");
    fs::create_dir(scratch.path("store")).unwrap();
    let (main, stored) = (scratch.path("my.ns/Main.spl"), scratch.path("store/1234"));
    fs::rename(&main, &stored).unwrap();
    std::os::unix::fs::symlink(&stored, &main).unwrap();
    let expected = expected(&scratch, "my.ns");
    for (at, file) in [("", "my.ns/Main.spl"), ("my.ns", "Main.spl")] {
        assert_eq!(run_in(&scratch.path(at), &["run", file]).ok(), expected);
    }
}

#[test]
fn toolkits_are_known_by_the_names_of_their_folders() {
    let scratch = Scratch::new();
    let main = r#"composite Main {
        graph
            () as Said = Custom() {
                logic onProcess : {
                    printStringLn(getToolkitDirectory("kit"));
                    printStringLn(getToolkitDirectory("app"));
                }
            }
    }"#;
    scratch.write("app/Main.spl", main);
    scratch.write("kit/a/A.spl", "namespace a;\ntype T = int32 n;\n");
    let root = real(&scratch);
    let at = scratch.path("kit");
    let found = run_in(&at, &["run", "-t", ".", "../app/Main.spl"]).ok();
    assert_eq!(found, format!("{root}/kit\n{root}/app\n"));
}
