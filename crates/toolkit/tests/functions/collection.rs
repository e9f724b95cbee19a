//! `spl.collection`.

use tuple::Type;

use crate::harness::*;

#[test]
fn sizes() {
    gives("size(T values)", &[ints([1, 2])], int32(2));
    gives("size(T values)", &[set([])], int32(0));
    gives("size(T values)", &[map([(1, "a")])], int32(1));
    gives("size(blob values)", &[blob(b"abc")], int32(3));
    gives("blobSize(blob b)", &[blob(b"abc")], uint64(3));
    changes("clearM(mutable T values)", &[ints([1, 2])], ints([]));
    changes("clearM(mutable T values)", &[map([(1, "a")])], map([]));
    changes("clearM(mutable T values)", &[set([1])], set([]));
    changes("clearM(mutable blob values)", &[blob(b"abc")], blob(b""));
    gives(
        "countDistinct(list<T> values)",
        &[ints([1, 2, 1])],
        int32(2),
    );
    gives(
        "countDistinct(list<T> values)",
        &[strings(["a", "a"])],
        int32(1),
    );
    gives(
        "countDistinct(list<T> values)",
        &[empty(Type::Int32)],
        int32(0),
    );
}

#[test]
fn sets() {
    gives(
        "setUnion(T a, T b)",
        &[set([1, 2]), set([2, 3])],
        set([1, 2, 3]),
    );
    gives(
        "setUnion(T a, T b)",
        &[upto(2, set([1])), upto(2, set([2, 3]))],
        upto(2, set([1, 2])),
    );
    gives(
        "setIntersection(T a, T b)",
        &[set([1, 2]), set([2, 3])],
        set([2]),
    );
    gives(
        "setDifference(T a, T b)",
        &[set([1, 2]), set([2, 3])],
        set([1]),
    );
    gives("toSet(list<T> values)", &[ints([3, 1, 3])], set([3, 1]));
    gives(
        "insert(set<V> values, V value)",
        &[set([1]), int32(2)],
        set([1, 2]),
    );
    gives(
        "insert(set<V> values, V value)",
        &[set([1]), int32(1)],
        set([1]),
    );
    changes(
        "insertM(mutable set<V> values, V value)",
        &[set([1]), int32(2)],
        set([1, 2]),
    );
    let full = upto(1, set([1]));
    changes(
        "insertM(mutable set<V> values, V value)",
        &[full.clone(), int32(2)],
        full,
    );
    gives(
        "remove(set<K> values, K key)",
        &[set([1, 2]), int32(1)],
        set([2]),
    );
    changes(
        "removeM(mutable set<K> values, K key)",
        &[set([1, 2]), int32(9)],
        set([1, 2]),
    );
    changes(
        "concatM(mutable set<T> values1, set<T> values2)",
        &[set([1]), set([1, 2])],
        set([1, 2]),
    );
    gives(
        "has(set<T> values, T item)",
        &[set([1]), int32(1)],
        boolean(true),
    );
}

#[test]
fn maps() {
    let insert = "insert(map<K,V> values, K key, V value)";
    gives(
        insert,
        &[map([(1, "a")]), int32(2), r("b")],
        map([(1, "a"), (2, "b")]),
    );
    gives(
        insert,
        &[map([(1, "a")]), int32(1), r("b")],
        map([(1, "b")]),
    );
    let full = || upto(1, map([(1, "a")]));
    gives(insert, &[full(), int32(2), r("b")], full());
    gives(
        insert,
        &[full(), int32(1), r("b")],
        upto(1, map([(1, "b")])),
    );
    let insert = "insertM(mutable map<K,V> values, K key, V value)";
    changes(
        insert,
        &[map([(1, "a")]), int32(1), r("b")],
        map([(1, "b")]),
    );
    gives(
        "remove(map<K,V> values, K key)",
        &[map([(1, "a")]), int32(1)],
        map([]),
    );
    changes(
        "removeM(mutable map<K,V> values, K key)",
        &[map([(1, "a")]), int32(2)],
        map([(1, "a")]),
    );
    gives(
        "has(map<K,V> values, K item)",
        &[map([(1, "a")]), int32(2)],
        boolean(false),
    );
    gives(
        "keys(map<K,V> m)",
        &[map([(2, "a"), (1, "b")])],
        ints([2, 1]),
    );
    gives("keys(map<K,V> m)", &[map([])], ints([]));
}

#[test]
fn insertion_into_lists() {
    let one = "insert(list<T> values, T ival, int32 idx)";
    gives(one, &[ints([1, 2]), int32(9), int32(1)], ints([1, 9, 2]));
    gives(one, &[ints([1, 2]), int32(9), int32(-5)], ints([9, 1, 2]));
    gives(one, &[ints([1, 2]), int32(9), int32(5)], ints([1, 2, 9]));
    gives(
        one,
        &[strings(["a"]), r("b"), int32(0)],
        strings(["b", "a"]),
    );
    gives(
        one,
        &[upto(2, ints([1, 2])), int32(9), int32(0)],
        upto(2, ints([9, 1])),
    );
    let all = "insert(list<T> values, list<T> ivls, int32 idx)";
    gives(
        all,
        &[ints([1, 2]), ints([8, 9]), int32(1)],
        ints([1, 8, 9, 2]),
    );
    changes(
        "insertM(mutable list<T> values, T ival, int32 idx)",
        &[ints([1]), int32(9), int32(1)],
        ints([1, 9]),
    );
    let all = "insertM(mutable list<T> values, list<T> ivls, int32 idx)";
    changes(
        all,
        &[strings(["a"]), strings(["b", "c"]), int32(0)],
        strings(["b", "c", "a"]),
    );
    changes(
        "appendM(mutable list<T> values, T value)",
        &[ints([1]), int32(2)],
        ints([1, 2]),
    );
    let full = upto(1, ints([1]));
    changes(
        "appendM(mutable list<T> values, T value)",
        &[full.clone(), int32(2)],
        full,
    );
    changes(
        "appendM(mutable blob b, uint8 byte)",
        &[blob(b"a"), uint8(b'b')],
        blob(b"ab"),
    );
    changes(
        "appendM(mutable blob b, list<uint8> bytes)",
        &[blob(b"a"), list([uint8(b'b')])],
        blob(b"ab"),
    );
    gives(
        "concat(list<T> values1, list<T> values2)",
        &[ints([1]), ints([2, 3])],
        ints([1, 2, 3]),
    );
    let concat = "concatM(mutable list<T> values1, list<T> values2)";
    changes(concat, &[ints([1]), ints([2, 3])], ints([1, 2, 3]));
    changes(
        concat,
        &[upto(2, ints([1])), ints([2, 3])],
        upto(2, ints([1, 2])),
    );
}

#[test]
fn removal_from_lists() {
    let one = "remove(T values, int32 idx)";
    gives(one, &[ints([1, 2, 3]), int32(1)], ints([1, 3]));
    gives(one, &[ints([1, 2, 3]), int32(3)], ints([1, 2, 3]));
    gives(one, &[ints([1, 2, 3]), int32(-1)], ints([1, 2, 3]));
    let range = "remove(T values, int32 sidx, int32 eidx)";
    gives(
        range,
        &[ints([1, 2, 3, 4]), int32(1), int32(2)],
        ints([1, 4]),
    );
    gives(
        range,
        &[ints([1, 2, 3, 4]), int32(-3), int32(0)],
        ints([2, 3, 4]),
    );
    gives(
        range,
        &[ints([1, 2, 3, 4]), int32(2), int32(99)],
        ints([1, 2]),
    );
    gives(
        range,
        &[ints([1, 2, 3, 4]), int32(2), int32(1)],
        ints([1, 2, 3, 4]),
    );
    let some = "remove(T values, list<int32> idxs)";
    gives(some, &[ints([1, 2, 3]), ints([2, 0, 7, -1])], ints([2]));
    changes(
        "removeM(mutable T values, int32 idx)",
        &[ints([1, 2]), int32(0)],
        ints([2]),
    );
    changes(
        "removeM(mutable T values, int32 idx)",
        &[ints([1, 2]), int32(2)],
        ints([1, 2]),
    );
    changes(
        "removeM(mutable T values, int32 sidx, int32 eidx)",
        &[ints([1, 2]), int32(0), int32(1)],
        ints([]),
    );
}

#[test]
fn finding_elements() {
    gives(
        "has(list<T> values, T item)",
        &[strings(["a", "b"]), r("b")],
        boolean(true),
    );
    gives(
        "has(list<T> values, T item)",
        &[list([float64(f64::NAN)]), float64(f64::NAN)],
        boolean(false),
    );
    gives(
        "find(list<T> values, T item)",
        &[ints([1, 2, 1]), int32(1)],
        ints([0, 2]),
    );
    gives(
        "findOf(list<T> values, list<T> items)",
        &[ints([1, 2, 3]), ints([3, 1])],
        ints([0, 2]),
    );
    gives(
        "findNotOf(list<T> values, list<T> items)",
        &[ints([1, 2, 3]), ints([3, 1])],
        ints([1]),
    );
    gives(
        "findFirst(list<T> values, T item)",
        &[ints([5, 6, 5]), int32(6)],
        int32(1),
    );
    let first = "findFirst(list<T> values, T item, int32 sidx)";
    gives(first, &[ints([5, 6, 5]), int32(5), int32(1)], int32(2));
    gives(first, &[ints([5, 6, 5]), int32(5), int32(-1)], int32(0));
    gives(first, &[ints([5, 6, 5]), int32(5), int32(3)], int32(-1));
    let last = "findLast(list<T> values, T item, int32 lidx)";
    gives(last, &[ints([5, 6, 5]), int32(5), int32(9)], int32(2));
    gives(last, &[ints([5, 6, 5]), int32(5), int32(1)], int32(0));
    gives(last, &[ints([5, 6, 5]), int32(5), int32(-1)], int32(-1));
    gives(last, &[ints([]), int32(5), int32(0)], int32(-1));
}

#[test]
fn finding_runs() {
    let abc = || strings(["a", "b", "a", "b"]);
    let first = "findFirst(list<T> values, list<T> items, int32 sidx)";
    gives(
        "findFirst(list<T> values, list<T> items)",
        &[abc(), strings(["a", "b"])],
        int32(0),
    );
    gives(first, &[abc(), strings(["a", "b"]), int32(1)], int32(2));
    gives(first, &[abc(), strings(["b", "b"]), int32(0)], int32(-1));
    gives(first, &[abc(), empty(Type::RString), int32(2)], int32(2));
    gives(first, &[abc(), empty(Type::RString), int32(4)], int32(-1));
    let last = "findLast(list<T> values, list<T> items, int32 lidx)";
    gives(last, &[abc(), strings(["a", "b"]), int32(9)], int32(2));
    gives(last, &[abc(), strings(["a", "b"]), int32(2)], int32(0));
    gives(last, &[abc(), strings(["a", "b"]), int32(0)], int32(-1));
    gives(last, &[ints([]), ints([1]), int32(0)], int32(-1));
}

#[test]
fn finding_members() {
    let of = [ints([1, 2, 3, 2]), ints([2, 3])];
    let at = |n| [of[0].clone(), of[1].clone(), int32(n)];
    gives("findFirstOf(list<T> values, list<T> items)", &of, int32(1));
    gives(
        "findFirstOf(list<T> values, list<T> items, int32 sidx)",
        &at(3),
        int32(3),
    );
    gives(
        "findLastOf(list<T> values, list<T> items, int32 lidx)",
        &at(2),
        int32(2),
    );
    gives(
        "findFirstNotOf(list<T> values, list<T> items)",
        &of,
        int32(0),
    );
    gives(
        "findFirstNotOf(list<T> values, list<T> items, int32 sidx)",
        &at(1),
        int32(-1),
    );
    gives(
        "findLastNotOf(list<T> values, list<T> items, int32 lidx)",
        &at(9),
        int32(0),
    );
}

#[test]
fn order() {
    gives(
        "sort(list<T> values)",
        &[ints([3, -1, 2])],
        ints([-1, 2, 3]),
    );
    gives(
        "sort(list<T> values)",
        &[strings(["b", "B", "a"])],
        strings(["B", "a", "b"]),
    );
    let floats = list([float64(f64::NAN), float64(1.0), float64(-1.0)]);
    let sorted = list([float64(-1.0), float64(1.0), float64(f64::NAN)]);
    changes("sortM(mutable list<T> values)", &[floats], sorted);
    gives(
        "sortIndices(list<T> values)",
        &[strings(["c", "a", "b", "a"])],
        list([1, 3, 2, 0].map(uint32)),
    );
    gives("reverse(T values)", &[ints([1, 2, 3])], ints([3, 2, 1]));
    gives("reverse(T values)", &[ints([])], ints([]));
    changes(
        "reverseM(mutable T values)",
        &[strings(["a", "b"])],
        strings(["b", "a"]),
    );
    gives(
        "at(list<T> values, list<uint32> idxs)",
        &[ints([7, 8]), list([1, 5, 0].map(uint32))],
        ints([8, 7]),
    );
    let compare = "lexicographicalCompare(list<T> values1, list<T> values2)";
    gives(compare, &[ints([1, 2]), ints([1, 3])], int32(-1));
    gives(compare, &[ints([1, 2]), ints([1])], int32(1));
    gives(compare, &[strings(["a"]), strings(["a"])], int32(0));
}

#[test]
fn pairs() {
    gives(
        "pairwiseCompare(list<T> a, T b)",
        &[ints([1, 2, 3]), int32(2)],
        ints([-1, 0, 1]),
    );
    gives(
        "pairwiseCompare(T a, list<T> b)",
        &[int32(2), ints([1, 2, 3])],
        ints([1, 0, -1]),
    );
    gives(
        "pairwiseCompare(list<T> a, list<T> b)",
        &[ints([1, 5]), ints([2, 5, 9])],
        ints([-1, 0]),
    );
    gives(
        "pairwiseMin(list<T> a, list<T> b)",
        &[ints([1, 5]), ints([2, 4])],
        ints([1, 4]),
    );
    gives(
        "pairwiseMax(list<T> a, list<T> b)",
        &[strings(["a"]), strings(["b", "c"])],
        strings(["b"]),
    );
    let select = "selectFromList(list<boolean> selector, T a, T b)";
    let which = list([boolean(true), boolean(false)]);
    gives(
        select,
        &[which.clone(), ints([1, 2]), ints([3, 4])],
        ints([1, 4]),
    );
    faults(
        select,
        &[which, ints([1]), ints([3, 4])],
        ints([]).0,
        "one length",
    );
}

#[test]
fn sequences() {
    let f = "list<T> makeSequence(T val, int32 cnt)";
    gives(f, &[int32(5), int32(3)], ints([5, 6, 7]));
    gives(f, &[int8(127), int32(2)], list([int8(127), int8(-128)]));
    gives(
        f,
        &[float64(0.5), int32(2)],
        list([float64(0.5), float64(1.5)]),
    );
    gives(f, &[int32(5), int32(-1)], ints([]));
    faults(f, &[int32(5), int32(i32::MAX)], ints([]).0, "longer");
    let step = "makeSequence(T val, int32 cnt, T step)";
    gives(step, &[int32(5), int32(3), int32(-2)], ints([5, 3, 1]));
    gives(
        step,
        &[tenths(10), int32(2), tenths(5)],
        list([tenths(10), tenths(15)]),
    );
    gives("range(int32 limit)", &[int32(3)], ints([0, 1, 2]));
    gives("range(int32 limit)", &[int32(-3)], ints([]));
    gives(
        "range(int32 start, int32 limit)",
        &[int32(2), int32(4)],
        ints([2, 3]),
    );
    let step = "range(int32 start, int32 limit, int32 step)";
    gives(step, &[int32(0), int32(7), int32(3)], ints([0, 3, 6]));
    gives(step, &[int32(5), int32(0), int32(-2)], ints([5, 3, 1]));
    gives(step, &[int32(5), int32(0), int32(2)], ints([]));
    gives(
        step,
        &[int32(i32::MAX - 1), int32(i32::MAX), int32(5)],
        ints([i32::MAX - 1]),
    );
    faults(
        step,
        &[int32(5), int32(0), int32(0)],
        ints([]).0,
        "must not be 0",
    );
    gives("range(T l)", &[strings(["a", "b"])], ints([0, 1]));
}

#[test]
fn sequences_of_strings() {
    let f = "<string T> list<T> makeSequence(T val, int32 cnt)";
    gives(f, &[r("s"), int32(2)], strings(["s0", "s1"]));
    gives(f, &[u("é"), int32(2)], ustrings(["é0", "é1"]));
    gives(
        f,
        &[bounded("ab", 2), int32(2)],
        list([bounded("ab", 2), bounded("ab", 2)]),
    );
}

#[test]
fn slices() {
    let ten = || ints([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let three = "slice(T values, int32 from, int32 cnt)";
    gives(three, &[ten(), int32(2), int32(3)], ints([2, 3, 4]));
    gives(three, &[ten(), int32(8), int32(5)], ints([8, 9]));
    gives(three, &[ten(), int32(-2), int32(3)], ints([0]));
    gives(three, &[ten(), int32(10), int32(3)], ints([]));
    gives(three, &[ten(), int32(0), int32(-1)], ints([]));
    let skip = "slice(T values, int32 from, int32 cnt, int32 skip)";
    gives(
        skip,
        &[ten(), int32(1), int32(3), int32(2)],
        ints([1, 4, 7]),
    );
    gives(skip, &[ten(), int32(-1), int32(3), int32(2)], ints([2, 5]));
    faults(
        skip,
        &[ten(), int32(1), int32(3), int32(-2)],
        ints([]).0,
        "skip",
    );
    let tape = "slice(T values, int32 from, int32 cnt, int32 skip, int32 tape)";
    gives(
        tape,
        &[ten(), int32(1), int32(2), int32(2), int32(1)],
        ints([1, 2, 5, 6]),
    );
    gives(
        tape,
        &[ten(), int32(-1), int32(3), int32(0), int32(1)],
        ints([1, 2, 3, 4]),
    );
    gives(
        tape,
        &[ten(), int32(8), int32(3), int32(0), int32(2)],
        ints([8, 9]),
    );
    faults(
        tape,
        &[ten(), int32(1), int32(3), int32(0), int32(-1)],
        ints([]).0,
        "tape",
    );
}
