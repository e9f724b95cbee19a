//! Sets and maps against a library's, for any keys and any order of calls.

use indexmap::{IndexMap, IndexSet};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::hash_index::{CROWDED_SEARCH_FACTOR, HashIndex, LONG_SEARCH_FACTOR, MULTIPLIERS};
use super::hash_table::HashTable;
use super::key_hasher::KeyHasher;
use crate::{Map, Set, Value};

/// A call, of both.
#[derive(Clone, Debug)]
enum Call {
    Insert(Value, i64),
    GetOrInsert(Value, i64),
    Remove(Value),
    RetainBelow(i64),
    Reserve(usize),
    Clone,
    Clear,
}

/// Keys of few types, so that many are equal or have the same word.
fn keys() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => (-40..40i64).prop_map(Value::Int64),
        4 => (-9..9i8).prop_map(Value::Int8),
        4 => (0..40u64).prop_map(Value::Uint64),
        4 => (0..40u64).prop_map(|n| Value::Uint64(n << 58)),
        2 => any::<u16>().prop_map(Value::Uint16),
        4 => "[ab]{0,4}".prop_map(|s| Value::RString(s.as_str().into())),
        2 => (0..4u32).prop_map(Value::Enum),
        2 => any::<bool>().prop_map(Value::Boolean),
        2 => prop_oneof![Just(0.0), Just(-0.0), Just(f64::NAN), any::<f64>()]
            .prop_map(Value::Float64),
        1 => (0..3i32).prop_map(|n| Value::Optional(Some(Box::new(Value::Int32(n))))),
    ]
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        20 => (keys(), 0..100i64).prop_map(|(key, n)| Call::Insert(key, n)),
        5 => (keys(), 0..100i64).prop_map(|(key, n)| Call::GetOrInsert(key, n)),
        12 => keys().prop_map(Call::Remove),
        1 => (50..100i64).prop_map(Call::RetainBelow),
        1 => (0..100usize).prop_map(Call::Reserve),
        1 => Just(Call::Clone),
        1 => Just(Call::Clear),
    ];
    prop::collection::vec(call, 0..300)
}

type Model = IndexMap<Value, Value, KeyHasher>;

fn number(value: &Value) -> i64 {
    match value {
        Value::Int64(n) => *n,
        other => panic!("{other:?} is no number"),
    }
}

/// Makes a call of a map and of the library's; both give the same back.
fn call_maps(map: &mut Map, model: &mut Model, call: &Call) -> Result<(), TestCaseError> {
    match call.clone() {
        Call::Insert(key, n) => {
            let before = model.insert(key.clone(), Value::Int64(n));
            prop_assert_eq!(map.insert(key, Value::Int64(n)), before);
        }
        Call::GetOrInsert(key, n) => {
            let value = model.entry(key.clone()).or_insert(Value::Int64(n));
            prop_assert_eq!(map.get_or_insert_with(key, || Value::Int64(n)), value);
        }
        Call::Remove(key) => prop_assert_eq!(map.remove(&key), model.swap_remove(&key)),
        Call::RetainBelow(bound) => {
            map.retain(|_, value| number(value) < bound);
            model.retain(|_, value| number(value) < bound);
        }
        Call::Reserve(additional) => map.reserve(additional),
        Call::Clone => *map = map.clone(),
        Call::Clear => {
            map.clear();
            model.clear();
        }
    }
    Ok(())
}

fn call_sets(set: &mut Set, model: &mut IndexSet<Value, KeyHasher>, call: &Call) {
    match call.clone() {
        Call::Insert(item, _) | Call::GetOrInsert(item, _) => {
            assert_eq!(set.insert(item.clone()), model.insert(item));
        }
        Call::Remove(item) => assert_eq!(set.remove(&item), model.swap_remove(&item)),
        Call::RetainBelow(bound) => {
            let keep = |item: &Value| !matches!(item, Value::Int64(n) if *n < bound);
            set.retain(keep);
            model.retain(keep);
        }
        Call::Reserve(additional) => set.reserve(additional),
        Call::Clone => *set = set.clone(),
        Call::Clear => {
            set.clear();
            model.clear();
        }
    }
}

proptest! {
    #[test]
    fn maps_do_as_those_of_a_library(calls in calls(), asked in prop::collection::vec(keys(), 20)) {
        let (mut map, mut model) = (Map::new(), Model::default());
        for call in &calls {
            call_maps(&mut map, &mut model, call)?;
            prop_assert!(map.iter().eq(model.iter()), "after {:?}", call);
        }
        for key in model.keys().chain(&asked) {
            prop_assert_eq!(map.get(key), model.get(key));
            prop_assert_eq!(map.get_mut(key).cloned(), model.get(key).cloned());
            prop_assert_eq!(map.contains(key), model.contains_key(key));
        }
        let other: Map = model.clone().into_iter().rev().collect();
        prop_assert_eq!(&map, &other);
        prop_assert!(map.into_iter().eq(model));
    }

    #[test]
    fn sets_do_as_those_of_a_library(calls in calls(), asked in prop::collection::vec(keys(), 20)) {
        let (mut set, mut model) = (Set::new(), IndexSet::default());
        for call in &calls {
            call_sets(&mut set, &mut model, call);
            prop_assert!(set.iter().eq(model.iter()), "after {:?}", call);
        }
        for item in model.iter().chain(&asked) {
            prop_assert_eq!(set.contains(item), model.contains(item));
        }
        let other: Set = model.clone().into_iter().rev().collect();
        prop_assert_eq!(&set, &other);
        prop_assert!(set.into_iter().eq(model));
    }

    #[test]
    fn searches_stay_short(stride: u64, start: u64) {
        prop_assert!(search_slots(stride, start) <= SEARCH_SLOTS_MAX);
    }
}

/// Number of keys with which a table has just grown: all but the last took a quarter of its slots.
const GROWN: usize = 2049;

/// Bits of a slot's number in a table of that many keys.
const GROWN_SLOT_BITS: usize = (2 * GROWN).next_power_of_two().ilog2() as usize;

/// Most slots that searches for each of these keys look at together, those for the last one at as
/// many as the longest search that does not count as long.
const SEARCH_SLOTS_MAX: usize =
    CROWDED_SEARCH_FACTOR * (GROWN - 1) + LONG_SEARCH_FACTOR * GROWN_SLOT_BITS;

/// Number of slots that searches for each key look at together, in a table that has just grown,
/// with keys at a distance from each other.
fn search_slots(stride: u64, start: u64) -> usize {
    let mut table = HashTable::default();
    for at in 0..GROWN as u64 {
        let key = start.wrapping_add(at.wrapping_mul(stride | 1));
        table.push(key, Value::Uint64(key));
    }
    assert!((0..GROWN).all(|at| table.find(&table.entries[at]) == Some(at)));
    table.index.search_slots()
}

#[test]
fn keys_in_a_row_have_a_slot_each() {
    assert_eq!(search_slots(1, 12_345), GROWN);
}

#[test]
fn a_stride_that_is_bad_for_several_multipliers_finds_one_that_it_is_not_bad_for() {
    // The inverse of the first, which gives all keys one home, and two that are bad for the first
    // four.
    for (stride, bad) in [
        (0xF1DE_83E1_9937_733D, 1),
        (8_672_178_599_862_961_645, 4),
        (3_432_515_881_106_144_215, 4),
    ] {
        let mut bad = MULTIPLIERS[..bad].iter();
        assert!(
            bad.all(|&multiplier| is_bad(multiplier, stride)),
            "{stride}"
        );
        let slots = search_slots(stride, 0);
        assert!(slots <= SEARCH_SLOTS_MAX, "{stride}: {slots}");
    }
}

#[test]
fn a_stride_that_is_bad_for_a_multiplier_gets_another() {
    // Numbers of Fibonacci: multiplied by the golden ratio nearly integers.
    let mut pair = (1u64, 1u64);
    for _ in 0..90 {
        pair = (pair.1, pair.0 + pair.1);
        assert!(search_slots(pair.0, 0) <= SEARCH_SLOTS_MAX, "{}", pair.0);
    }
}

/// Whether a table that grows changes this multiplier for keys at a distance from each other.
fn is_bad(multiplier: u64, stride: u64) -> bool {
    let mut index = HashIndex {
        multiplier,
        ..HashIndex::default()
    };
    (0..GROWN).any(|at| index.reserve(at + 1) || index.add((at as u64).wrapping_mul(stride), at))
}

#[test]
fn one_stride_in_five_is_bad_for_a_multiplier_and_none_for_most() {
    let mut runner = TestRunner::deterministic();
    let mut bad_for_first = 0;
    for _ in 0..1000 {
        let stride = any::<u64>().new_tree(&mut runner).unwrap().current() | 1;
        let good = MULTIPLIERS
            .iter()
            .position(|&multiplier| !is_bad(multiplier, stride));
        bad_for_first += u32::from(good != Some(0));
        assert!(good.is_some_and(|good| good < 7), "{stride}: {good:?}");
    }
    assert!((100..350).contains(&bad_for_first), "{bad_for_first}");
}
