//! Insertion into lists and removal from them.

use eval::{Fault, NativeCall, NativeFn, ops};
use tuple::{List, Value};

use crate::function::arguments::{NativeArguments, NativeResult, VOID, bound, check_growth};
use crate::function::entry::collection;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    collection(
        "<any T> list<T> insert(list<T> values, T ival, int32 idx)",
        "The list with a value inserted before index `idx`: below 0 at the beginning, beyond the \
         end at the end.",
        |c| {
            let mut list = c.list(0).clone();
            let added = ListInsertion::One(c.arg(1));
            insert(&mut list, added, c.int32(2), bound(c.result))?;
            Ok(Value::List(list))
        },
    ),
    collection(
        "<any T> list<T> insert(list<T> values, list<T> ivls, int32 idx)",
        "The list with values inserted before index `idx`: below 0 at the beginning, beyond the \
         end at the end.",
        |c| {
            let mut list = c.list(0).clone();
            let added = ListInsertion::All(c.list(1));
            insert(&mut list, added, c.int32(2), bound(c.result))?;
            Ok(Value::List(list))
        },
    ),
    collection(
        "<any T> void insertM(mutable list<T> values, T ival, int32 idx)",
        "Inserts a value before index `idx`: below 0 at the beginning, beyond the end at the end.",
        |c| {
            let mut list = take_list(c.list_mut(0));
            let added = ListInsertion::One(c.arg(1));
            let inserted = insert(&mut list, added, c.int32(2), c.capacity(0));
            *c.list_mut(0) = list;
            inserted.map(|()| VOID)
        },
    ),
    collection(
        "<any T> void insertM(mutable list<T> values, list<T> ivls, int32 idx)",
        "Inserts values before index `idx`: below 0 at the beginning, beyond the end at the end.",
        |c| {
            let mut list = take_list(c.list_mut(0));
            let added = ListInsertion::All(c.list(1));
            let inserted = insert(&mut list, added, c.int32(2), c.capacity(0));
            *c.list_mut(0) = list;
            inserted.map(|()| VOID)
        },
    ),
    collection(
        "<list T> T remove(T values, int32 idx)",
        "The list without the element at an index; unchanged if there is none.",
        |c| without_range(c, c.int32(1), c.int32(1)),
    ),
    collection(
        "<list T> T remove(T values, int32 sidx, int32 eidx)",
        "The list without the elements from index `sidx` up to and including `eidx`; indexes \
         outside are ignored.",
        |c| without_range(c, c.int32(1), c.int32(2)),
    ),
    collection(
        "<list T> T remove(T values, list<int32> idxs)",
        "The list without the elements at these indexes; indexes outside are ignored.",
        |c| {
            let list = c.list(0);
            let mut stays = vec![true; list.len()];
            for &at in c.list(1).as_slice::<i32>().unwrap_or_default() {
                if let Some(stays) = usize::try_from(at).ok().and_then(|at| stays.get_mut(at)) {
                    *stays = false;
                }
            }
            c.bounded_list_from(
                list.iter()
                    .zip(stays)
                    .filter(|(_, stays)| *stays)
                    .map(|(x, _)| x),
            )
        },
    ),
    collection(
        "<list T> void removeM(mutable T values, int32 idx)",
        "Removes the element at an index; nothing if there is none.",
        |c| remove_in_place(c, c.int32(1), c.int32(1)),
    ),
    collection(
        "<list T> void removeM(mutable T values, int32 sidx, int32 eidx)",
        "Removes the elements from index `sidx` up to and including `eidx`; indexes outside are \
         ignored.",
        |c| remove_in_place(c, c.int32(1), c.int32(2)),
    ),
    collection(
        "<any T> list<T> concat(list<T> values1, list<T> values2)",
        "The elements of the first list, then those of the second.",
        |c| {
            let lens = (c.list(0).len(), c.list(1).len());
            check_growth(lens, bound(c.result), "list")?;
            let mut list = c.list(0).clone();
            list.extend_from(c.list(1));
            c.bounded_list(list)
        },
    ),
    collection(
        "<any T> void concatM(mutable list<T> values1, list<T> values2)",
        "Appends the elements of the second list to the first.",
        |c| {
            let room = c.capacity(0);
            check_growth((c.list(0).len(), c.list(1).len()), room, "list")?;
            let more = c.list(1).clone();
            let list = c.list_mut(0);
            let fits = room.saturating_sub(list.len());
            list.extend_from_range(&more, 0, fits);
            Ok(VOID)
        },
    ),
    collection(
        "<any T> void appendM(mutable list<T> values, T value)",
        "Appends a value; does nothing if the list is bounded and full.",
        |c| {
            let len = c.list(0).len();
            if len < c.capacity(0) {
                ops::grown_len(len, 1, "list")?;
                let value = c.arg(1).clone();
                c.list_mut(0).push(value);
            }
            Ok(VOID)
        },
    ),
    collection(
        "void appendM(mutable blob b, uint8 byte)",
        "Appends a byte.",
        |c| {
            ops::grown_len(c.blob(0).len(), 1, "blob")?;
            let byte = c.uint8(1);
            c.blob_mut(0).push(byte);
            Ok(VOID)
        },
    ),
    collection(
        "void appendM(mutable blob b, list<uint8> bytes)",
        "Appends bytes.",
        |c| {
            ops::grown_len(c.blob(0).len(), c.list(1).len(), "blob")?;
            let bytes = c.list(1).as_slice::<u8>().unwrap_or_default().to_vec();
            c.blob_mut(0).extend(bytes);
            Ok(VOID)
        },
    ),
];

/// Elements to insert into a list.
enum ListInsertion<'a> {
    One(&'a Value),
    All(&'a List),
}

fn take_list(list: &mut List) -> List {
    let empty = list.new_same_type();
    std::mem::replace(list, empty)
}

/// Inserts before an index, and cuts the list at `room`; a list that would be too long is left as
/// it is.
fn insert(list: &mut List, added: ListInsertion<'_>, at: i32, room: usize) -> Result<(), Fault> {
    let at = (at.max(0) as usize).min(list.len());
    match added {
        ListInsertion::One(value) => {
            check_growth((list.len(), 1), room, "list")?;
            list.insert(at, value.clone());
        }
        ListInsertion::All(values) => {
            check_growth((list.len(), values.len()), room, "list")?;
            let tail = list.slice(at, list.len());
            list.truncate(at);
            list.extend_from(values);
            list.extend_from(&tail);
        }
    }
    list.truncate(room);
    Ok(())
}

/// Removes from the first index up to and including the last, as far as they exist.
fn remove(list: &mut List, first: i32, last: i32) {
    if last >= first && last >= 0 {
        list.remove_range(first.max(0) as usize, last as usize + 1);
    }
}

fn without_range(c: &NativeCall<'_>, first: i32, last: i32) -> NativeResult {
    let mut list = c.list(0).clone();
    remove(&mut list, first, last);
    c.bounded_list(list)
}

fn remove_in_place(c: &mut NativeCall<'_>, first: i32, last: i32) -> NativeResult {
    remove(c.list_mut(0), first, last);
    Ok(VOID)
}
