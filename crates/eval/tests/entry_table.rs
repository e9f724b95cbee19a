//! Tables of entries, against a naive list.

use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;
use thalweg_eval::{EntryId, EntryTable, EntryTableType, KeyLayout, TableKey};
use tuple::{Decimal64, Layout, RString, TupleBuf, TupleType, Type, Value, arbitrary};

/// A table and the list that it is compared with.
struct Compared {
    tuples: Arc<Layout>,
    keys: Arc<KeyLayout>,
    table: EntryTable,
    /// Entries by the number of their key.
    entries: HashMap<usize, Entry>,
    /// Numbers of keys, oldest and least used first.
    by_age: Vec<usize>,
    by_use: Vec<usize>,
    tuple: TupleBuf,
    key: TableKey,
}

#[derive(Clone, Copy)]
struct Entry {
    id: EntryId,
    count: i64,
    is_odd: bool,
}

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((u128::from(mixed) * limit as u128) >> 64) as usize
    }
}

impl Compared {
    fn new(key: TupleType) -> Compared {
        let tuples = Layout::new(&Arc::new(key));
        let keys = Arc::new(KeyLayout::new(&tuples, tuples.schema.attributes.len()));
        let entries = EntryTableType {
            attributes: vec![Type::Boolean, Type::Int64],
            by_age: true,
            by_use: true,
        };
        Compared {
            table: EntryTable::new(&keys, &entries),
            tuples,
            keys,
            entries: HashMap::new(),
            by_age: Vec::new(),
            by_use: Vec::new(),
            tuple: TupleBuf::default(),
            key: TableKey::default(),
        }
    }

    /// Finds a key in the table.
    fn find(&mut self, key: &Value) -> Option<EntryId> {
        self.tuple.set_all(&self.tuples, key);
        self.keys.encode(self.tuple.as_ref(), &mut self.key);
        self.table.find(&self.key)
    }

    /// One random operation on a key with a number.
    fn step(&mut self, number: usize, key: &Value, numbers: &mut Numbers) {
        let found = self.find(key);
        let entry = self.entries.get(&number).copied();
        assert_eq!(found, entry.map(|entry| entry.id), "key {number}: {key:?}");
        let Some(Entry { id, count, is_odd }) = entry else {
            let id = self.table.add(&self.key).expect("memory");
            let (count, is_odd) = (0, false);
            self.entries.insert(number, Entry { id, count, is_odd });
            self.by_age.push(number);
            self.by_use.push(number);
            return;
        };
        assert_eq!(self.table.get(id, 1), Value::Int64(count));
        assert_eq!(self.table.get(id, 0), Value::Boolean(is_odd));
        match numbers.below(4) {
            0 => {
                self.table.remove(id);
                self.entries.remove(&number);
                self.by_age.retain(|&other| other != number);
                self.by_use.retain(|&other| other != number);
            }
            1 => {
                self.table.set_last_used(id);
                self.by_use.retain(|&other| other != number);
                self.by_use.push(number);
            }
            _ => {
                let (count, is_odd) = (count + number as i64, !is_odd);
                self.table.set(id, 1, &Value::Int64(count));
                self.table.set(id, 0, &Value::Boolean(is_odd));
                self.entries.insert(number, Entry { id, count, is_odd });
            }
        }
    }

    /// Compares what can be seen of the orders.
    fn compare_orders(&self) {
        assert_eq!(self.table.len(), self.entries.len());
        let ids = |order: &[usize]| -> Vec<EntryId> {
            order.iter().map(|number| self.entries[number].id).collect()
        };
        let next = |id: &EntryId| self.table.next_younger(*id);
        let by_age: Vec<_> = std::iter::successors(self.table.oldest(), next).collect();
        assert_eq!(by_age, ids(&self.by_age));
        assert_eq!(self.table.least_used(), ids(&self.by_use).first().copied());
    }

    /// Removes all entries, the least used first.
    fn remove_all(&mut self) {
        for &number in &self.by_use {
            let least_used = self.table.least_used().expect("an entry");
            assert_eq!(least_used, self.entries[&number].id);
            self.table.remove(least_used);
        }
        assert_eq!((self.table.len(), self.table.oldest()), (0, None));
        // A page of entries, two of strings, and the index.
        let bytes = self.table.bytes();
        assert!(bytes <= (3 * 64 + 32) << 10, "{bytes}");
    }
}

/// Random operations on `count` keys. A key comes in several forms that are equal.
fn compare(key: TupleType, count: usize, steps: usize, form: impl Fn(usize, usize) -> Value) {
    let (mut compared, mut numbers) = (Compared::new(key), Numbers(count as u64));
    for step in 0..steps {
        let number = numbers.below(count);
        let key = form(number, numbers.below(4));
        compared.step(number, &key, &mut numbers);
        if step % 512 == 0 {
            compared.compare_orders();
        }
    }
    compared.compare_orders();
    compared.remove_all();
}

#[test]
fn keys_of_one_word() {
    let key = TupleType::new([("n", Type::Int64)]);
    compare(key, 1_500, 100_000, |number, _| {
        Value::Tuple([Value::Int64(number as i64 * 1_000_003 - 700)].into())
    });
}

#[test]
fn keys_of_three_words() {
    let types = [
        ("f", Type::Float64),
        ("n", Type::Int32),
        ("d", Type::Decimal64),
    ];
    compare(TupleType::new(types), 1_500, 100_000, |number, form| {
        let float = match (number % 3, form) {
            (0, 0 | 1) => 0.0,
            (0, _) => -0.0,
            (1, 0) => f64::from_bits(0xfff8_0000_0000_0001),
            (1, _) => f64::NAN,
            _ => 1.5,
        };
        let text = format!("{number}.5{}", "0".repeat(form));
        let decimal = Decimal64::from_text(text.as_bytes()).expect("a number");
        let n = Value::Int32(number as i32 % 7);
        Value::Tuple([Value::Float64(float), n, Value::Decimal64(decimal)].into())
    });
}

/// A string of a number: most are short, one of 40 is 1 MiB long, and others have its beginning.
fn text(number: usize) -> Value {
    let len = match number % 40 {
        0 => 1 << 20,
        short @ 1..30 => short - 1,
        long => (long - 25) * 977,
    };
    let mut bytes = vec![b'x'; len];
    let last = number.to_string();
    let at = len.saturating_sub(last.len());
    bytes.truncate(at);
    bytes.extend_from_slice(last.as_bytes());
    Value::RString(RString(bytes))
}

#[test]
fn keys_of_strings() {
    let types = [
        ("s", Type::RString),
        ("n", Type::Int8),
        ("t", Type::RString),
    ];
    compare(TupleType::new(types), 300, 100_000 / 4, |number, _| {
        let n = Value::Int8(number as i8);
        Value::Tuple([text(number), n, text(number / 7)].into())
    });
}

#[test]
fn the_first_string_alone_is_a_key() {
    compare(
        TupleType::new([("s", Type::RString)]),
        400,
        30_000,
        |number, _| Value::Tuple([text(number)].into()),
    );
}

#[test]
fn keys_without_attributes_are_equal() {
    let none: [(&str, Type); 0] = [];
    compare(TupleType::new(none), 1, 1_000, |_, _| {
        Value::Tuple([].into())
    });
}

#[test]
fn a_table_that_was_cleared_serves_again() {
    let mut compared = Compared::new(TupleType::new([("s", Type::RString)]));
    for _ in 0..3 {
        for number in 0..1_000 {
            let key = Value::Tuple([text(number)].into());
            assert_eq!(compared.find(&key), None);
            compared.table.add(&compared.key).expect("memory");
        }
        assert!(compared.find(&Value::Tuple([text(7)].into())).is_some());
        compared.table.clear();
        assert!(compared.table.is_empty() && compared.table.oldest().is_none());
        assert!(
            compared.table.bytes() < 32 << 10,
            "{}",
            compared.table.bytes()
        );
    }
}

#[test]
fn short_strings_between_long_ones_keep_no_page_each() {
    let mut compared = Compared::new(TupleType::new([("s", Type::RString)]));
    let key = |len: usize, number: usize| {
        let text = format!("{number:0len$}");
        Value::Tuple([Value::RString(text.as_str().into())].into())
    };
    let mut long = Vec::new();
    for number in 0..500 {
        assert_eq!(compared.find(&key(100, number)), None);
        compared.table.add(&compared.key).expect("memory");
        assert_eq!(compared.find(&key(65_500, number)), None);
        long.push(compared.table.add(&compared.key).expect("memory"));
    }
    long.into_iter().for_each(|id| compared.table.remove(id));
    let bytes = compared.table.bytes();
    assert!(bytes <= 500 * 4 * 120 + ((4 * 64) << 10), "{bytes}");
    for number in 0..500 {
        assert!(compared.find(&key(100, number)).is_some(), "{number}");
    }
}

#[test]
fn an_entry_of_a_sum_takes_its_key_its_sums_and_32_bytes() {
    let mut compared = Compared::new(TupleType::new([("n", Type::Int64)]));
    let attributes = vec![Type::Int64, Type::Int32];
    let (by_age, by_use) = (true, false);
    let table = EntryTableType {
        attributes,
        by_age,
        by_use,
    };
    compared.table = EntryTable::new(&compared.keys, &table);
    for n in 0..300_000 {
        assert_eq!(compared.find(&Value::Tuple([Value::Int64(n)].into())), None);
        compared.table.add(&compared.key).expect("memory");
    }
    let bytes = compared.table.bytes() as f64 / 300_000.0;
    assert!(bytes <= 8.0 + 8.0 + 32.0, "{bytes}");
}

/// A schema, and two tuples of it, which are equal now and then.
fn pairs() -> impl Strategy<Value = (Arc<TupleType>, Value, Value)> {
    arbitrary::schemas().prop_flat_map(|schema| {
        let values = arbitrary::values(&Type::Tuple(schema.clone()));
        let second = prop_oneof![2 => values.clone().prop_map(Some), 1 => Just(None)];
        (Just(schema), values, second)
            .prop_map(|(schema, a, b)| (schema, a.clone(), b.unwrap_or(a)))
    })
}

proptest! {
    #[test]
    fn tuples_are_one_key_iff_they_are_one_key_of_a_map((schema, a, b) in pairs()) {
        let mut compared = Compared::new((*schema).clone());
        compared.find(&a);
        let id = compared.table.add(&compared.key).expect("memory");
        prop_assert_eq!(compared.find(&a), Some(id));
        prop_assert_eq!(compared.find(&b).is_some(), a == b, "{:?} {:?}", a, b);
    }
}
