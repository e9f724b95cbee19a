//! Sizes of collections, and functions of sets and maps.

use eval::NativeFn;
use tuple::{List, Map, Set, Type, Value};

use crate::function::arguments::{NativeArguments, VOID, bound};
use crate::function::entry::collection;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    collection(
        "<collection T> int32 size(T values)",
        "The number of elements of a list or set, of entries of a map.",
        |c| {
            Ok(Value::Int32(match c.arg(0) {
                Value::Set(set) => set.len() as i32,
                Value::Map(map) => map.len() as i32,
                _ => c.list(0).len() as i32,
            }))
        },
    ),
    collection("int32 size(blob values)", "The number of bytes.", |c| {
        Ok(Value::Int32(c.blob(0).len() as i32))
    }),
    collection("uint64 blobSize(blob b)", "The number of bytes.", |c| {
        Ok(Value::Uint64(c.blob(0).len() as u64))
    }),
    collection(
        "<collection T> void clearM(mutable T values)",
        "Removes all elements.",
        |c| {
            match c.arg_mut(0) {
                Value::Set(set) => set.clear(),
                Value::Map(map) => map.clear(),
                _ => c.list_mut(0).clear(),
            }
            Ok(VOID)
        },
    ),
    collection(
        "void clearM(mutable blob values)",
        "Removes all bytes.",
        |c| {
            c.blob_mut(0).clear();
            Ok(VOID)
        },
    ),
    collection(
        "<any T> int32 countDistinct(list<T> values)",
        "The number of different elements.",
        |c| Ok(Value::Int32(c.list(0).iter().collect::<Set>().len() as i32)),
    ),
    collection(
        "<set T> T setUnion(T a, T b)",
        "The elements of `a` or `b`.",
        |c| {
            let mut union = c.set(0).clone();
            add_all(&mut union, c.set(1).iter().cloned(), bound(c.result));
            Ok(Value::Set(union))
        },
    ),
    collection(
        "<set T> T setIntersection(T a, T b)",
        "The elements of `a` that are in `b`.",
        |c| {
            let (a, b) = (c.set(0), c.set(1));
            Ok(Value::Set(
                a.iter().filter(|x| b.contains(x)).cloned().collect(),
            ))
        },
    ),
    collection(
        "<set T> T setDifference(T a, T b)",
        "The elements of `a` that are not in `b`.",
        |c| {
            let (a, b) = (c.set(0), c.set(1));
            Ok(Value::Set(
                a.iter().filter(|x| !b.contains(x)).cloned().collect(),
            ))
        },
    ),
    collection(
        "<any T> set<T> toSet(list<T> values)",
        "The elements as a set.",
        |c| {
            let mut set = Set::new();
            add_all(&mut set, c.list(0).iter(), bound(c.result));
            Ok(Value::Set(set))
        },
    ),
    collection(
        "<any V> set<V> insert(set<V> values, V value)",
        "The set with a value added.",
        |c| {
            let mut set = c.set(0).clone();
            add_all(&mut set, [c.arg(1).clone()], bound(c.result));
            Ok(Value::Set(set))
        },
    ),
    collection(
        "<any V> void insertM(mutable set<V> values, V value)",
        "Adds a value.",
        |c| {
            let (value, room) = (c.arg(1).clone(), c.capacity(0));
            add_all(c.set_mut(0), [value], room);
            Ok(VOID)
        },
    ),
    collection(
        "<any K> set<K> remove(set<K> values, K key)",
        "The set without a value.",
        |c| {
            let mut set = c.set(0).clone();
            set.remove(c.arg(1));
            Ok(Value::Set(set))
        },
    ),
    collection(
        "<any K> void removeM(mutable set<K> values, K key)",
        "Removes a value, if it is there.",
        |c| {
            let value = c.arg(1).clone();
            c.set_mut(0).remove(&value);
            Ok(VOID)
        },
    ),
    collection(
        "<any T> void concatM(mutable set<T> values1, set<T> values2)",
        "Adds the elements of the second set to the first.",
        |c| {
            let (values, room) = (c.set(1).clone(), c.capacity(0));
            add_all(c.set_mut(0), values, room);
            Ok(VOID)
        },
    ),
    collection(
        "<any T> boolean has(set<T> values, T item)",
        "Whether the set has the value.",
        |c| Ok(Value::Boolean(c.set(0).contains(c.arg(1)))),
    ),
    collection(
        "<any K, any V> boolean has(map<K,V> values, K item)",
        "Whether the map has an entry with this key.",
        |c| Ok(Value::Boolean(c.map(0).contains(c.arg(1)))),
    ),
    collection(
        "<any K, any V> map<K,V> insert(map<K,V> values, K key, V value)",
        "The map with an entry added; an entry with the same key is replaced.",
        |c| {
            let mut map = c.map(0).clone();
            put(
                &mut map,
                c.arg(1).clone(),
                c.arg(2).clone(),
                bound(c.result),
            );
            Ok(Value::Map(map))
        },
    ),
    collection(
        "<any K, any V> void insertM(mutable map<K,V> values, K key, V value)",
        "Adds an entry; one with the same key is replaced.",
        |c| {
            let (key, value, room) = (c.arg(1).clone(), c.arg(2).clone(), c.capacity(0));
            put(c.map_mut(0), key, value, room);
            Ok(VOID)
        },
    ),
    collection(
        "<any K, any V> map<K,V> remove(map<K,V> values, K key)",
        "The map without the entry of a key.",
        |c| {
            let mut map = c.map(0).clone();
            map.remove(c.arg(1));
            Ok(Value::Map(map))
        },
    ),
    collection(
        "<any K, any V> void removeM(mutable map<K,V> values, K key)",
        "Removes the entry of a key, if there is one.",
        |c| {
            let key = c.arg(1).clone();
            c.map_mut(0).remove(&key);
            Ok(VOID)
        },
    ),
    collection(
        "<any K, any V> list<K> keys(map<K,V> m)",
        "The keys of a map, in the order in which a loop over the map visits them.",
        |c| {
            let Type::Map(types, _) = c.arg_type(0) else {
                panic!("{} should be a map", c.arg_type(0));
            };
            c.bounded_list(List::from_values(&types.0, c.map(0).keys().cloned()))
        },
    ),
];

fn add_all(set: &mut Set, values: impl IntoIterator<Item = Value>, room: usize) {
    for value in values {
        if set.len() < room {
            set.insert(value);
        }
    }
}

fn put(map: &mut Map, key: Value, value: Value, room: usize) {
    if map.len() < room || map.contains(&key) {
        map.insert(key, value);
    }
}
