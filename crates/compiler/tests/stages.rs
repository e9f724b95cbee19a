//! Stages between the trees and the program, as `dump --stage symbols` and `--stage instances`
//! print them.

mod support;

use support::input;
use thalweg_compiler::{StageOutput, print_instances, print_symbols};

const PROGRAM: &str = "\
namespace my.app;
type Colour = enum { red, green };
int32 twice(int32 n) { return 2 * n; }
int64 twice(int64 n) { return 2l * n; }
composite Half(output Out; input In) {
    graph
        stream<In> Even = Filter(In) { param filter : n % 2 == 0; }
        stream<In, tuple<int32 half>> Out = Functor(Even) { output Out : half = twice(n) / 4; }
}
composite Main {
    graph
        stream<int32 n> A = Beacon() {}
        stream<int32 n> B = Beacon() {}
        @parallel(width = 2)
        stream<int32 n, int32 half> C = Half(A, B) {}
        () as Sink = Custom(C as In) {}
}
";

#[test]
fn symbols_are_the_definitions_of_the_files() {
    let output = print_symbols(input("Main.spl", PROGRAM, None));
    let text = text(output);
    let (own, prelude): (Vec<_>, Vec<_>) = text.lines().partition(|l| l.contains("Main.spl"));
    let expected = "\
type my.app::Colour  Main.spl:2
enumerator my.app::red  Main.spl:2
enumerator my.app::green  Main.spl:2
function my.app::twice  Main.spl:3
function my.app::twice  Main.spl:4
composite my.app::Half  Main.spl:5
composite my.app::Main  Main.spl:10";
    assert_eq!(own.join("\n"), expected);
    for unit in thalweg_compiler::prelude::UNITS {
        let path = format!("  {}:", unit.path);
        assert!(prelude.iter().any(|line| line.contains(&path)), "{path}");
    }
    let is_prelude = |line: &str| {
        let mut units = thalweg_compiler::prelude::UNITS.iter();
        units.any(|unit| line.contains(&format!("  {}:", unit.path)))
    };
    assert!(prelude.iter().all(|line| is_prelude(line)));
}

#[test]
fn instances_are_operators_that_are_not_connected_yet() {
    let output = print_instances(input("Main.spl", PROGRAM, None));
    let expected = "\
A = spl.utility::Beacon  Main.spl:12
  out #0 A: int32 n
B = spl.utility::Beacon  Main.spl:13
  out #1 B: int32 n
C.split0 = spl.utility.internal::ParallelSplitter  Main.spl:15
  in #0 #1 as C.split0: int32 n
  out #3 C.split0[0]: int32 n
  out #4 C.split0[1]: int32 n
C[0].Even = spl.relational::Filter  Main.spl:7
  in #3 as In: int32 n
  out #6 Even: int32 n
C[0].Out = spl.relational::Functor  Main.spl:8
  in #6 as Even: int32 n
  out #5 Out: int32 n, int32 half
C[1].Even = spl.relational::Filter  Main.spl:7
  in #4 as In: int32 n
  out #8 Even: int32 n
C[1].Out = spl.relational::Functor  Main.spl:8
  in #8 as Even: int32 n
  out #7 Out: int32 n, int32 half
Sink = spl.utility::Custom  Main.spl:16
  in #2 as In: int32 n, int32 half
merged #2 = #5 #7
";
    assert_eq!(text(output), expected);
}

#[test]
fn nothing_is_printed_of_a_program_with_errors() {
    let twice = PROGRAM.replace("composite Main", "composite Half");
    let output = print_symbols(input("Main.spl", &twice, None));
    assert_eq!((output.has_errors(), output.program), (true, None));
    let unknown = PROGRAM.replace("= Filter", "= Filtr");
    assert!(
        print_symbols(input("Main.spl", &unknown, None))
            .program
            .is_some()
    );
    let output = print_instances(input("Main.spl", &unknown, None));
    assert_eq!((output.has_errors(), output.program), (true, None));
}

fn text(output: StageOutput<String>) -> String {
    let said = syntax::render(&output.diagnostics, &output.sources, false);
    output.program.expect(&said)
}
