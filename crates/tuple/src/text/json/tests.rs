//! JSON against texts by hand; the properties of all types are in `crate::properties`.

use std::sync::Arc;

use super::*;
use crate::text::{
    ReadOptions, Record, RecordFormat, WriteOptions, new_reader, new_writer, to_text,
};
use crate::{Layout, TupleBuf, TupleType, Type, Value};

fn schema() -> Arc<TupleType> {
    let inner = TupleType::new([("x", Type::Int32), ("y", Type::RString)]);
    Arc::new(TupleType::new([
        ("n", Type::Int32),
        ("s", Type::RString),
        ("f", Type::Float64),
        ("o", Type::Optional(Arc::new(Type::Int64))),
        ("l", Type::List(Arc::new(Type::Int32), None)),
        ("t", Type::Tuple(Arc::new(inner))),
        ("d", Type::Decimal128),
    ]))
}

/// Reads all records of a text that comes in pieces of some bytes; a line for each.
fn records(text: &str, piece: usize) -> Vec<String> {
    let (layout, bytes) = (Layout::new(&schema()), text.as_bytes());
    let ty = Type::Tuple(schema());
    let mut reader =
        new_reader(RecordFormat::Json, layout.clone(), ReadOptions::default()).expect("suits");
    let (mut buf, mut start, mut end) = (TupleBuf::default(), 0, 0);
    let mut lines = Vec::new();
    loop {
        let step = reader.read(&bytes[start..end], end == bytes.len(), &mut buf);
        start += step.consumed;
        match step.record {
            Record::End => return lines,
            Record::NeedMore => {
                assert!(end < bytes.len(), "there is no more");
                end = (end + piece).min(bytes.len());
            }
            Record::Tuple { .. } => {
                lines.push(to_text(&buf.as_ref().to_value(&layout), &ty));
            }
            Record::Rejected(error) => lines.push(error.to_string()),
            Record::Punctuation(mark) => lines.push(format!("{mark:?}")),
        }
    }
}

/// Checks the records of a text in pieces of every size.
fn check_records(text: &str, expected: &[&str]) {
    for piece in 1..=text.len() {
        assert_eq!(records(text, piece), expected, "in pieces of {piece}");
    }
}

const EMPTY: &str = r#"{n=0,s="",f=0,o=null,l=[],t={x=0,y=""},d=0}"#;

fn with_n(n: i32) -> String {
    EMPTY.replace("n=0", &format!("n={n}"))
}

#[test]
fn an_object_is_a_tuple_whatever_the_order_of_its_entries() {
    check_records(
        r#"{"t":{"y":"in","z":1,"x":4},"n":-1,"other":[{"n":5}],"s":"a\"b\u00e9\ud83d\ude00","f":1,
"o":9007199254740993,"l":[1,null,3],"d":12345678901234567890.123450}
"#,
        &[
            r#"{n=-1,s="a\"bé😀",f=1,o=9007199254740993,l=[1,3],t={x=4,y="in"},d=12345678901234567890.123450}"#,
        ],
    );
}

#[test]
fn objects_stand_in_lines_over_lines_and_in_arrays() {
    let one_to_six: Vec<_> = (1..=6).map(with_n).collect();
    let expected: Vec<_> = one_to_six.iter().map(|line| &**line).collect();
    check_records(
        "{\"n\":1}\r\n\n {\"n\":2} {\"n\":3}\n{\n  \"n\": 4\n}\n[{\"n\":5},\n{\"n\":6}]\n",
        &expected,
    );
    check_records(
        r#"[{"n":1},{"n":2,"s":null},{"n":3}][{"n":4}]{"n":5}{"n":6}"#,
        &expected,
    );
}

#[test]
fn null_and_what_is_missing_give_defaults_and_strings_may_hold_numbers() {
    check_records(
        r#"{"n":null,"s":null,"f":null,"o":null,"t":null,"d":null}"#,
        &[EMPTY],
    );
    check_records(
        r#"{"n":"7","f":"1e3","o":"8","d":"1.50","s":2.5}"#,
        &[r#"{n=7,s="2.5",f=1000,o=8,l=[],t={x=0,y=""},d=1.50}"#],
    );
    check_records(r#"{"n":3.0}"#, &[&with_n(3)]);
}

#[test]
fn a_malformed_line_is_rejected_alone() {
    let good = with_n(2);
    let cases = [
        (r#"{"n":1"#, "1:7: expected the rest of the JSON value"),
        (r#"{"n":1,}"#, r#"1:8: expected '\"', found '}'"#),
        (r#"{"n" 1}"#, "1:6: attribute n: expected ':', found '1}'"),
        (
            r#"{"n":1e}"#,
            "1:7: attribute n: expected a JSON value, found 'e}'",
        ),
        ("hello", "1:1: expected a JSON value, found 'hello'"),
        ("17", "1:2: expected a JSON object, found '17'"),
        (
            r#"{"n":2.5}"#,
            "1:8: attribute n: expected a value of type int32, found '2.5'",
        ),
        (
            r#"{"n":3000000000}"#,
            "1:15: attribute n: expected a number within the range of int32, found '3000000000'",
        ),
        (
            r#"{"t":{"x":"a"}}"#,
            "1:13: attribute t.x: expected a value of type int32, found 'a'",
        ),
        (
            r#"{"l":{"a":1}}"#,
            "1:12: attribute l: expected a value of type list<int32>, found '{'",
        ),
        (
            r#"{"t":[1]}"#,
            "1:8: attribute t: expected a value of type tuple<int32 x, rstring y>, found '['",
        ),
    ];
    let found = cases.map(|(line, _)| {
        let text = format!("{line}\n{{\"n\":2}}\n");
        let mut found = records(&text, text.len());
        assert_eq!(found.pop().as_ref(), Some(&good), "{line}");
        found.concat()
    });
    assert_eq!(found, cases.map(|(_, message)| message.to_owned()));
}

#[test]
fn after_a_malformed_object_over_lines_reading_goes_on_at_the_next_one() {
    let good = with_n(2);
    let text = "{\n  \"n\": x\n}\n{\"n\":2}\n{\n \"n\": 2\n}\n";
    let found = records(text, text.len());
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(
        found[0],
        "2:8: attribute n: expected a JSON value, found 'x'"
    );
    assert_eq!(found[1..], [good.clone(), good]);
}

#[test]
fn an_array_that_is_cut_off_is_told() {
    let found = records("[{\"n\":2}\n", 3);
    assert_eq!(found, [with_n(2), "2:1: expected ',' or ']'".to_owned()]);
}

#[test]
fn tuples_are_written_an_object_a_line() {
    let layout = Layout::new(&schema());
    let mut writer =
        new_writer(RecordFormat::Json, layout.clone(), WriteOptions::default()).expect("suits");
    let text = r#"{"n":1,"s":"a\nb","f":0.1,"o":5,"l":[1,2],"t":{"x":2,"y":"\u0001"},"d":1.50}"#;
    let mut value = Value::default_of(&Type::Tuple(schema()));
    let ty = Type::Tuple(schema());
    fill_json(text.as_bytes(), &ty, &mut value, &JsonOptions::default()).expect("JSON");
    let (mut buf, mut out) = (TupleBuf::default(), Vec::new());
    buf.set_all(&layout, &value);
    writer.write(buf.as_ref(), None, &mut out);
    assert_eq!(String::from_utf8_lossy(&out), format!("{text}\n"));
}

#[test]
fn what_is_no_number_of_json_is_a_string() {
    let ty = Type::List(Arc::new(Type::Float64), None);
    let list = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300].map(Value::Float64);
    let list = Value::List(crate::List::from_values(&Type::Float64, list));
    let mut out = Vec::new();
    print_json(&list, &ty, &JsonWriteOptions::default(), &mut out);
    assert_eq!(
        String::from_utf8_lossy(&out),
        r#"["NaN","Infinity","-Infinity",1e300]"#
    );
    let mut copy = Value::default_of(&ty);
    fill_json(&out, &ty, &mut copy, &JsonOptions::default()).expect("what was written");
    assert_eq!(copy, list);
}

#[test]
fn unchecked_reading_gives_defaults_to_values_that_do_not_fit() {
    let layout = Layout::new(&schema());
    let options = ReadOptions {
        reports_faults: false,
        ..ReadOptions::default()
    };
    let mut reader = new_reader(RecordFormat::Json, layout.clone(), options).expect("suits");
    let text = br#"{"n":2.5,"s":"kept","l":[1,"x"],"t":7,"f":0.5}"#;
    let mut buf = TupleBuf::default();
    let step = reader.read(text, true, &mut buf);
    assert!(matches!(step.record, Record::Tuple { .. }));
    let mut writer =
        new_writer(RecordFormat::Json, layout, WriteOptions::default()).expect("suits");
    let mut out = Vec::new();
    writer.write(buf.as_ref(), None, &mut out);
    assert_eq!(
        String::from_utf8_lossy(&out),
        "{\"n\":0,\"s\":\"kept\",\"f\":0.5,\"o\":null,\"l\":[1],\"t\":{\"x\":0,\"y\":\"\"},\"d\":0}\n"
    );
}

#[test]
fn a_tuple_keeps_what_the_text_does_not_have() {
    let ty = Type::Tuple(schema());
    let mut value = Value::default_of(&ty);
    let options = JsonOptions {
        is_lenient: true,
        null: JsonNull::Keep,
        ..JsonOptions::default()
    };
    for text in [
        r#"{"n":1,"t":{"x":5}}"#,
        r#"{"n":null,"s":"a","t":{"y":"b"},"o":3}"#,
        r#"{"n":"no number","t":"no object","l":"no list","o":null}"#,
    ] {
        fill_json(text.as_bytes(), &ty, &mut value, &options).expect("JSON");
    }
    assert_eq!(
        to_text(&value, &ty),
        r#"{n=1,s="a",f=0,o=null,l=[],t={x=5,y="b"},d=0}"#
    );
}

#[test]
fn paths_find_parts_of_a_document() {
    let text = br#"{"a":[1,"2",{"b/c":null}],"m~n":true,"f":1.5,"":7,"l":["x","y"]}"#;
    let document = JsonDocument::parse(text).expect("JSON");
    let int = |path| document.query(path, &Type::Int32);
    assert_eq!(int("/a/0"), (JsonFinding::Found, Some(Value::Int32(1))));
    assert_eq!(int("/a/1"), (JsonFinding::FoundCast, Some(Value::Int32(2))));
    assert_eq!(int("/a/2/b~1c"), (JsonFinding::FoundNull, None));
    assert_eq!(int("/a/01"), (JsonFinding::NotFound, None));
    assert_eq!(int("/f"), (JsonFinding::FoundWrongType, None));
    assert_eq!(int("/"), (JsonFinding::Found, Some(Value::Int32(7))));
    assert_eq!(int("a"), (JsonFinding::PathMustBeginWithSlash, None));
    assert_eq!(int("/m~2"), (JsonFinding::InvalidEscape, None));
    assert_eq!(int("#/a%2"), (JsonFinding::InvalidPercentEncoding, None));
    assert_eq!(
        document.query("#/m%7E0n", &Type::Boolean),
        (JsonFinding::Found, Some(Value::Boolean(true)))
    );
    assert_eq!(
        document.query("/a/0", &Type::RString),
        (JsonFinding::FoundWrongType, None)
    );
    let ty = Type::List(Arc::new(Type::RString), None);
    let (finding, list) = document.query("/l", &ty);
    assert_eq!(finding, JsonFinding::Found);
    assert_eq!(to_text(&list.expect("a list"), &ty), r#"["x","y"]"#);
}

#[test]
fn mistakes_of_documents_have_the_names_of_the_toolkit() {
    let cases = [
        ("", JsonMistake::DocumentEmpty),
        ("{} {}", JsonMistake::MultipleRoots),
        ("{\"a\":}", JsonMistake::ValueInvalid),
        ("{1:2}", JsonMistake::KeyMissing),
        ("{\"a\" 1}", JsonMistake::ColonMissing),
        (
            "{\"a\":1 \"b\":2}",
            JsonMistake::ObjectCommaOrBracketMissing,
        ),
        ("[1 2]", JsonMistake::ArrayCommaOrBracketMissing),
        ("{\"a\":1", JsonMistake::ObjectCommaOrBracketMissing),
        ("[1", JsonMistake::ArrayCommaOrBracketMissing),
        ("{", JsonMistake::KeyMissing),
        ("[\"abc", JsonMistake::StringQuotationMissing),
    ];
    for (text, mistake) in cases {
        let failure = JsonDocument::parse(text.as_bytes()).expect_err("malformed");
        assert_eq!(
            failure.mistake(text.as_bytes()),
            mistake,
            "{text}: {failure}"
        );
    }
}

#[test]
fn json_that_nests_deep_ends_no_stack() {
    let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let document = JsonDocument::parse(deep(254).as_bytes()).expect("not too deep");
    assert_eq!(
        document.query("/0/0", &Type::Int32).0,
        JsonFinding::FoundWrongType
    );
    for depth in [255, 1 << 20] {
        let text = deep(depth);
        let failure = JsonDocument::parse(text.as_bytes()).expect_err("too deep");
        assert_eq!(failure.mistake(text.as_bytes()), JsonMistake::Termination);
        assert_eq!(
            failure.to_string(),
            "1:1: expected JSON that nests at most 254 deep"
        );
    }
    let ty = Type::Tuple(schema());
    for entry in ["x", "l", "n", "s", "t", "d"] {
        let text = format!(r#"{{"{entry}": {}}}"#, deep(1 << 20));
        let mut value = Value::default_of(&ty);
        let read = fill_json(text.as_bytes(), &ty, &mut value, &JsonOptions::default());
        assert!(read.is_err(), "{entry}");
        let found = records(&text, text.len());
        assert_eq!(
            found,
            ["1:1: expected JSON that nests at most 254 deep"],
            "{entry}"
        );
        // Over several lines, and in an array.
        assert_eq!(
            records(&text.replace(':', ":\n"), text.len()).len(),
            1,
            "{entry}"
        );
        let found = records(&format!("[{text},{{\"n\":2}}]"), 1 << 16);
        assert_eq!(found.last(), Some(&with_n(2)), "{entry}");
    }
}
