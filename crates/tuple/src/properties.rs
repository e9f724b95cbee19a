//! Properties of all types and values.

use std::hash::BuildHasher;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::Index;

use crate::arbitrary::{printable_tuples, schemas, tuples, types};
use crate::layout::check;
use crate::text::json::{JsonOptions, fill_json};
use crate::text::{
    ReadOptions, Record, RecordFormat, TextReader, WriteOptions, bin, new_reader, new_writer,
    parse_whole, print, print_tuple, read,
};
use crate::values::KeyHasher;
use crate::{
    Key, Layout, List, Map, RString, Set, TupleBuf, TupleType, Type, UString, Value, normal,
};

/// Formats that hold every printable value.
const EXACT_FORMATS: [RecordFormat; 3] = [RecordFormat::Csv, RecordFormat::Txt, RecordFormat::Bin];

const FORMATS: [RecordFormat; 4] = [
    RecordFormat::Csv,
    RecordFormat::Txt,
    RecordFormat::Bin,
    RecordFormat::Json,
];

/// The value with its strings in ASCII: JSON holds no other bytes that are not UTF-8.
fn ascii(value: &Value) -> Value {
    let byte = |b: u8| b % 128;
    match value {
        Value::RString(text) => Value::RString(RString(text.0.iter().copied().map(byte).collect())),
        Value::Xml(text) => Value::Xml(RString(text.0.iter().copied().map(byte).collect())),
        Value::UString(text) => {
            Value::UString(UString(text.0.iter().map(|unit| unit % 128).collect()))
        }
        Value::List(List::Any(values)) => {
            Value::List(List::Any(values.iter().map(ascii).collect()))
        }
        Value::Set(set) => Value::Set(set.iter().map(ascii).collect()),
        Value::Map(map) => {
            let mut copy = Map::new();
            for (key, value) in map.iter() {
                copy.insert(ascii(key), ascii(value));
            }
            Value::Map(copy)
        }
        Value::Tuple(values) => Value::Tuple(values.iter().map(ascii).collect()),
        Value::Optional(Some(value)) => Value::Optional(Some(Box::new(ascii(value)))),
        other => other.clone(),
    }
}

fn flat(schema: &Arc<TupleType>, value: &Value) -> (Arc<Layout>, TupleBuf) {
    let layout = Layout::new(schema);
    let mut buf = TupleBuf::default();
    buf.set_all(&layout, value);
    (layout, buf)
}

/// Reads bytes in pieces to the end, with options that follow from the size of a piece.
fn drain(format: RecordFormat, schema: &Arc<TupleType>, bytes: &[u8], piece: usize) {
    let layout = Layout::new(schema);
    let options = ReadOptions {
        has_delay: piece.is_multiple_of(2),
        punctuations: piece.is_multiple_of(3),
        ignore_extra: piece.is_multiple_of(5),
        reports_faults: !piece.is_multiple_of(7),
        ..ReadOptions::default()
    };
    let Ok(mut reader) = new_reader(format, layout.clone(), options) else {
        return;
    };
    let (mut buf, mut start, mut end) = (TupleBuf::default(), 0, 0);
    loop {
        let step = reader.read(&bytes[start..end], end == bytes.len(), &mut buf);
        start += step.consumed;
        match step.record {
            Record::End => break,
            Record::NeedMore => {
                assert!(end < bytes.len(), "there is no more");
                end = (end + piece).min(bytes.len());
            }
            Record::Tuple { .. } => {
                check(&layout, buf.as_ref().bytes()).expect("a reader builds tuples");
            }
            Record::Punctuation(_) | Record::Rejected(_) => {}
        }
        assert!(start <= end);
    }
    assert_eq!(start, bytes.len());
}

#[test]
fn a_few_bytes_do_not_stand_for_a_tuple_of_4_gib() {
    let wide = Type::Optional(Arc::new(Type::BoundedRString(1 << 29)));
    let schema = TupleType::new([("l", Type::List(Arc::new(wide), None))]);
    let layout = Layout::new(&Arc::new(schema));
    let mut nulls = vec![100];
    nulls.resize(101, 0);
    let refused = normal::decode(&nulls, &layout, &mut TupleBuf::default());
    assert_eq!(
        refused.expect_err("too large").to_string(),
        "after 1 bytes: expected a record of at most 4294967279 bytes"
    );
}

proptest! {
    #[test]
    fn flat_tuples_hold_values((schema, value) in tuples()) {
        prop_assert!(value.has_type(&Type::Tuple(schema.clone())));
        let (layout, buf) = flat(&schema, &value);
        let tuple = buf.as_ref();
        prop_assert_eq!(check(&layout, tuple.bytes()), Ok(()));
        prop_assert_eq!(tuple.to_value(&layout), value.clone());
        if layout.is_fixed {
            prop_assert_eq!(tuple.bytes().len(), layout.size as usize);
        }
        let (mut a, mut b) = (Vec::new(), Vec::new());
        print_tuple(tuple, &layout, &mut a);
        print(&value, &Type::Tuple(schema.clone()), &mut b);
        prop_assert_eq!(a, b);
    }

    #[test]
    fn copied_attributes_are_equal((schema, value) in tuples()) {
        let (layout, buf) = flat(&schema, &value);
        let mut copy = TupleBuf::default();
        copy.begin(&layout);
        for attribute in (0..layout.offsets.len()).rev() {
            copy.copy_attribute(&layout, attribute, buf.as_ref(), &layout, attribute);
        }
        prop_assert_eq!(check(&layout, copy.as_ref().bytes()), Ok(()));
        prop_assert_eq!(copy.as_ref().to_value(&layout), value);
    }

    #[test]
    fn text_is_read_back((schema, value) in printable_tuples()) {
        let ty = Type::Tuple(schema.clone());
        let mut text = Vec::new();
        print(&value, &ty, &mut text);
        prop_assert_eq!(parse_whole(&text, &ty), Ok(value.clone()));
        let mut buf = TupleBuf::default();
        let layout = Layout::new(&schema);
        buf.begin(&layout);
        crate::text::read_tuple(&mut TextReader::new(&text), &layout, &mut buf).expect("the same");
        prop_assert_eq!(buf.as_ref().to_value(&layout), value);
    }

    #[test]
    fn records_are_read_back((schema, value) in printable_tuples()) {
        let (layout, buf) = flat(&schema, &value);
        for format in EXACT_FORMATS {
            let mut bytes = Vec::new();
            let options = WriteOptions::default();
            let mut writer = new_writer(format, layout.clone(), options).expect("suits");
            writer.write(buf.as_ref(), None, &mut bytes);
            writer.write(buf.as_ref(), None, &mut bytes);
            if bytes.is_empty() {
                prop_assert!(new_reader(format, layout.clone(), ReadOptions::default()).is_err());
                continue;
            }
            let mut reader = new_reader(format, layout.clone(), ReadOptions::default()).expect("suits");
            let mut copy = TupleBuf::default();
            let step = reader.read(&bytes, false, &mut copy);
            prop_assert!(matches!(step.record, Record::Tuple { .. }), "{:?} {:?}", format, step);
            prop_assert_eq!(step.consumed, bytes.len() / 2, "{:?}", format);
            prop_assert_eq!(copy.as_ref().to_value(&layout), value.clone(), "{:?}", format);
        }
    }

    #[test]
    fn json_is_read_back((schema, value) in printable_tuples()) {
        let value = ascii(&value);
        let (layout, buf) = flat(&schema, &value);
        let (mut bytes, mut copy) = (Vec::new(), TupleBuf::default());
        let options = WriteOptions::default();
        let mut writer = new_writer(RecordFormat::Json, layout.clone(), options).expect("suits");
        writer.write(buf.as_ref(), None, &mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        let options = ReadOptions::default();
        let mut reader = new_reader(RecordFormat::Json, layout.clone(), options).expect("suits");
        let step = reader.read(&bytes, true, &mut copy);
        prop_assert!(matches!(step.record, Record::Tuple { .. }), "{:?} of {}", step, text);
        prop_assert_eq!(check(&layout, copy.as_ref().bytes()), Ok(()));
        prop_assert_eq!(&copy.as_ref().to_value(&layout), &value, "{}", text);
        let ty = Type::Tuple(schema);
        let mut filled = Value::default_of(&ty);
        fill_json(&bytes, &ty, &mut filled, &JsonOptions::default()).expect("what was written");
        prop_assert_eq!(filled, value, "{}", text);
    }

    #[test]
    fn bin_keeps_every_value((schema, value) in tuples()) {
        let ty = Type::Tuple(schema);
        let mut bytes = Vec::new();
        bin::write_value(&value, &ty, &mut bytes);
        let (copy, len) = bin::read_value(&bytes, &ty).expect("what was written");
        prop_assert_eq!((copy, len), (value, bytes.len()));
        for cut in 0..bytes.len() {
            prop_assert!(bin::read_value(&bytes[..cut], &ty).is_err());
        }
    }

    #[test]
    fn normal_keeps_every_tuple((schema, value) in tuples(), more: u8) {
        let (layout, buf) = flat(&schema, &value);
        let (mut bytes, mut copy) = (Vec::new(), TupleBuf::default());
        normal::encode(buf.as_ref(), &layout, &mut bytes);
        normal::decode(&bytes, &layout, &mut copy).expect("what was written");
        prop_assert_eq!(check(&layout, copy.as_ref().bytes()), Ok(()));
        prop_assert_eq!(copy.as_ref().to_value(&layout), value);
        for cut in 0..bytes.len() {
            prop_assert!(normal::decode(&bytes[..cut], &layout, &mut copy).is_err());
        }
        bytes.push(more);
        prop_assert!(normal::decode(&bytes, &layout, &mut copy).is_err());
    }

    #[test]
    fn steps_do_what_going_slot_by_slot_does(
        (schema, value) in tuples(),
        cut: Index,
        changed: Index,
        byte: u8,
    ) {
        let (layout, buf) = flat(&schema, &value);
        let steps = normal::NormalSteps::all(&layout);
        let (mut expected, mut bytes) = (Vec::new(), Vec::new());
        normal::encode(buf.as_ref(), &layout, &mut expected);
        steps.write(buf.as_ref(), &mut bytes);
        prop_assert_eq!(&bytes, &expected);
        let mut damaged = bytes.clone();
        if !damaged.is_empty() {
            let at = changed.index(damaged.len());
            damaged[at] = byte;
        }
        let short = &bytes[..cut.index(bytes.len() + 1)];
        let long = [&bytes[..], &[byte]].concat();
        for bytes in [&bytes, short, &damaged, &long] {
            let (mut one, mut other) = (TupleBuf::default(), TupleBuf::default());
            let expected = normal::decode(bytes, &layout, &mut one);
            prop_assert_eq!(steps.read_whole(bytes, &layout, &mut other), expected.clone());
            if expected.is_ok() {
                prop_assert_eq!(check(&layout, other.as_ref().bytes()), Ok(()));
                prop_assert_eq!(one.as_ref().bytes(), other.as_ref().bytes());
            }
        }
    }

    #[test]
    fn normal_refuses_bytes_or_gives_a_tuple(
        schema in schemas(),
        bytes in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let (layout, mut buf) = (Layout::new(&schema), TupleBuf::default());
        if normal::decode(&bytes, &layout, &mut buf).is_ok() {
            prop_assert_eq!(check(&layout, buf.as_ref().bytes()), Ok(()));
            let value = buf.as_ref().to_value(&layout);
            prop_assert!(value.has_type(&Type::Tuple(schema)));
        }
    }

    #[test]
    fn mutated_tuples_are_refused_or_readable(
        (schema, value) in tuples(),
        changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 1..6),
        cut in proptest::option::of(any::<Index>()),
    ) {
        let (layout, buf) = flat(&schema, &value);
        let mut bytes = buf.as_ref().bytes().to_vec();
        if !bytes.is_empty() {
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            bytes.truncate(cut.map_or(bytes.len(), |cut| cut.index(bytes.len())));
        }
        if check(&layout, &bytes).is_ok() {
            let mut copy = TupleBuf::default();
            copy.copy_from_bytes(&bytes);
            let value = copy.as_ref().to_value(&layout);
            let mut out = Vec::new();
            print_tuple(copy.as_ref(), &layout, &mut out);
            prop_assert!(value.has_type(&Type::Tuple(schema)));
        }
    }

    #[test]
    fn readers_never_panic(ty in types(), bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let _ = parse_whole(&bytes, &ty);
        let _ = bin::read_value(&bytes, &ty);
    }

    #[test]
    fn mutated_text_is_refused_or_of_the_type(
        (schema, value) in printable_tuples(),
        changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 1..4),
        piece in 1..40usize,
    ) {
        let (layout, buf) = flat(&schema, &value);
        let ty = Type::Tuple(schema.clone());
        for format in FORMATS {
            let mut bytes = Vec::new();
            let options = WriteOptions::default();
            let mut writer = new_writer(format, layout.clone(), options).expect("suits");
            (0..3).for_each(|_| writer.write(buf.as_ref(), None, &mut bytes));
            for (at, byte) in &changes {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = *byte;
                }
            }
            drain(format, &schema, &bytes, piece);
            if let Ok(value) = read(&mut TextReader::new(&bytes), &ty) {
                prop_assert!(value.has_type(&ty));
            }
        }
    }

    #[test]
    fn record_readers_reach_the_end(
        schema in schemas(),
        text in "([ a-z0-9,.'\"#{}=(\\[\n\r\\\\-]|true|null){0,60}",
        piece in 1..40usize,
    ) {
        for format in FORMATS {
            drain(format, &schema, text.as_bytes(), piece);
        }
    }

    #[test]
    fn equal_keys_have_equal_hashes((_, value) in tuples(), (_, other) in tuples()) {
        let hash = |value: &Value| KeyHasher::default().hash_one(value);
        prop_assert_eq!(&value, &value.clone());
        prop_assert_eq!(hash(&value), hash(&value.clone()));
        if value == other {
            prop_assert_eq!(hash(&value), hash(&other));
        }
    }

    #[test]
    fn borrowed_keys_find_values(n: i64, f: f64, bytes: Vec<u8>, units: Vec<u16>) {
        let values = [
            (Value::Int64(n), Key::Int(n)),
            (Value::Int8(n as i8), Key::Int(i64::from(n as i8))),
            (Value::Uint64(n as u64), Key::Uint(n as u64)),
            (Value::Uint16(n as u16), Key::Uint(u64::from(n as u16))),
            (Value::Float64(f), Key::Float(f)),
            (Value::Float32(f as f32), Key::Float(f64::from(f as f32))),
            (Value::Boolean(n > 0), Key::Boolean(n > 0)),
            (Value::Enum(n as u32), Key::Enum(n as u32)),
            (Value::RString(bytes.clone().into()), Key::Bytes(&bytes)),
            (Value::Blob(bytes.clone()), Key::Bytes(&bytes)),
            (Value::UString(crate::UString(units.clone())), Key::Units(&units)),
        ];
        for (value, key) in values {
            let set: Set = [value.clone()].into_iter().collect();
            prop_assert!(set.contains_key(key), "{:?}", key);
            let mut map = Map::new();
            map.insert(value.clone(), Value::Int8(1));
            prop_assert_eq!(map.get_key(key), Some(&Value::Int8(1)));
            prop_assert_eq!(map.remove_key(key), Some(Value::Int8(1)));
            prop_assert!(!map.contains(&value));
        }
    }
}
