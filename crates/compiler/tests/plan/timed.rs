//! Which operators submit by timers, and so are origins of what they submit.

use thalweg_compiler as compiler;

use crate::support;

/// Count looks at the time when a tuple comes, Age loses tuples by it, Inner sends what is matched
/// at once, and Quiet tells nobody of its files.
const PROGRAM: &str = r#"composite Main {
  type T = int32 n;
  graph
    stream<T> A = Beacon() { param iterations : 10; }
    stream<T> Period = Aggregate(A) { window A : tumbling, time(1.0); }
    stream<T> Trigger = Aggregate(A) { window A : sliding, count(5), time(1.0); }
    stream<T> Sorted = Sort(A) { window A : tumbling, time(1.0); param sortBy : n; }
    stream<T> Count = Aggregate(A) { window A : sliding, time(1.0), count(1); }
    stream<T> Age = Aggregate(A) { window A : tumbling, count(2), partitioned, partitionAge(1.0);
      param partitionBy : n; }
    stream<T> Inner = Join(A as L; A as R) { window L : sliding, time(1.0); R : sliding, count(0);
      output Inner : n = L.n; }
    stream<T> Left = Join(A as L; A as R) { window L : sliding, time(1.0); R : sliding, count(0);
      param algorithm : leftOuter; output Left : n = L.n; }
    stream<T> Right = Join(A as L; A as R) { window L : sliding, time(1.0); R : sliding, count(0);
      param algorithm : rightOuter; output Right : n = R.n; }
    stream<rstring file> Files = FileSink(A) { param file : "f"; closeMode : time; timePerFile : 1.0; }
    stream<rstring file> Sizes = FileSink(A) { param file : "g"; closeMode : size; bytesPerFile : 9u; }
    () as Quiet = FileSink(A) { param file : "h"; closeMode : time; timePerFile : 1.0; }
}
"#;

#[test]
fn an_operator_is_timed_if_a_timer_makes_it_submit() {
    let output = compiler::compile(support::input("Timed.spl", PROGRAM, None));
    let said = syntax::render(&output.diagnostics, &output.sources, false);
    let program = output.program.unwrap_or_else(|| panic!("{said}"));
    let timed = program.operators.iter().filter(|o| o.timers.submit());
    let timed: Vec<&str> = timed.map(|operator| &*operator.name).collect();
    assert_eq!(timed, ["Period", "Trigger", "Sorted", "Left", "Files"]);
}
