//! Any bytes as text, csv, txt, bin, json, normal frames and flat memory of any type: nothing
//! panics, what is accepted is of the type, and what is printed again is read again.
//!
//! ```text
//!   type, in prefix code .. | format and piece, 2 bytes | the rest: what is read
//! ```
//! `cargo +nightly fuzz run formats`

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use thalweg_tuple::layout::check;
use thalweg_tuple::text::{
    ReadOptions, Record, RecordFormat, TextReader, bin, new_reader, parse_whole, print,
    print_tuple, read,
};
use thalweg_tuple::{EnumType, Layout, TupleBuf, TupleType, Type, normal};

fuzz_target!(|input: &[u8]| {
    let mut rest = input;
    let schema = tuple(&mut rest, 0);
    let (format, piece) = (next(&mut rest), next(&mut rest));
    let layout = Layout::new(&Arc::new(schema));
    text(&layout, rest);
    flat(&layout, rest);
    wire(&layout, rest);
    records(&layout, format, usize::from(piece) + 1, rest);
});

/// Takes the next byte; 0 behind the end.
fn next(rest: &mut &[u8]) -> u8 {
    rest.split_off_first().copied().unwrap_or(0)
}

fn text(layout: &Layout, data: &[u8]) {
    let ty = Type::Tuple(layout.schema.clone());
    if let Ok(value) = read(&mut TextReader::new(data), &ty) {
        assert!(value.has_type(&ty));
        let mut out = Vec::new();
        print(&value, &ty, &mut out);
        parse_whole(&out, &ty).expect("what is printed can be read");
    }
    if let Ok((value, len)) = bin::read_value(data, &ty) {
        assert!(len <= data.len());
        let mut out = Vec::new();
        bin::write_value(&value, &ty, &mut out);
        let (copy, _) = bin::read_value(&out, &ty).expect("what is written can be read");
        assert_eq!(copy, value);
    }
}

fn flat(layout: &Layout, data: &[u8]) {
    if check(layout, data).is_ok() {
        let (mut buf, mut copy, mut out) = (TupleBuf::default(), TupleBuf::default(), Vec::new());
        buf.copy_from_bytes(data);
        print_tuple(buf.as_ref(), layout, &mut out);
        let value = buf.as_ref().to_value(layout);
        copy.set_all(layout, &value);
        check(layout, copy.as_ref().bytes()).expect("what is built is valid");
        assert_eq!(copy.as_ref().to_value(layout), value);
    }
}

fn wire(layout: &Layout, data: &[u8]) {
    let (mut buf, mut copy, mut out) = (TupleBuf::default(), TupleBuf::default(), Vec::new());
    if normal::decode(data, layout, &mut buf).is_ok() {
        check(layout, buf.as_ref().bytes()).expect("what is decoded is valid");
        normal::encode(buf.as_ref(), layout, &mut out);
        normal::decode(&out, layout, &mut copy).expect("what is encoded can be decoded");
        let value = |buf: &TupleBuf| buf.as_ref().to_value(layout);
        assert_eq!(value(&copy), value(&buf));
    }
}

fn records(layout: &Arc<Layout>, format: u8, piece: usize, data: &[u8]) {
    let options = ReadOptions {
        has_delay: format & 8 != 0,
        ignore_extra: format & 16 != 0,
        reports_faults: format & 32 == 0,
        punctuations: format & 64 != 0,
        record_bytes_max: if format & 128 != 0 { 64 } else { 1 << 20 },
        ..ReadOptions::default()
    };
    let formats = [
        RecordFormat::Csv,
        RecordFormat::Txt,
        RecordFormat::Bin,
        RecordFormat::Line,
        RecordFormat::Block,
        RecordFormat::Json,
    ];
    let format = formats[usize::from(format & 7) % formats.len()];
    let Ok(mut reader) = new_reader(format, layout.clone(), options) else {
        return;
    };
    let (mut buf, mut start, mut end) = (TupleBuf::default(), 0, 0);
    loop {
        let step = reader.read(&data[start..end], end == data.len(), &mut buf);
        start += step.consumed;
        match step.record {
            Record::End => break,
            Record::NeedMore => {
                assert!(end < data.len(), "all has been given");
                end = (end + piece).min(data.len());
            }
            Record::Tuple { .. } => check(layout, buf.as_ref().bytes()).expect("a valid tuple"),
            _ => {}
        }
    }
    assert_eq!(start, data.len());
}

fn tuple(rest: &mut &[u8], depth: usize) -> TupleType {
    let count = next(rest) % 4 + 1;
    TupleType::new((0..count).map(|at| (format!("a{at}"), ty(rest, depth + 1))))
}

fn ty(rest: &mut &[u8], depth: usize) -> Type {
    const PLAIN: [Type; 21] = [
        Type::RString,
        Type::Boolean,
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
        Type::Complex32,
        Type::Complex64,
        Type::Timestamp,
        Type::UString,
        Type::Blob,
        Type::Xml(None),
    ];
    let code = next(rest);
    let bound = (code & 128 != 0).then_some(u32::from(code >> 5 & 3) + 1);
    let kind = usize::from(code & 31);
    if let Some(plain) = PLAIN.get(kind) {
        return plain.clone();
    }
    let inner = |rest: &mut &[u8]| {
        if depth > 3 {
            Type::Int8
        } else {
            ty(rest, depth + 1)
        }
    };
    match kind - PLAIN.len() {
        0 | 1 => Type::List(Arc::new(inner(rest)), bound),
        2 | 3 => Type::Set(Arc::new(inner(rest)), bound),
        4 | 5 => Type::Map(Arc::new((inner(rest), inner(rest))), bound),
        6 | 7 if depth <= 3 => Type::Tuple(Arc::new(tuple(rest, depth))),
        8 => Type::BoundedRString(bound.unwrap_or(5)),
        9 => Type::Enum(Arc::new(EnumType {
            names: vec!["red".into(), "green".into()],
        })),
        _ => match inner(rest) {
            Type::Optional(t) => Type::Optional(t),
            plain => Type::Optional(Arc::new(plain)),
        },
    }
}
