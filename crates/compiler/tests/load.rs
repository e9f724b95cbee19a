//! Which files of a toolkit belong to a program.

mod support;

use std::path::{Path, PathBuf};

use compiler::{
    CompileInput, CompileOutput, GeneratedOrigin, GenerationProblem, Loader, SourceText,
};
use thalweg_compiler as compiler;

/// A toolkit in memory: paths and texts.
struct Files<'a>(&'a [(&'a str, &'a str)]);

impl Loader for Files<'_> {
    fn list(&self, folder: &Path) -> Vec<PathBuf> {
        let paths = self.0.iter().map(|(path, _)| PathBuf::from(path));
        paths.filter(|path| path.parent() == Some(folder)).collect()
    }

    fn read(&self, path: &Path) -> Result<SourceText, String> {
        let file = self.0.iter().find(|(name, _)| Path::new(name) == path);
        let (_, text) = file.ok_or("it is not there")?;
        Ok(match path.extension().is_some_and(|e| e == "splmm") {
            true => generated(text),
            false => (*text).into(),
        })
    }
}

/// Text that this loader generates of a file of mixed mode: the file without its first line. Code
/// that is `die` fails.
fn generated(template: &str) -> SourceText {
    let (code, text) = template.split_once('\n').unwrap_or_default();
    let problem = GenerationProblem::error(1, "it died").with_help("let it live");
    SourceText {
        text: text.to_owned(),
        generated: Some(GeneratedOrigin {
            lines: (2..).take(text.split('\n').count()).collect(),
            template: template.to_owned(),
            problems: (code == "die").then_some(problem).into_iter().collect(),
        }),
    }
}

/// Compiles the first file; the others can be found.
fn compile(files: &[(&str, &str)]) -> CompileOutput {
    let (path, text) = files[0];
    compiler::compile(CompileInput {
        files: vec![(PathBuf::from(path), text.into())],
        loader: &Files(files),
        toolkits: vec![PathBuf::from("kit")],
        ..support::input("", "", None)
    })
}

fn codes(output: &CompileOutput) -> Vec<&'static str> {
    output
        .diagnostics
        .iter()
        .map(|finding| finding.code)
        .collect()
}

fn read(output: &CompileOutput) -> Vec<String> {
    let files = output.sources.files();
    let paths = files.map(|(_, file)| file.path.to_string_lossy().into_owned());
    paths
        .filter(|path| {
            compiler::prelude::UNITS
                .iter()
                .all(|unit| unit.path != path)
        })
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

/// Help of the only finding in a program.
fn help(files: &[(&str, &str)]) -> Vec<String> {
    let output = compile(files);
    assert_eq!(output.diagnostics.len(), 1, "{:?}", output.diagnostics);
    output.diagnostics[0].help.clone()
}

#[test]
fn a_file_whose_namespace_does_not_fit_its_folder_is_named() {
    let main = "composite Main { graph\n\
        stream<int32 a> A = shop::One() {}\n () as Sink = Custom(A) {} }";
    let one = "public composite One(output Out) { graph stream<int32 a> Out = Beacon() {} }";
    let of = |namespace: &str| format!("namespace {namespace}; {one}");
    assert_eq!(
        help(&[("Main.spl", main), ("shop/One.spl", &of("shop.cash"))]),
        [
            "`shop/One.spl` defines `One` in namespace `shop.cash`, whose files lie in a folder \
          `shop.cash`: move it there, or write `namespace shop;` in it"
        ]
    );
    assert_eq!(
        help(&[("Main.spl", main), ("shop/One.spl", one)]),
        ["`shop/One.spl` defines `One`, but lacks `namespace shop;`"]
    );
    let plain = main.replace("shop::", "");
    assert_eq!(
        help(&[("Main.spl", &plain), ("One.spl", &of("shop"))]),
        [
            "`One.spl` defines `One` in namespace `shop`, whose files lie in a folder `shop`: \
          move it there, or leave its `namespace` out"
        ]
    );
    let cash = format!("namespace cash; {plain}");
    assert_eq!(
        help(&[("money/Main.spl", &cash), ("money/One.spl", &of("cash"))]),
        [
            "`money/One.spl` defines `One` in namespace `cash`, whose files lie in a folder \
          `cash`: move it there, with the other files of the namespace"
        ]
    );
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

#[test]
fn files_of_mixed_mode_are_generated_where_a_name_is_nowhere_else() {
    let made = format!("code\n{SOURCE}");
    let output = compile(&[("Main.spl", MAIN), ("Made.splmm", &made)]);
    assert_eq!(codes(&output), [""; 0]);
    assert_eq!(read(&output), ["Main.spl", "Made.splmm"]);
    // What was generated lies beside it.
    let output = compile(&[
        ("Main.spl", MAIN),
        ("Made.spl", SOURCE),
        ("Made.splmm", "die\n"),
    ]);
    assert_eq!(read(&output), ["Main.spl", "Made.spl"]);
    // Nothing is missing.
    let output = compile(&[
        ("Main.spl", MAIN),
        ("Source.spl", SOURCE),
        ("Other.splmm", "die\n"),
    ]);
    assert_eq!(codes(&output), [""; 0]);
}

#[test]
fn values_may_be_what_files_of_mixed_mode_define() {
    let main = "composite Main { graph () as A = Custom() {\n\
        logic onProcess : println(Col.red); } }";
    let made =
        "code\ncomposite Col { type static C = enum{red, green}; graph () as A = Custom() {} }";
    let output = compile(&[("Main.spl", main), ("Col.splmm", made)]);
    assert_eq!(read(&output), ["Main.spl", "Col.splmm"]);
}

#[test]
fn warnings_generate_nothing() {
    let main = format!("use com.not.there::*;\n{MAIN}");
    let files = [
        ("Main.spl", &*main),
        ("Source.spl", SOURCE),
        ("Other.splmm", "code\n"),
    ];
    let output = compile(&files);
    assert_eq!(codes(&output), ["unknown-namespace"]);
    assert_eq!(read(&output), ["Main.spl", "Source.spl"]);
}

#[test]
fn what_cannot_be_generated_is_said_if_something_is_missing() {
    let output = compile(&[("Main.spl", MAIN), ("Made.splmm", "die\n")]);
    let mut found = codes(&output);
    found.sort_unstable();
    assert_eq!(found, ["mixed-mode", "unknown-operator"]);
    let made = format!("code\n{SOURCE}");
    let files = [("Main.spl", MAIN), ("A.splmm", "die\n"), ("B.splmm", &made)];
    assert_eq!(codes(&compile(&files)), [""; 0]);
}

/// Nothing else is said of a program that is not there.
#[test]
fn a_main_file_that_cannot_be_generated_is_one_error() {
    let (path, source) = (PathBuf::from("Main.splmm"), generated("die\ncomposite {"));
    let output = compiler::compile(CompileInput {
        files: vec![(path, source)],
        ..support::input("", "", None)
    });
    let said = syntax::render(&output.diagnostics, &output.sources, false);
    let expected = "error[mixed-mode]: it died\n  --> Main.splmm:1:1\n   |\n 1 | die\n   | ^^^\n\
        \u{20}  = help: let it live\n";
    assert_eq!(said, expected);
}

/// Lines are those of the file, and the text is what was generated.
#[test]
fn lines_of_generated_texts_are_those_of_the_file() {
    let text = "composite Main {\n    graph\n        stream<int32 a> A = Becon() {}\n}";
    let (path, source) = (
        PathBuf::from("M.splmm"),
        generated(&format!("code\n{text}")),
    );
    let output = compiler::compile(CompileInput {
        files: vec![(path, source)],
        ..support::input("", "", None)
    });
    let said = syntax::render(&output.diagnostics, &output.sources, false);
    assert!(said.contains("--> M.splmm:4:29\n"), "{said}");
    assert!(
        said.contains(" 4 |         stream<int32 a> A = Becon() {}\n"),
        "{said}"
    );
}

/// Several lines of a text may come from one of the file, where a loop wrote them.
#[test]
fn placements_are_shown_where_they_are_in_the_generated_text() {
    let operator = |name: &str| {
        format!(
            "() as {name} = Custom(A) {{\n\
             config placement : partitionColocation(\"p\"), partitionExlocation(\"e\");\n}}\n"
        )
    };
    let text = format!(
        "composite Main {{ graph stream<int32 n> A = Beacon() {{}}\n{}{}}}\n",
        operator("B"),
        operator("C")
    );
    let mut source = generated("code\n");
    source.generated = source.generated.map(|made| GeneratedOrigin {
        lines: vec![1; text.split('\n').count()],
        ..made
    });
    source.text = text.clone();
    let output = compiler::compile(CompileInput {
        files: vec![(PathBuf::from("M.splmm"), source)],
        ..support::input("", "", None)
    });
    assert_eq!(codes(&output), ["contradicting-placement"]);
    let places = text.match_indices("placement");
    let places: Vec<_> = places.map(|(at, _)| at as u32).collect();
    let finding = &output.diagnostics[0];
    let label = finding.labels[0].span.start;
    assert_eq!([label, finding.span.start], places[..]);
}

/// The definitions that are printed are those that the program is compiled with.
#[test]
fn symbols_of_generated_files_are_printed_if_the_program_needs_them() {
    let made = format!("code\n{SOURCE}");
    let needed = [("Main.spl", MAIN), ("Made.splmm", &made)];
    let text = symbols(&needed);
    assert!(text.contains("composite Source  Made.splmm:2"), "{text}");
    let enough = [needed[0], ("Source.spl", SOURCE), ("Other.splmm", &made)];
    let text = symbols(&enough);
    assert!(text.contains("composite Source  Source.spl:1"), "{text}");
    assert!(!text.contains("Other.splmm"), "{text}");
}

fn symbols(files: &[(&str, &str)]) -> String {
    let (path, text) = files[0];
    let output = compiler::print_symbols(CompileInput {
        files: vec![(PathBuf::from(path), text.into())],
        loader: &Files(files),
        ..support::input("", "", None)
    });
    output.program.expect("there is no error")
}
