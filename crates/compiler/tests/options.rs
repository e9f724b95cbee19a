//! Effects of the user's options.

mod support;

use compiler::{CompileInput, SideEffectRule};
use thalweg_compiler as compiler;

fn codes(input: CompileInput<'_>) -> Vec<&'static str> {
    let output = compiler::compile(input);
    output
        .diagnostics
        .iter()
        .map(|finding| finding.code)
        .collect()
}

fn input(text: &str) -> CompileInput<'static> {
    support::input("options.spl", text, None)
}

#[test]
fn side_effects_between_assignments_are_ignored_warned_of_or_refused() {
    let text = "composite Main { graph stream<int32 a, int32 b> A = Beacon() {\n\
        logic state : mutable int32 n = 0;\n output A : a = n++, b = n; } }";
    for (rule, expected, refused) in [
        (SideEffectRule::Ignore, &[][..], false),
        (SideEffectRule::Warn, &["output-side-effects"], false),
        (SideEffectRule::Error, &["output-side-effects"], true),
    ] {
        let mut input = input(text);
        input.options.output_side_effects = rule;
        let output = compiler::compile(input);
        let codes: Vec<_> = output
            .diagnostics
            .iter()
            .map(|finding| finding.code)
            .collect();
        assert_eq!(codes, expected);
        assert_eq!(output.program.is_none(), refused);
    }
}

#[test]
fn transports_are_tcp_and_the_media_that_there_are() {
    let text = |medium: &str| {
        format!(
            "composite Main {{ graph stream<int32 a> A = Beacon() {{\n\
             config outputTransport : {medium}; }} }}"
        )
    };
    assert_eq!(codes(input(&text("TCP"))), [""; 0]);
    assert_eq!(codes(input(&text("tcp"))), [""; 0]);
    assert_eq!(codes(input(&text("shm"))), ["config-value"]);
    for (medium, expected) in [
        ("TCP", &[][..]),
        ("tcp", &[]),
        ("shm", &[]),
        ("Shm", &[]),
        ("udp", &["config-value"]),
    ] {
        let text = text(medium);
        let mut input = input(&text);
        input.options.media = vec!["shm".to_owned(), "tcp".to_owned()];
        assert_eq!(codes(input), expected, "{medium}");
    }
}

#[test]
fn values_that_nobody_asks_for_are_warned_of() {
    let text = "composite Main {\n\
        param expression<rstring> $file : getSubmissionTimeValue(\"file\", \"a.txt\");\n\
        graph stream<rstring line> A = FileSource() {\n\
        param file : $file + getCompileTimeValue(\"suffix\", \"\"); format : line; } }";
    let mut given = input(text);
    for name in ["file", "Main.file", "flie", "Other.file"] {
        let values = &mut given.options.submission_values;
        values.insert(name.to_owned(), "b.txt".to_owned());
    }
    for name in ["suffix", "prefix"] {
        let values = &mut given.options.compile_time_values;
        values.insert(name.to_owned(), vec!["c".to_owned()]);
    }
    let output = compiler::compile(given);
    let said = syntax::render(&output.diagnostics, &output.sources, false);
    let expected = "no value is asked for by the name `Other.file` or `flie` or `prefix`";
    assert!(
        said.starts_with(&format!("warning[unused-value]: {expected}\n")),
        "{said}"
    );
    assert!(said.contains("= help: did you mean `file`?"), "{said}");
    assert!(output.program.is_some());
}

#[test]
fn submission_time_values_are_constants_of_the_program() {
    let text = "composite Main {\n\
        param expression<rstring> $file : getSubmissionTimeValue(\"file\");\n\
        graph stream<rstring line> A = FileSource() { param file : $file; format : line; } }";
    assert_eq!(codes(input(text)), ["missing-submission-value"]);
    let mut given = input(text);
    given
        .options
        .submission_values
        .insert("file".to_owned(), "x.txt".to_owned());
    let program = compiler::compile(given).program.expect("it is right");
    let printed = program.to_string();
    assert!(printed.contains("file : \"x.txt\";"), "{printed}");
    let checked = compiler::check(input(text));
    assert!(checked.diagnostics.is_empty(), "a check asks for no values");
    assert!(checked.program.is_none());
}

#[test]
fn compile_time_lists_are_given_with_commas_or_one_by_one() {
    let text = "composite Main {\n\
        param expression<list<rstring>> $tags : getCompileTimeListValue(\"tags\");\n\
        graph stream<list<rstring> tags> A = Beacon() { output A : tags = $tags; } }";
    let mut given = input(text);
    let tags = ["a,b", "", "c,,d"].map(str::to_owned).to_vec();
    let values = &mut given.options.compile_time_values;
    values.insert("tags".to_owned(), tags);
    let program = compiler::compile(given).program.expect("it is right");
    let printed = program.to_string();
    let expected = "tags = [\"a\", \"b\", \"c\", \"\", \"d\"]";
    assert!(printed.contains(expected), "{printed}");
}

#[test]
fn the_main_composite_can_be_named_with_and_without_its_namespace() {
    let text = "namespace my.app;\n\
        composite One { graph stream<int32 a> A = Beacon() {} }\n\
        composite Two { graph stream<int32 a> B = Beacon() {} }";
    for main in ["Two", "my.app::Two"] {
        let mut input = input(text);
        input.main = Some(main);
        let program = compiler::compile(input).program.expect("it is right");
        assert_eq!(&*program.name, "my.app::Two");
        assert_eq!(&*program.operators[0].name, "B");
    }
}

#[test]
fn a_check_types_what_is_done_with_values_that_are_to_come() {
    let program = |statement: &str| {
        format!(
            "rstring given() {{ return getSubmissionTimeValue(\"f\"); }}\n\
             composite Part(input In) {{\n\
             param expression<int32> $n; attribute $key;\n\
             graph () as Out = Custom(In) {{ logic onTuple In : {{ {statement} }} }}\n\
             stream<In> Some = Filter(In) {{ param filter : $n > 0; }}\n\
             stream<In> Last = Aggregate(In) {{\n\
             window In : tumbling, count($n), partitioned; param partitionBy : $key; }} }}\n\
             composite Main {{ graph stream<int32 a> A = Beacon() {{ }} }}"
        )
    };
    for right in [
        "println(getSubmissionTimeValue(\"x\"));",
        "println($n);",
        "println(given());",
        "rstring x = getSubmissionTimeValue(\"x\"); int32 y = (int32) x + $n; println(y);",
        "int32 x = getSubmissionTimeValue(\"x\"); println(x);",
        "for (rstring x in getSubmissionTimeListValue(\"x\")) println(x);",
    ] {
        let checked = compiler::check(input(&program(right)));
        assert!(checked.diagnostics.is_empty(), "{right}: {checked:?}");
    }
    for (wrong, code) in [
        (
            "println(getSubmissionTimeValue(\"x\") + 1);",
            "operator-mismatch",
        ),
        ("println($n + \"a\");", "operator-mismatch"),
        (
            "if (getSubmissionTimeValue(\"x\") == 5) println(1);",
            "operator-mismatch",
        ),
        ("println(length($n));", "argument-mismatch"),
        ("println(given() + 1);", "operator-mismatch"),
    ] {
        let checked = compiler::check(input(&program(wrong)));
        let codes: Vec<&str> = checked.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(codes, [code], "{wrong}");
    }
}
