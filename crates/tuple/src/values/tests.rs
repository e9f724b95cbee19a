//! Lists, sets and maps by example.

use crate::{Key, List, Map, Set, Type, Value};

fn int(n: i32) -> Value {
    Value::Int32(n)
}

fn text(s: &str) -> Value {
    Value::RString(s.into())
}

#[test]
fn scalars_are_packed_and_the_rest_is_not() {
    let mut list = List::new_for(&Type::Int32);
    assert!((0..4).all(|n| list.push(int(n))));
    assert!(!list.push(Value::Int64(4)), "another type is refused");
    assert_eq!(list.as_slice::<i32>(), Some(&[0, 1, 2, 3][..]));
    assert_eq!(list.as_slice::<i64>(), None);
    list.as_mut_slice::<i32>().unwrap()[1] = 9;
    assert_eq!(list.get(1), Some(int(9)));
    assert_eq!((list.get(4), list.get_ref(0)), (None, None));
    let ordinals = List::from_values(&Type::Boolean, [Value::Boolean(true)]);
    assert_eq!(ordinals.as_slice::<bool>(), Some(&[true][..]));
    let complex = List::from_values(&Type::Complex64, [Value::Complex64(1.0, 2.0)]);
    assert_eq!(complex.as_slice::<[f64; 2]>(), Some(&[[1.0, 2.0]][..]));
    assert_eq!(complex.get(0), Some(Value::Complex64(1.0, 2.0)));
}

#[test]
fn lists_change_in_place() {
    for ty in [Type::Int32, Type::RString] {
        let value = |n: i32| match ty {
            Type::Int32 => int(n),
            _ => text(&n.to_string()),
        };
        let of = |numbers: &[i32]| List::from_values(&ty, numbers.iter().map(|&n| value(n)));
        let mut list = of(&[3, 1, 2]);
        assert!(list.insert(1, value(7)) && list.insert(4, value(8)) && !list.insert(6, value(0)));
        assert_eq!(list, of(&[3, 7, 1, 2, 8]));
        assert_eq!(list.remove(1), Some(value(7)));
        assert_eq!(list.remove(9), None);
        list.sort();
        assert_eq!(list, of(&[1, 2, 3, 8]));
        list.reverse();
        assert_eq!(list.slice(1, 3), of(&[3, 2]));
        assert_eq!(list.slice(3, 99), of(&[1]));
        assert_eq!(list.slice(9, 2), of(&[]));
        list.remove_range(1, 3);
        list.extend_from(&of(&[5, 6]));
        assert_eq!(list, of(&[8, 1, 5, 6]));
        assert!(list.set(0, value(4)) && !list.set(4, value(0)));
        list.truncate(2);
        assert_eq!(list.iter().collect::<Vec<_>>(), [value(4), value(1)]);
        list.clear();
        assert!(list.is_empty() && list.has_type(&ty) && !list.has_type(&Type::Int8));
    }
}

#[test]
fn sorting_puts_nan_last() {
    let floats = [f64::NAN, 2.0, f64::NEG_INFINITY, -0.0];
    let mut list = List::Float64(floats.to_vec());
    list.sort();
    let sorted = list.as_slice::<f64>().unwrap();
    assert_eq!(sorted[..3], [f64::NEG_INFINITY, 0.0, 2.0]);
    assert!(sorted[3].is_nan());
}

#[test]
fn nested_elements_are_reached_in_place() {
    let ty = Type::List(Type::Int32.into(), None);
    let mut list = List::from_values(&ty, [Value::List(List::Int32(vec![1]))]);
    if let Some(Value::List(inner)) = list.get_mut(0) {
        inner.push(int(2));
    }
    assert_eq!(list.get_ref(0), Some(&Value::List(List::Int32(vec![1, 2]))));
}

#[test]
fn sets_and_maps_keep_the_order_of_insertion() {
    let mut set: Set = [5, 3, 9, 3, 1].map(int).into_iter().collect();
    assert_eq!(
        set.iter().cloned().collect::<Vec<_>>(),
        [5, 3, 9, 1].map(int)
    );
    assert!(set.remove(&int(5)) && !set.remove(&int(5)));
    assert_eq!(set.iter().cloned().collect::<Vec<_>>(), [1, 3, 9].map(int));
    assert!(set.contains_word(9) && !set.contains_word(5) && set.get_index(0) == Some(&int(1)));
    let mut map = Map::new();
    assert_eq!(map.insert(text("a"), int(1)), None);
    assert_eq!(map.insert(text("b"), int(2)), None);
    assert_eq!(map.insert(text("a"), int(3)), Some(int(1)));
    assert_eq!(
        map.keys().cloned().collect::<Vec<_>>(),
        ["a", "b"].map(text)
    );
    *map.get_or_insert_with(text("c"), || int(0)) = int(7);
    assert_eq!(map.get_bytes(b"c"), Some(&int(7)));
    assert_eq!(map.get_key(Key::Int(7)), None);
    assert_eq!(map.remove(&text("a")), Some(int(3)));
    assert_eq!(
        map.keys().cloned().collect::<Vec<_>>(),
        ["c", "b"].map(text)
    );
    map.retain(|_, value| *value == int(2));
    assert_eq!((map.len(), map.get(&text("b"))), (1, Some(&int(2))));
}

#[test]
fn equality_does_not_depend_on_order() {
    let set = |numbers: [i32; 3]| Value::Set(numbers.map(int).into_iter().collect());
    assert_eq!(set([1, 2, 3]), set([3, 1, 2]));
    assert_ne!(set([1, 2, 3]), set([1, 2, 4]));
    let map = |keys: [i32; 2]| {
        Value::Map(
            keys.iter()
                .map(|&n| (int(n), set([n, n + 1, n + 2])))
                .collect(),
        )
    };
    assert!(map([1, 2]) == map([2, 1]) && map([1, 2]).spl_eq(&map([2, 1])));
    let of_maps: Set = [map([1, 2])].into_iter().collect();
    assert!(of_maps.contains(&map([2, 1])), "equal keys hash alike");
}
