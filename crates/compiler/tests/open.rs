//! Values that are not given yet are no errors: formals of composites that nothing invokes, and
//! submission-time values in a check.

mod support;

use thalweg_compiler as compiler;

/// A composite that nobody invokes, of every kind of formal, beside a main one.
const LIBRARY: &str = "
composite Main {
    graph
        () as S = Custom() { logic onProcess : println(1); }
}

composite Spare(output Out; input In) {
    param
        expression<int32> $n;
        expression $any;
        expression<rstring> $name : getSubmissionTimeValue(\"name\");
        attribute $key;
        function $change;
        operator $stage : Functor;
        type $result;
    graph
        stream<$result> Changed = $stage(In) {
            output Changed : value = $change($key);
        }
        stream<In> Out = Custom(In) {
            logic
                state : mutable list<In> seen = [];
                onTuple In : {
                    println($n);
                    println($any);
                    printStringLn($name);
                    $change($key);
                    appendM(seen, In);
                    println(In);
                    println(value + $n);
                    submit(In, Out);
                }
        }
        () as Lines = FileSink(In) { param file : \"lines\"; format : line; }
        stream<In> Read = FileSource(In) { param format : line; }
        stream<$result> Packed = Compress(In) { param compression : zlib; }
        () as S = Custom(Changed) { logic onTuple Changed : println(Changed.value); }
}
";

/// Submission-time values that have no default, in a main composite.
const ASKS: &str = "
composite Main {
    param
        expression<rstring> $name : getSubmissionTimeValue(\"name\");
        expression<list<rstring>> $all : getSubmissionTimeListValue(\"all\");
    graph
        () as S = Custom() {
            logic onProcess : {
                println($name);
                println(size($all));
                println(getSubmissionTimeValue(\"other\"));
            }
        }
}
";

#[test]
fn a_composite_that_nobody_invokes_is_nothing_wrong() {
    for ask in [compiler::compile, compiler::check] {
        let output = ask(support::input("library.spl", LIBRARY, None));
        assert!(output.diagnostics.is_empty(), "{:?}", output.diagnostics);
    }
    let output = compiler::compile(support::input("library.spl", LIBRARY, None));
    assert!(output.program.is_some());
}

#[test]
fn a_check_asks_for_no_submission_time_values() {
    let output = compiler::check(support::input("asks.spl", ASKS, None));
    assert!(output.diagnostics.is_empty(), "{:?}", output.diagnostics);
    let output = compiler::compile(support::input("asks.spl", ASKS, None));
    let codes = output.diagnostics.iter().map(|finding| finding.code);
    assert_eq!(codes.collect::<Vec<_>>(), ["missing-submission-value"; 3]);
}

/// The invoking composite may not know yet what it gives; the invoked one declares it.
#[test]
fn a_port_has_the_type_that_it_declares_whatever_feeds_it() {
    let inner = "composite Inner(input stream<int32 a> In) { graph\n\
                 () as S = Custom(In) { logic onTuple In : println(b); } }\n";
    let outer = "composite Outer(input In) { graph () as S = Inner(In) {} }\n";
    for text in [[inner, outer].concat(), [outer, inner].concat()] {
        let output = compiler::check(support::input("library.spl", &text, None));
        let codes = output.diagnostics.iter().map(|finding| finding.code);
        assert_eq!(codes.collect::<Vec<_>>(), ["unknown-name"], "{text}");
    }
}
