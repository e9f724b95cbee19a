//! Imported functions that work on the entries of a table.

use eval::{Fault, TableMemoryError, TableState};
use graph::Pos;

use super::super::env::Env;
use super::{deref, deref_mut, elements, env};

pub extern "C" fn find_entry(e: *mut Env, table: *mut TableState, pos: *const Pos) -> u32 {
    let env = env(e);
    let found = deref_mut(table).find_or_add(env.tuple_buf().as_ref());
    status_of_search(env, found, pos)
}

pub extern "C" fn find_entry_words(
    e: *mut Env,
    table: *mut TableState,
    words: *const u64,
    count: usize,
    pos: *const Pos,
) -> u32 {
    let found = deref_mut(table).find_or_add_words(elements(words, count));
    status_of_search(env(e), found, pos)
}

pub extern "C" fn add_entry(e: *mut Env, table: *mut TableState, pos: *const Pos) -> u32 {
    let added = deref_mut(table).add_without_key();
    status_of_search(env(e), added.map(|()| false), pos)
}

/// 0 for an entry that was there, 1 for one that was added, 2 for a fault.
fn status_of_search(env: &mut Env, found: Result<bool, TableMemoryError>, pos: *const Pos) -> u32 {
    match found {
        Ok(was_added) => u32::from(was_added),
        Err(error) => {
            env.set_fault(Fault::from(error).with_pos(*deref(pos)));
            2
        }
    }
}

pub extern "C" fn remove_entry(_: *mut Env, table: *mut TableState) {
    deref_mut(table).remove_current();
}

pub extern "C" fn enqueue_entry(e: *mut Env, table: *mut TableState, pos: *const Pos) -> u32 {
    let queued = deref_mut(table).enqueue_current();
    status_of_search(env(e), queued.map(|()| false), pos)
}

pub extern "C" fn dequeue_entry(_: *mut Env, table: *mut TableState) {
    deref_mut(table).dequeue();
}

pub extern "C" fn use_entry(_: *mut Env, table: *mut TableState) {
    deref_mut(table).use_current();
}

pub extern "C" fn select_least_used(_: *mut Env, table: *mut TableState) {
    deref_mut(table).select_least_used();
}

pub extern "C" fn select_entry(_: *mut Env, table: *mut TableState, id: u32) {
    deref_mut(table).select_id(id);
}
