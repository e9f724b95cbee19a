//! Imported functions that make flat tuples and submit them, and the others that ask something of
//! the PE.

use eval::{Fault, FaultKind, Pane};
use graph::{Clock, EventTimeUnits, NumberedPanes, PortIndex, Pos};
use tuple::{EventTime, Layout, Punctuation, TupleRef, Type, Value};

use super::super::env::Env;
use super::value::parts_reader;
use super::{deref, elements, env};

pub extern "C" fn begin_tuple(e: *mut Env, layout: *const Layout, tail: usize) -> *mut u8 {
    let buf = env(e).tuple_buf();
    buf.begin(deref(layout));
    buf.reserve_tail(tail);
    buf.as_mut_ptr()
}

pub extern "C" fn put_block(
    e: *mut Env,
    slot: u64,
    data: *const u8,
    bytes: usize,
    len: usize,
    align: usize,
) {
    let buf = env(e).tuple_buf();
    buf.put_block(slot as usize, elements(data, bytes), len, align);
}

pub extern "C" fn put_value(e: *mut Env, ty: *const Type, slot: usize, value: *const Value) {
    env(e).tuple_buf().put_value(slot, deref(ty), deref(value));
}

pub extern "C" fn put_flat(e: *mut Env, ty: *const Type, slot: usize, from: *const u8) {
    let e = e.cast_const();
    // SAFETY: the input tuples are not in the environment, only their addresses are.
    let found = unsafe { &*e }.input_at(from);
    debug_assert!(found.is_some(), "a slot of an input tuple is in one");
    if let Some((tuple, offset)) = found {
        env(e.cast_mut())
            .tuple_buf()
            .copy_slot(slot, tuple, offset, deref(ty));
    }
}

/// The status of a statement at a position.
fn status_of_result(env: &mut Env, result: Result<(), Fault>, pos: *const Pos) -> u32 {
    match result {
        Ok(()) => 0,
        Err(fault) => env.set_fault(fault.with_pos(*deref(pos))),
    }
}

pub extern "C" fn submit_tuple(e: *mut Env, port: PortIndex, pos: *const Pos) -> u32 {
    let env = env(e);
    let result = env.submit_tuple_buf(port);
    status_of_result(env, result, pos)
}

pub extern "C" fn submit_tuple_to(
    e: *mut Env,
    port: PortIndex,
    start: u32,
    end: u32,
    pos: *const Pos,
) -> u32 {
    let env = env(e);
    let result = env.submit_tuple_buf_to(port, start..end);
    status_of_result(env, result, pos)
}

pub extern "C" fn submit_input(
    e: *mut Env,
    port: PortIndex,
    data: *const u8,
    len: usize,
    pos: *const Pos,
) -> u32 {
    let env = env(e);
    let result = input_tuple(data, len)
        .and_then(|tuple| env.with_outlet(|outlet| outlet.submit(port, tuple)));
    status_of_result(env, result, pos)
}

pub extern "C" fn submit_input_to(
    e: *mut Env,
    port: PortIndex,
    start: u32,
    end: u32,
    data: *const u8,
    len: usize,
    pos: *const Pos,
) -> u32 {
    let env = env(e);
    let result = input_tuple(data, len)
        .and_then(|tuple| env.with_outlet(|outlet| outlet.submit_to(port, start..end, tuple)));
    status_of_result(env, result, pos)
}

pub extern "C" fn tap_tuple(e: *mut Env, port: PortIndex) {
    env(e).tap_tuple_buf(port);
}

pub extern "C" fn tap_input(e: *mut Env, port: PortIndex, data: *const u8, len: usize) {
    let shown = input_tuple(data, len).and_then(|tuple| {
        env(e).with_outlet(|outlet| {
            outlet.tap(port, tuple);
            Ok(())
        })
    });
    debug_assert!(shown.is_ok());
}

/// The input tuple at an address.
fn input_tuple<'a>(data: *const u8, len: usize) -> Result<TupleRef<'a>, Fault> {
    let tuple = TupleRef::from_bytes(elements(data, len));
    tuple.map_err(|error| Fault::new(FaultKind::Limit, error.to_string()))
}

pub extern "C" fn punctuate(e: *mut Env, port: PortIndex, mark: u32, pos: *const Pos) -> u32 {
    let mark = if mark == 0 {
        Punctuation::Window
    } else {
        Punctuation::Final
    };
    let env = env(e);
    let result = env.with_outlet(|outlet| outlet.submit_punctuation(port, mark));
    status_of_result(env, result, pos)
}

pub extern "C" fn advance_watermark(
    e: *mut Env,
    ty: *const Type,
    time: *const u64,
    operator: u32,
    pos: *const Pos,
) -> u32 {
    let time = parts_reader(time).build(deref(ty));
    let env = env(e);
    let result = env.with_outlet_of(operator, |outlet| {
        let events = outlet.services().event_time();
        let sent = events.and_then(|events| events.generate_watermark(&time));
        let Some((at, ports)) = sent else {
            return Ok(());
        };
        let mut ports = ports.iter();
        ports.try_for_each(|&port| outlet.submit_watermark(port, at))
    });
    status_of_result(env, result, pos)
}

pub extern "C" fn count_units(
    _: *mut Env,
    ty: *const Type,
    time: *const u64,
    units: *const EventTimeUnits,
) -> i64 {
    let time = parts_reader(time).build(deref(ty));
    let units = deref(units);
    let at = EventTime::from_value(&time, units.resolution);
    at.map_or(0, |at| units.count(at))
}

pub extern "C" fn begin_pane(
    e: *mut Env,
    panes: *const NumberedPanes,
    number: i64,
    fire_count: u64,
) {
    let pane = Pane::firing(deref(panes), number, fire_count);
    let begun = env(e).with_outlet(|outlet| {
        if let Some(events) = outlet.services().event_time() {
            events.set_firing_pane(Some(pane));
        }
        Ok(())
    });
    debug_assert!(begun.is_ok());
}

pub extern "C" fn wake_reader(e: *mut Env, port: PortIndex, place: u32) {
    let woken = env(e).with_outlet(|outlet| {
        outlet.wake_consumer(port, place);
        Ok(())
    });
    debug_assert!(woken.is_ok());
}

pub extern "C" fn sleep(e: *mut Env, seconds: f64) {
    let slept = env(e).with_outlet(|outlet| {
        outlet.services().block(seconds);
        Ok(())
    });
    debug_assert!(slept.is_ok());
}

pub extern "C" fn exact_clock_seconds(_: *mut Env) -> f64 {
    eval::clock_seconds(Clock::Exact)
}

pub extern "C" fn tick_clock_seconds(_: *mut Env) -> f64 {
    eval::clock_seconds(Clock::Ticks)
}

pub extern "C" fn is_shutdown(e: *mut Env) -> u32 {
    let asked = env(e).with_outlet(|outlet| Ok(outlet.services().is_shutdown()));
    asked.map_or(0, u32::from)
}
