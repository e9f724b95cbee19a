//! Promises of the flat format, and tuples that the checker refuses.

use std::sync::Arc;

use super::*;
use crate::{EnumType, List, Map, Set, TupleType, Type, Value};

fn layout(attributes: &[(&str, Type)]) -> Arc<Layout> {
    Layout::new(&Arc::new(TupleType::new(attributes.to_vec())))
}

fn list(element: Type, bound: Option<u32>) -> Type {
    Type::List(Arc::new(element), bound)
}

#[test]
fn slots_have_natural_alignment() {
    let optional = |t| Type::Optional(Arc::new(t));
    let l = layout(&[
        ("a", Type::Boolean),
        ("b", Type::Int64),
        ("c", Type::RString),
        ("d", Type::BoundedRString(5)),
        ("e", optional(Type::Int16)),
        ("f", list(Type::Int32, Some(3))),
        ("g", Type::Decimal128),
        ("h", list(Type::RString, Some(3))),
    ]);
    assert_eq!(l.offsets, [0, 8, 16, 24, 36, 40, 64, 80]);
    assert_eq!((l.size, l.is_fixed), (88, false));
    assert_eq!(slot(&optional(Type::Float64)), (16, 8));
    assert_eq!(slot(&optional(Type::Boolean)), (2, 1));
    let pair = Arc::new((Type::Int8, Type::Int32));
    assert_eq!(slot(&Type::Map(pair, Some(2))), (24, 8));
    assert_eq!(stride(&Type::Tuple(Arc::default())), 8);
}

#[test]
fn too_large_schemas_are_refused() {
    let huge = list(Type::Int64, Some(u32::MAX));
    for ty in [
        huge.clone(),
        list(huge.clone(), None),
        Type::Optional(Arc::new(huge)),
    ] {
        let schema = Arc::new(TupleType::new([("a", ty)]));
        assert_eq!(Layout::try_new(&schema).err(), Some(LayoutError::TooLarge));
    }
}

#[test]
fn bounds_drop_what_exceeds_them() {
    let l = layout(&[
        ("s", Type::BoundedRString(3)),
        ("l", list(Type::Int32, Some(2))),
    ]);
    let mut buf = TupleBuf::default();
    buf.begin(&l);
    buf.set(&l, 0, &Value::RString("abcdef".into()));
    buf.set(&l, 1, &Value::List(List::Int32(vec![1, 2, 3])));
    assert_eq!(buf.as_ref().bounded_at(0), b"abc");
    assert_eq!(
        buf.as_ref().bounded_list_at::<i32>(l.offsets[1] as usize),
        [1, 2]
    );
    buf.set(&l, 1, &Value::List(List::Int32(vec![7])));
    assert_eq!(&buf.as_ref().bytes()[16..24], [7, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(buf.len(), l.size as usize);
}

#[test]
fn memory_is_kept() {
    let l = layout(&[("s", Type::RString), ("n", Type::Int64)]);
    let mut buf = TupleBuf::default();
    buf.begin(&l);
    buf.set(&l, 0, &Value::RString("x".repeat(500).as_str().into()));
    let place = buf.as_mut_ptr();
    for _ in 0..3 {
        buf.begin(&l);
        assert_eq!(buf.as_ref().bytes_at(0), b"");
        buf.put_bytes(0, &[b'y'; 500]);
        assert_eq!(buf.as_mut_ptr(), place);
    }
}

#[test]
fn tail_by_hand() {
    let l = layout(&[("s", Type::RString), ("l", list(Type::Int64, None))]);
    let mut buf = TupleBuf::default();
    buf.begin(&l);
    buf.put_bytes(0, b"abc");
    let at = buf.ensure_tail(16, 8);
    assert_eq!((at, buf.len()), (24, 40));
    buf.put_scalar(at + 8, 5i64);
    buf.put_reference(8, at, 2);
    assert_eq!(
        buf.as_ref().get(&l, 1),
        Value::List(List::Int64(vec![0, 5]))
    );
    check(&l, buf.as_ref().bytes()).unwrap();
}

#[test]
fn copies_take_their_tail_along() {
    let inner = TupleType::new([("k", Type::RString), ("v", list(Type::UString, None))]);
    let inner = Type::Tuple(Arc::new(inner));
    let map = Type::Map(Arc::new((Type::RString, inner.clone())), None);
    let from = layout(&[("x", Type::Int32), ("m", map.clone())]);
    let to = layout(&[("m", map), ("y", Type::Blob)]);
    let strings = List::Any(vec![Value::UString("ü".into()), Value::UString("".into())]);
    let tuple = Value::Tuple([Value::RString("k1".into()), Value::List(strings)].into());
    let entries = [(Value::RString("one".into()), tuple)];
    let value = Value::Map(entries.into_iter().collect());
    let (mut a, mut b) = (TupleBuf::default(), TupleBuf::default());
    a.begin(&from);
    a.set(&from, 1, &value);
    b.begin(&to);
    b.put_bytes(to.offsets[1] as usize, b"tail");
    b.copy_attribute(&to, 0, a.as_ref(), &from, 1);
    assert_eq!(b.as_ref().get(&to, 0), value);
    check(&to, b.as_ref().bytes()).unwrap();
}

#[test]
fn the_checker_names_the_slot() {
    let names = ["red", "green"].map(Arc::from).to_vec();
    let l = layout(&[
        ("b", Type::Boolean),
        ("e", Type::Enum(Arc::new(EnumType { names }))),
        ("s", Type::RString),
        ("l", list(Type::Int64, None)),
    ]);
    let mut buf = TupleBuf::default();
    buf.begin(&l);
    buf.put_bytes(8, b"hello");
    buf.put_list(16, &[1i64, 2]);
    let good = buf.as_ref().bytes().to_vec();
    assert_eq!(check(&l, &good), Ok(()));
    let faults: [(usize, u32, usize); 7] = [
        (0, 2, 0),             // no boolean
        (4, 2, 4),             // no enumerator
        (8, 0xFFFF_FFFF, 8),   // far away
        (12, 100, 8),          // too long
        (16, 17, 16),          // unaligned
        (20, 0x2000_0000, 16), // elements beyond the end
        (8, 2, 8),             // inside the slot itself
    ];
    for (at, word, slot) in faults {
        let mut bad = good.clone();
        bad[at..at + 4].copy_from_slice(&word.to_ne_bytes());
        let error = check(&l, &bad).unwrap_err();
        assert!(
            matches!(error, LayoutError::Slot { offset, .. } if offset == slot),
            "{error}"
        );
    }
    let short = check(&l, &good[..8]).unwrap_err();
    assert_eq!(
        short,
        LayoutError::TooShort {
            bytes: 8,
            needed: 24
        }
    );
}

#[test]
fn shared_tails_are_refused() {
    let l = layout(&[("a", Type::RString), ("b", Type::RString)]);
    let mut buf = TupleBuf::default();
    buf.begin(&l);
    buf.put_bytes(0, &[b'x'; 64]);
    buf.put_reference(8, 16, 64);
    assert!(check(&l, buf.as_ref().bytes()).is_err());
}

#[test]
fn unaligned_bytes_are_copied() {
    let l = layout(&[("a", Type::Int64)]);
    let mut buf = TupleBuf::default();
    buf.begin(&l);
    buf.put_scalar(0, 77i64);
    let mut shifted = vec![0u64; 3];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut shifted);
    bytes[3..11].copy_from_slice(buf.as_ref().bytes());
    assert_eq!(
        TupleRef::from_bytes(&bytes[3..11]).err(),
        Some(LayoutError::Unaligned)
    );
    let mut copy = TupleBuf::default();
    copy.copy_from_bytes(&bytes[3..11]);
    assert_eq!(copy.as_ref().i64_at(0), 77);
    assert_eq!(copy.as_ref().to_buf().as_ref().get(&l, 0), Value::Int64(77));
}

#[test]
fn zero_bytes_are_the_default() {
    let schema = Arc::new(TupleType::new([
        ("d", Type::Decimal64),
        ("s", Type::Set(Arc::new(Type::Int8), None)),
        (
            "m",
            Type::Map(Arc::new((Type::Int8, Type::Xml(None))), None),
        ),
        ("o", Type::Optional(Arc::new(Type::Blob))),
    ]));
    let l = Layout::new(&schema);
    let mut buf = TupleBuf::default();
    buf.begin(&l);
    let value = buf.as_ref().to_value(&l);
    assert_eq!(value, Value::default_of(&Type::Tuple(schema)));
    let parts = [
        Value::Set(Set::new()),
        Value::Map(Map::new()),
        Value::Optional(None),
    ];
    assert!(matches!(value, Value::Tuple(v) if v[1..] == parts));
}
