//! The rules of csv by example, whole and cut at every byte.

use std::sync::Arc;

use proptest::prelude::*;

use super::CsvReader;
use crate::text::{
    ExpectedInput, ReadOptions, Record, RecordFormat, RecordReader, WriteOptions, print_tuple,
};
use crate::text::{new_reader, new_writer};
use crate::{Layout, Punctuation, TupleBuf, TupleType, Type, Value};

fn layout(types: &[Type]) -> Arc<Layout> {
    let names = ["a", "b", "c", "d", "e"];
    let attributes = names.iter().copied().zip(types.iter().cloned());
    Layout::new(&Arc::new(TupleType::new(attributes)))
}

/// Everything a reader makes of a text: tuples as they print, errors as their message.
fn collect(
    reader: &mut dyn RecordReader,
    layout: &Layout,
    text: &[u8],
    piece: usize,
) -> Vec<String> {
    let (mut items, mut buf, mut start, mut end) = (Vec::new(), TupleBuf::default(), 0, 0);
    loop {
        let step = reader.read(&text[start..end], end == text.len(), &mut buf);
        start += step.consumed;
        match step.record {
            Record::NeedMore => {
                assert!(end < text.len(), "no more than all can be given");
                end = (end + piece).min(text.len());
            }
            Record::Tuple { delay } => {
                let mut out = Vec::new();
                print_tuple(buf.as_ref(), layout, &mut out);
                let wait = if delay == 0.0 {
                    String::new()
                } else {
                    format!("{delay}s ")
                };
                items.push(wait + &String::from_utf8_lossy(&out));
            }
            Record::Rejected(error) => items.push(error.to_string()),
            Record::Punctuation(p) => items.push(format!("{p:?}")),
            Record::End => {
                assert_eq!(start, text.len());
                return items;
            }
        }
    }
}

fn read_as(format: RecordFormat, text: &str, types: &[Type], options: ReadOptions) -> Vec<String> {
    let layout = layout(types);
    let mut reader = new_reader(format, layout.clone(), options).unwrap();
    let whole = collect(&mut *reader, &layout, text.as_bytes(), text.len().max(1));
    for piece in [1, 2, 3, 7] {
        reader.restart();
        let pieces = collect(&mut *reader, &layout, text.as_bytes(), piece);
        assert_eq!(pieces, whole, "in pieces of {piece} bytes");
    }
    whole
}

fn read(text: &str, types: &[Type]) -> Vec<String> {
    read_as(RecordFormat::Csv, text, types, ReadOptions::default())
}

#[test]
fn fields_in_order() {
    let types = [
        Type::RString,
        Type::Int32,
        Type::Float64,
        Type::Decimal64,
        Type::Boolean,
    ];
    let text = "IBM,-5,1.5,83.10,true\n\"a,b\",+7,1e3,inf,false\r\nlast,0,nan,1e-4,true";
    assert_eq!(
        read(text, &types),
        [
            r#"{a="IBM",b=-5,c=1.5,d=83.10,e=true}"#,
            r#"{a="a,b",b=7,c=1000,d=inf,e=false}"#,
            r#"{a="last",b=0,c=nan,d=1e-04,e=true}"#,
        ]
    );
}

#[test]
fn blanks_empty_fields_and_quotes() {
    let types = [Type::RString, Type::Int32, Type::RString];
    let text = "  x y  , 4 \t,  z \n,,\n\"\" , ,''\n";
    assert_eq!(
        read(text, &types),
        [
            r#"{a="x y  ",b=4,c="z "}"#,
            r#"{a="",b=0,c=""}"#,
            r#"{a="",b=0,c=""}"#,
        ]
    );
}

#[test]
fn defaults_for_empty_fields_only() {
    let types = [
        Type::RString,
        Type::Int32,
        Type::List(Arc::new(Type::RString), None),
    ];
    let layout = layout(&types);
    let mut defaults = TupleBuf::default();
    defaults.begin(&layout);
    defaults.set(&layout, 0, &Value::RString("none".into()));
    defaults.set(&layout, 1, &Value::Int32(-1));
    let list = [Value::RString("l".into())];
    let list = crate::List::from_values(&Type::RString, list);
    defaults.set(&layout, 2, &Value::List(list));
    let options = ReadOptions {
        defaults: Some(defaults),
        ..ReadOptions::default()
    };
    assert_eq!(
        read_as(RecordFormat::Csv, ",,\n\"\",5,[]\n", &types, options),
        [r#"{a="none",b=-1,c=["l"]}"#, r#"{a="",b=5,c=[]}"#]
    );
}

#[test]
fn lines_that_are_no_records() {
    let text = "# head\n\n  \t\n  # more\r\r\n1\r2\r\n\n3";
    assert_eq!(read(text, &[Type::Int32]), ["{a=1}", "{a=2}", "{a=3}"]);
    assert_eq!(read("", &[Type::Int32]), [""; 0]);
    assert_eq!(read("# only", &[Type::Int32]), [""; 0]);
    let header = ReadOptions {
        header_lines: 2,
        ..ReadOptions::default()
    };
    assert_eq!(
        read_as(
            RecordFormat::Csv,
            "x\n# y\n# z\n1\n",
            &[Type::Int32],
            header
        ),
        ["{a=1}"]
    );
}

#[test]
fn quoted_strings_span_lines() {
    let text = "\"a\nb\",[\"c\nd\",'e']\n2,x\n";
    let types = [Type::RString, Type::List(Arc::new(Type::RString), None)];
    assert_eq!(
        read(text, &types),
        [
            r#"{a="a\nb",b=["c\nd","e"]}"#,
            "4:3: attribute b: expected '[', found 'x'"
        ]
    );
}

#[test]
fn doubled_quotes_are_quotes() {
    let text =
        "\"say \"\"hi\"\", please\",\"\"\"\"\n'it''s',\"\"\n\"a\"\"\nb\"\"\",\"c\"d\n\"e\"\"";
    let types = [Type::RString, Type::UString];
    assert_eq!(
        read(text, &types),
        [
            r#"{a="say \"hi\", please",b="\""}"#,
            r#"{a="it's",b=""}"#,
            "4:9: expected the end of the line, found 'd' in the record that begins in line 3",
            "4:9: expected the end of the line, found 'd'",
            "5:4: expected the closing \" of a string, found '\"'",
        ]
    );
}

#[test]
fn lines_behind_a_lost_quote_are_read() {
    let lost = "a,1\nb,\"2\nc,3\nd,\"4\",5\ne,6\n";
    assert_eq!(
        read(lost, &[Type::RString, Type::RString]),
        [
            r#"{a="a",b="1"}"#,
            "4:4: expected the end of the line, found '4\",5' in the record that begins in line 2",
            r#"{a="c",b="3"}"#,
            "4:6: expected the end of the line, found ',5'",
            r#"{a="e",b="6"}"#,
        ]
    );
}

#[test]
fn a_timestamp_in_another_form_is_told_the_right_one() {
    assert_eq!(
        read(
            "2026-11-28T10:17:25Z\n(1,2,x)\n(1,2,3)\n",
            &[Type::Timestamp]
        ),
        [
            "1:1: attribute a: expected a value of type timestamp, as \
             (seconds,nanoseconds,machine), found '2026-11-28T10:17:25Z'",
            "2:6: attribute a: expected a value of type int32, found 'x)'",
            "{a=(1,2,3)}",
        ]
    );
}

#[test]
fn faults_and_what_follows_them() {
    let types = [Type::Int8, Type::RString];
    let text = "1,a\n300,b\n2\n3,c,d\nx,e\n4,'f'g\n5,h\n6,'i";
    assert_eq!(
        read(text, &types),
        [
            r#"{a=1,b="a"}"#,
            "2:1: attribute a: expected a number within the range of int8, found '300'",
            "3:2: attribute b: expected 2 fields, but the line ends after 1",
            "4:4: expected the end of the line, found ',d'",
            "5:1: attribute a: expected a value of type int8, found 'x'",
            "6:6: expected the end of the line, found 'g'",
            r#"{a=5,b="h"}"#,
            "8:3: attribute b: expected the closing ' of a string, found ''i'",
        ]
    );
}

#[test]
fn extra_fields_may_be_ignored() {
    let options = ReadOptions {
        ignore_extra: true,
        ..ReadOptions::default()
    };
    let types = [Type::Int32];
    let text = "1,2,3\n4\n5 , x y,";
    assert_eq!(
        read_as(RecordFormat::Csv, text, &types, options.clone()),
        ["{a=1}", "{a=4}", "{a=5}"]
    );
    // Line ends within quotes belong to the field.
    let text = "1,\"a\nb\",2\n2,x\"y\n3,\"a\"\"\n,\"\"b\", \"c\\\"\nd\" \nx\n4,'tis\n4,\"open\n5\n";
    assert_eq!(
        read_as(RecordFormat::Csv, text, &types, options),
        [
            "{a=1}",
            "{a=2}",
            "{a=3}",
            "7:1: attribute a: expected a value of type int32, found 'x'",
            "{a=4}",
            "{a=4}",
            "{a=5}"
        ]
    );
}

#[test]
fn unchecked_reading_takes_what_there_is() {
    let options = ReadOptions {
        reports_faults: false,
        ..ReadOptions::default()
    };
    let types = [Type::Int32, Type::Float64];
    assert_eq!(
        read_as(RecordFormat::Csv, "x,2\n3\n4,5,6\n", &types, options),
        ["{a=0,b=2}", "{a=3,b=0}", "{a=4,b=5}"]
    );
}

#[test]
fn optionals_separators_and_delays() {
    let optional = |t| Type::Optional(Arc::new(t));
    let types = [optional(Type::RString), optional(Type::Int32)];
    let options = ReadOptions {
        separator: b';',
        has_delay: true,
        ..ReadOptions::default()
    };
    let text = "0.5,\"x\";3\n1, null ; null\n2,;\n3,bare;1\n4;1;2\n";
    assert_eq!(
        read_as(RecordFormat::Csv, text, &types, options),
        [
            r#"0.5s {a="x",b=3}"#,
            "1s {a=null,b=null}",
            "2s {a=null,b=null}",
            "4:3: attribute a: expected a value of type rstring, found 'bare'",
            "5:2: expected the separator ',', found ';1;2'",
        ]
    );
}

#[test]
fn chosen_attributes_in_their_order() {
    let types = [Type::Int32, Type::RString, Type::UString];
    let options = ReadOptions {
        attributes: Some(vec![2, 0]),
        ..ReadOptions::default()
    };
    let lines = read_as(RecordFormat::Csv, "grün,7\n", &types, options);
    assert_eq!(lines, [r#"{a=7,b="",c="grün"}"#]);
}

#[test]
fn endless_records_are_rejected() {
    let layout = layout(&[Type::RString]);
    let options = ReadOptions {
        record_bytes_max: 16,
        ..ReadOptions::default()
    };
    let mut reader = new_reader(RecordFormat::Csv, layout.clone(), options).unwrap();
    let text = b"\"lost quote, and never another\nnext\n";
    let items = collect(&mut *reader, &layout, text, 4);
    assert_eq!(
        items[0],
        "1:1: expected a record of at most 16 bytes, found '\"lost quote, and nev'"
    );
    assert_eq!(items[1], r#"{a="next"}"#);
}

#[test]
fn writing() {
    let types = [Type::RString, Type::Int32, Type::UString, Type::Blob];
    let layout = layout(&types);
    let mut buf = TupleBuf::default();
    buf.begin(&layout);
    buf.set(&layout, 0, &Value::RString("a,\"b\"".into()));
    buf.set(&layout, 2, &Value::UString("ü".into()));
    buf.set(&layout, 3, &Value::Blob(vec![1, 0xFF]));
    let write = |options: WriteOptions| {
        let mut out = Vec::new();
        let mut writer = new_writer(RecordFormat::Csv, layout.clone(), options).unwrap();
        writer.write(buf.as_ref(), None, &mut out);
        writer.write(buf.as_ref(), Some(1.5), &mut out);
        writer.punctuate(Punctuation::Window, &mut out);
        String::from_utf8(out).unwrap()
    };
    let quoted = "\"a,\\\"b\\\"\",0,\"ü\",01ff\n";
    assert_eq!(
        write(WriteOptions::default()),
        format!("{quoted}1.5,{quoted}")
    );
    let options = WriteOptions {
        attributes: Some(vec![2, 0]),
        separator: b'|',
        quote_strings: false,
        punctuations: true,
        ..WriteOptions::default()
    };
    let expected = "ü|a,\"b\"\n1.5,ü|a,\"b\"\nPunctuation received: WindowMarker\n";
    assert_eq!(write(options), expected);
}

#[test]
fn txt_lines() {
    let types = [Type::Int32, Type::RString];
    let text = "# c\n{a=1,b=\"x\ny\"}\n\n { a = 2 , b = 'z' } \n{a=3}\n{a=4,b=5}\n{a=6,b=''} x\n";
    assert_eq!(
        read_as(RecordFormat::Txt, text, &types, ReadOptions::default()),
        [
            r#"{a=1,b="x\ny"}"#,
            r#"{a=2,b="z"}"#,
            "6:5: expected ',', found '}'",
            "7:8: attribute b: expected a value of type rstring, found '5}'",
            "8:12: expected the end of the line, found 'x'",
        ]
    );
    let options = ReadOptions {
        has_delay: true,
        ..ReadOptions::default()
    };
    let text = "1.5, {a=1,b=\"\"}\n";
    assert_eq!(
        read_as(RecordFormat::Txt, text, &types, options),
        [r#"1.5s {a=1,b=""}"#]
    );
}

#[test]
fn lines_and_blocks() {
    let types = [Type::RString];
    let text = "one\n\nthree\r\nlast";
    assert_eq!(
        read_as(RecordFormat::Line, text, &types, ReadOptions::default()),
        [
            r#"{a="one"}"#,
            r#"{a=""}"#,
            r#"{a="three\r"}"#,
            r#"{a="last"}"#
        ]
    );
    let options = ReadOptions {
        eol: b"\r\n".to_vec(),
        ..ReadOptions::default()
    };
    assert_eq!(
        read_as(RecordFormat::Line, "a\rb\r\n\r\nc\r", &types, options),
        [r#"{a="a\rb"}"#, r#"{a=""}"#, r#"{a="c\r"}"#]
    );
    let options = ReadOptions {
        block_bytes: Some(3),
        ..ReadOptions::default()
    };
    assert_eq!(
        read_as(RecordFormat::Block, "abcde", &[Type::Blob], options),
        ["{a=616263}", "{a=6465}"]
    );
    let whole = read_as(
        RecordFormat::Block,
        "abcde",
        &[Type::Blob],
        ReadOptions::default(),
    );
    assert_eq!(whole, ["{a=6162636465}"]);
}

#[test]
fn formats_check_their_schema() {
    let two = layout(&[Type::RString, Type::Int32]);
    assert!(new_reader(RecordFormat::Line, two.clone(), ReadOptions::default()).is_err());
    assert!(new_writer(RecordFormat::Block, two.clone(), WriteOptions::default()).is_err());
    let options = ReadOptions {
        attributes: Some(vec![0]),
        ..ReadOptions::default()
    };
    assert!(new_reader(RecordFormat::Line, two.clone(), options).is_ok());
    let options = ReadOptions {
        attributes: Some(vec![2]),
        ..ReadOptions::default()
    };
    assert!(new_reader(RecordFormat::Csv, two, options).is_err());
}

#[test]
fn bin_items() {
    let types = [
        Type::Int16,
        Type::RString,
        Type::Optional(Arc::new(Type::Decimal32)),
    ];
    let layout = layout(&types);
    let mut buf = TupleBuf::default();
    buf.begin(&layout);
    buf.set(&layout, 0, &Value::Int16(-2));
    buf.set(&layout, 1, &Value::RString("x".repeat(200).as_str().into()));
    let options = WriteOptions {
        punctuations: true,
        ..WriteOptions::default()
    };
    let mut writer = new_writer(RecordFormat::Bin, layout.clone(), options).unwrap();
    let mut out = Vec::new();
    writer.write(buf.as_ref(), Some(2.0), &mut out);
    writer.punctuate(Punctuation::Window, &mut out);
    writer.punctuate(Punctuation::Final, &mut out);
    let head = [
        0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFE, 0x80, 0, 0, 0, 200, b'x',
    ];
    assert_eq!(out[..17], head);
    assert_eq!(out[out.len() - 4..], [b'x', 0, 1, 2]);
    let options = ReadOptions {
        punctuations: true,
        has_delay: true,
        ..ReadOptions::default()
    };
    let mut reader = new_reader(RecordFormat::Bin, layout.clone(), options).unwrap();
    for piece in [1, 5, out.len()] {
        let items = collect(&mut *reader, &layout, &out, piece);
        assert!(items[0].starts_with("2s {a=-2,b=\"xxx"), "{}", items[0]);
        assert_eq!(items[1..], ["Window", "Final"]);
    }
    out.truncate(30);
    reader.restart();
    let items = collect(&mut *reader, &layout, &out, 30);
    assert_eq!(items, ["1:17: attribute b: expected more bytes"]);
    let mut buf = TupleBuf::default();
    let step = reader.read(&[9], true, &mut buf);
    assert!(matches!(step.record, Record::Rejected(e) if e.expected == ExpectedInput::Marker));
}

/// Pieces of lines that the readers treat differently.
const PIECES: [&str; 32] = [
    ",",
    ",",
    ",",
    ",",
    ",,,",
    "\n",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "#",
    "\"",
    "'",
    "\\",
    "1",
    "-20",
    "+3",
    "128",
    "65536",
    "4.5",
    ".5",
    "6.",
    "1e3",
    "-0.0",
    "123456789.25",
    "99999999999999999999",
    "nan",
    "true",
    "text",
    "a longer text than sixteen bytes",
    "\u{e4}",
];

fn two_ways() -> impl Strategy<Value = (Vec<Type>, String, bool, bool, bool)> {
    let optional = Type::Optional(Arc::new(Type::Int32));
    let types = [
        Type::Int8,
        Type::Int16,
        Type::Int32,
        Type::Int64,
        Type::Uint8,
        Type::Uint16,
        Type::Uint32,
        Type::Uint64,
        Type::Float32,
        Type::Float64,
        Type::Decimal32,
        Type::Decimal64,
        Type::Decimal128,
        Type::RString,
        Type::RString,
        Type::BoundedRString(5),
        Type::UString,
        Type::Boolean,
        optional,
    ];
    let types = proptest::collection::vec(proptest::sample::select(types.to_vec()), 1..5);
    let text = proptest::collection::vec(proptest::sample::select(PIECES.to_vec()), 0..40);
    let text = text.prop_map(|pieces| pieces.concat());
    (types, text, any::<bool>(), any::<bool>(), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn splitting_first_changes_nothing(
        (types, text, ignore_extra, reports_faults, has_defaults) in two_ways(),
        piece in prop_oneof![1..9usize, Just(1000)],
    ) {
        let layout = layout(&types);
        let defaults = has_defaults.then(|| {
            let mut defaults = TupleBuf::default();
            defaults.begin(&layout);
            for (at, ty) in types.iter().enumerate() {
                if *ty == Type::RString {
                    defaults.set(&layout, at, &Value::RString("none".into()));
                }
            }
            defaults
        });
        let options = ReadOptions { ignore_extra, reports_faults, defaults, ..ReadOptions::default() };
        let mut fast = CsvReader::new(layout.clone(), options.clone());
        let mut slow = CsvReader::new(layout.clone(), options);
        prop_assert!(fast.splits_first);
        slow.splits_first = false;
        let bytes = text.as_bytes();
        prop_assert_eq!(
            collect(&mut fast, &layout, bytes, piece),
            collect(&mut slow, &layout, bytes, piece)
        );
    }
}

#[test]
fn separators_that_numbers_hold_are_no_ends() {
    let types = [Type::Float64, Type::Int32, Type::RString];
    for (separator, text, expected) in [
        (b'.', "1.5.-2.x\n", r#"{a=1.5,b=-2,c="x"}"#),
        (b'e', "1e2e7ex\n", r#"{a=100,b=7,c="x"}"#),
        (b';', "1.5;-2;x\n", r#"{a=1.5,b=-2,c="x"}"#),
    ] {
        let options = ReadOptions {
            separator,
            ..ReadOptions::default()
        };
        assert_eq!(
            read_as(RecordFormat::Csv, text, &types, options),
            [expected]
        );
    }
}
