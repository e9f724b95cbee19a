//! Which files of a toolkit belong to a program.

mod support;

use std::path::{Path, PathBuf};

use compiler::{Input, Loader, Output};
use thalweg_compiler as compiler;

/// A toolkit in memory: paths and texts.
struct Files<'a>(&'a [(&'a str, &'a str)]);

impl Loader for Files<'_> {
    fn list(&self, folder: &Path) -> Vec<PathBuf> {
        let paths = self.0.iter().map(|(path, _)| PathBuf::from(path));
        paths.filter(|path| path.parent() == Some(folder)).collect()
    }

    fn read(&self, path: &Path) -> Result<String, String> {
        let file = self.0.iter().find(|(name, _)| Path::new(name) == path);
        file.map(|(_, text)| (*text).to_owned())
            .ok_or_else(|| "it is not there".to_owned())
    }
}

/// Compiles the first file; the others can be found.
fn compile(files: &[(&str, &str)]) -> Output {
    let (path, text) = files[0];
    compiler::compile(Input {
        files: vec![(PathBuf::from(path), text.to_owned())],
        loader: &Files(files),
        toolkits: vec![PathBuf::from("kit")],
        ..support::input("", "", None)
    })
}

fn codes(output: &Output) -> Vec<&'static str> {
    output
        .diagnostics
        .iter()
        .map(|finding| finding.code)
        .collect()
}

fn read(output: &Output) -> Vec<String> {
    let files = output.sources.files();
    let paths = files.map(|(_, file)| file.path.to_string_lossy().into_owned());
    paths
        .filter(|path| path != compiler::prelude::PATH)
        .collect()
}

const MAIN: &str = "composite Main { graph stream<int32 a> A = Source() {}\n\
    () as Sink = Custom(A) {} }";
const SOURCE: &str = "composite Source(output Out) { graph stream<int32 a> Out = Beacon() {} }";

#[test]
fn a_neighbour_that_defines_what_is_needed_is_loaded() {
    let output = compile(&[("app/Main.spl", MAIN), ("app/Other.spl", SOURCE)]);
    assert_eq!(codes(&output), [""; 0]);
    assert_eq!(read(&output), ["app/Main.spl", "app/Other.spl"]);
    assert_eq!(output.program.expect("it is right").operators.len(), 2);
}

#[test]
fn neighbours_that_are_not_needed_are_not_looked_at() {
    let output = compile(&[
        (
            "Main.spl",
            "composite Main { graph stream<int32 a> A = Beacon() {} }",
        ),
        ("Broken.spl", "composite Source(output Out { graph"),
        (
            "Again.spl",
            "composite Main { graph stream<int32 a> A = Missing() {} }",
        ),
    ]);
    assert_eq!(codes(&output), [""; 0]);
    assert_eq!(read(&output), ["Main.spl"]);
}

#[test]
fn what_is_wrong_with_a_needed_file_is_said() {
    let output = compile(&[
        ("Main.spl", MAIN),
        (
            "Source.spl",
            "composite Source(output Out) { graph stream<int32 a> Out = Becon() {} }",
        ),
    ]);
    assert_eq!(codes(&output), ["unknown-operator"]);
    assert!(output.program.is_none());
}

#[test]
fn a_namespace_has_a_dotted_folder_or_nested_ones() {
    let main = "use a.b::*;\nuse c.d::Two;\ncomposite Main { graph\n\
        stream<int32 a> A = One() {}\n stream<int32 a> B = Two() {}\n\
        () as Sink = Custom(A, B) {} }";
    let output = compile(&[
        ("x/Main.spl", main),
        (
            "kit/a.b/One.spl",
            "namespace a.b; public composite One(output Out) { graph \
            stream<int32 a> Out = Beacon() {} }",
        ),
        (
            "kit/c/d/Two.spl",
            "namespace c.d; public composite Two(output Out) { graph \
            stream<int32 a> Out = Beacon() {} }",
        ),
        (
            "kit/c/d/Wrong.spl",
            "namespace c; public composite Two(output Out) { }",
        ),
    ]);
    let said = syntax::render(&output.diagnostics, &output.sources, false);
    assert_eq!(said, "");
    assert_eq!(
        read(&output),
        [
            "x/Main.spl",
            "kit/a.b/One.spl",
            "kit/c/d/Two.spl",
            "kit/c/d/Wrong.spl"
        ]
    );
}

#[test]
fn the_root_of_the_main_file_is_found_from_its_namespace() {
    let main = "namespace my.app;\ncomposite Main { graph\n\
        stream<my.kit::T> A = my.app::Source() {}\n () as Sink = Custom(A) {} }";
    let output = compile(&[
        ("root/my/app/Main.spl", main),
        (
            "root/my/app/Source.spl",
            "namespace my.app;\n\
            composite Source(output Out) { graph stream<my.kit::T> Out = Beacon() {} }",
        ),
        (
            "root/my.kit/T.spl",
            "namespace my.kit;\ntype T = U;\ntype U = int32 a;",
        ),
    ]);
    assert_eq!(codes(&output), [""; 0]);
    assert_eq!(&*output.program.expect("it is right").name, "my.app::Main");
}

#[test]
fn needed_files_need_others() {
    let output = compile(&[
        ("Main.spl", MAIN),
        (
            "A.spl",
            "composite Source(output Out) { graph stream<T> Out = Beacon() \
            { output Out : a = f(1); } }",
        ),
        ("B.spl", "type T = int32 a;"),
        ("C.spl", "int32 f(int32 n) { return g(n); }"),
        ("D.spl", "int32 g(int32 n) { return n; }"),
    ]);
    assert_eq!(codes(&output), [""; 0]);
    assert_eq!(
        read(&output),
        ["Main.spl", "A.spl", "B.spl", "C.spl", "D.spl"]
    );
}

#[test]
fn a_namespace_that_is_there_but_not_needed_is_no_warning() {
    let output = compile(&[
        (
            "Main.spl",
            "use a.b::*;\nuse a.c::*;\n\
            composite Main { graph stream<int32 a> A = Beacon() {} }",
        ),
        ("kit/a.b/One.spl", "namespace a.b; type T = int32 a;"),
    ]);
    assert_eq!(codes(&output), ["unknown-namespace"]);
    let place = output.diagnostics[0].span;
    assert_eq!(output.sources.text(place), "a.c");
}

#[test]
fn one_name_in_two_needed_files_is_a_duplicate() {
    let output = compile(&[("Main.spl", MAIN), ("A.spl", SOURCE), ("B.spl", SOURCE)]);
    assert_eq!(codes(&output), ["duplicate-definition"]);
}

#[test]
fn a_composite_of_the_main_file_comes_before_a_neighbours() {
    let main = "composite Main { graph stream<int32 a> A = Source() {} }\n\
        composite Source(output Out) { graph stream<int32 a> Out = Beacon() {} }";
    let output = compile(&[
        ("Main.spl", main),
        ("Other.spl", "composite Source(output Out) {"),
    ]);
    assert_eq!(codes(&output), [""; 0]);
}

#[test]
fn another_program_of_the_folder_is_not_loaded_for_a_name_of_the_library() {
    let main = "composite Main { graph () as A = Custom() {\n\
        logic onProcess : println(length(\"a\")); } }";
    let other = "int32 length(list<int32> l) { return size(l); }\n\
        composite Main { graph () as A = Custom() { } }";
    let output = compile(&[("Main.spl", main), ("Other.spl", other)]);
    assert_eq!(codes(&output), [""; 0]);
}
