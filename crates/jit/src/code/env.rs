//! The environment of compiled code: every machine function is given a pointer to one.
//!
//! Compiled code reads and writes the first fields at the offsets of [`offsets`]; the fields after
//! them are for the functions in [`super::import_bodies`]. An `Env` belongs to one handle and is
//! only used by one thread at a time. Nothing in it outlives a call but memory that is kept for the
//! next.

use std::ops::Range;
use std::sync::Arc;

use eval::{Fault, InputTuples, TableState};
use graph::PortIndex;
use runtime::abi::{CodeContext, CodeOutlet, FrameBatch};
use tuple::{Layout, TupleBuf, TupleRef, Value};

use super::arena::{Arena, Bump};
use super::call_frames::CallFrames;
use super::constant_pool::ConstantPool;
use super::env_requirements::EnvRequirements;
use super::parts_reader::RawSlice;
use super::scratch::OperandScratch;
use super::temp_values::TempValues;

/// Value of [`Env::inlined_operator`] while no inlined operator runs: the outlet acts for the
/// handle's operator.
pub const NO_INLINED_OPERATOR: u32 = u32::MAX;

/// Everything that the compiled code of one handle reads and writes, at offsets known to the code.
#[repr(C)]
pub struct Env {
    /// Free bytes of the arena.
    bump: Bump,
    /// Number of temporary values.
    temps_len: usize,
    /// The input tuples that the code reads, by slot.
    inputs: *mut RawSlice<u8>,
    /// The operator's scalar state variables, 16 bytes each.
    scalars: *mut [u64; 2],
    /// The operator's other state variables.
    values: *mut Value,
    /// Tables of the operator, by number.
    tables: *mut TableState,
    /// The function's own local variables that are values.
    locals: *mut Value,
    /// The lowest address of the stack that a call may begin at.
    stack_limit: usize,
    /// Number of calls of user functions that are going on.
    call_depth: u32,
    /// The marker of an `onPunct` body.
    punctuation: u32,
    /// The inlined operator that is running, or [`NO_INLINED_OPERATOR`].
    inlined_operator: u32,
    /// The frames that a loop over a batch runs over.
    batch: BatchCursor,

    arena: Arena,
    /// Value of `bump.next` when nothing is taken.
    bump_base: usize,
    temps: TempValues,
    /// Variables in memory of the user functions that are running.
    pub(super) call_frames: CallFrames,
    /// Values that fallback sites make of their operands, kept for the next run of the site.
    pub(super) operand_scratch: OperandScratch,
    input_slices: Vec<RawSlice<u8>>,
    /// Default tuples, for input slots that are empty: zeroes.
    default_tuples: Vec<u64>,
    local_values: Box<[Value]>,
    outlet: Option<*mut dyn CodeOutlet>,
    /// Tuple that is being written: by a projection, or to be submitted.
    tuple_buf: *mut TupleBuf,
    own_tuple_buf: Box<TupleBuf>,
    fault: Option<Fault>,
    /// Constants of the code, kept because the code has their addresses.
    _pool: Arc<ConstantPool>,
}

/// A batch as compiled code runs over it.
#[derive(Clone, Copy)]
#[repr(C)]
struct BatchCursor {
    /// Address of the next frame.
    next: *const u8,
    /// Address behind the last frame.
    end: *const u8,
    /// Number of frames that were taken.
    count: u64,
    /// Value that the upper half of a header must have for the loop to take its frame.
    header_tag: u32,
}

impl BatchCursor {
    const NONE: BatchCursor = BatchCursor {
        next: std::ptr::null(),
        end: std::ptr::null(),
        count: 0,
        header_tag: 0,
    };
}

/// Offsets of the fields that compiled code uses.
pub mod offsets {
    use std::mem::offset_of;

    use super::{BatchCursor, Bump, Env};

    /// Offset of the next free byte of the arena.
    pub const BUMP: i32 = (offset_of!(Env, bump) + offset_of!(Bump, next)) as i32;
    /// Offset of the end of the arena's chunk.
    pub const BUMP_LIMIT: i32 = (offset_of!(Env, bump) + offset_of!(Bump, limit)) as i32;
    /// Offset of the number of temporary values.
    pub const TEMPS_LEN: i32 = offset_of!(Env, temps_len) as i32;
    /// Offset of the array of input tuples.
    pub const INPUTS: i32 = offset_of!(Env, inputs) as i32;
    /// Offset of the address of the scalar state variables.
    pub const SCALARS: i32 = offset_of!(Env, scalars) as i32;
    /// Offset of the address of the other state variables.
    pub const VALUES: i32 = offset_of!(Env, values) as i32;
    /// Offset of the address of the tables.
    pub const TABLES: i32 = offset_of!(Env, tables) as i32;
    /// Offset of the address of local variables in memory.
    pub const LOCALS: i32 = offset_of!(Env, locals) as i32;
    /// Offset of the lowest address of the stack.
    pub const STACK_LIMIT: i32 = offset_of!(Env, stack_limit) as i32;
    /// Offset of the number of calls that are going on.
    pub const CALL_DEPTH: i32 = offset_of!(Env, call_depth) as i32;
    /// Offset of the marker of an `onPunct` body.
    pub const PUNCTUATION: i32 = offset_of!(Env, punctuation) as i32;
    /// Offset of the number of the inlined operator that is running.
    pub const INLINED_OPERATOR: i32 = offset_of!(Env, inlined_operator) as i32;
    /// Offset of the address of the next frame of the batch.
    pub const BATCH_NEXT: i32 = (offset_of!(Env, batch) + offset_of!(BatchCursor, next)) as i32;
    /// Offset of the end of the batch.
    pub const BATCH_END: i32 = (offset_of!(Env, batch) + offset_of!(BatchCursor, end)) as i32;
    /// Offset of the number of frames that were taken.
    pub const BATCH_COUNT: i32 = (offset_of!(Env, batch) + offset_of!(BatchCursor, count)) as i32;
    /// Offset of the upper half of a tuple's header.
    pub const BATCH_TAG: i32 =
        (offset_of!(Env, batch) + offset_of!(BatchCursor, header_tag)) as i32;
}

impl Env {
    /// An environment that meets the needs of a function.
    pub fn new(pool: Arc<ConstantPool>, needs: &EnvRequirements) -> Box<Env> {
        let zeroes = needs.inputs.iter().map(|(_, layout)| layout.size / 8).max();
        let slots = needs
            .inputs
            .iter()
            .map(|(slot, _)| slot + 1)
            .max()
            .unwrap_or(0);
        let mut env = Box::new(Env {
            bump: Bump::EMPTY,
            temps_len: 0,
            inputs: std::ptr::null_mut(),
            scalars: std::ptr::null_mut(),
            values: std::ptr::null_mut(),
            tables: std::ptr::null_mut(),
            locals: std::ptr::null_mut(),
            stack_limit: 0,
            call_depth: 0,
            punctuation: 0,
            inlined_operator: NO_INLINED_OPERATOR,
            batch: BatchCursor::NONE,
            arena: Arena::default(),
            bump_base: 0,
            temps: TempValues::default(),
            call_frames: CallFrames::default(),
            operand_scratch: OperandScratch::default(),
            input_slices: vec![
                RawSlice {
                    data: std::ptr::null(),
                    len: 0
                };
                slots as usize
            ],
            default_tuples: vec![0; zeroes.unwrap_or(0) as usize],
            local_values: needs.local_types.iter().map(Value::default_of).collect(),
            outlet: None,
            tuple_buf: std::ptr::null_mut(),
            own_tuple_buf: Box::default(),
            fault: None,
            _pool: pool,
        });
        if needs.allocates {
            env.allocate(1);
            env.reset(0, 0);
            env.bump_base = env.bump.next;
        }
        env.inputs = env.input_slices.as_mut_ptr();
        env.locals = env.local_values.as_mut_ptr();
        env
    }

    /// Binds inputs, state and outlet of one call.
    pub fn enter(
        &mut self,
        context: &mut CodeContext<'_>,
        needs: &EnvRequirements,
        out: Option<&mut TupleBuf>,
    ) {
        for (slot, layout) in &needs.inputs {
            self.bind_input(&context.inputs, *slot as usize, layout);
        }
        self.scalars = context.state.scalars.as_mut_ptr();
        self.values = context.state.values.as_mut_ptr();
        self.tables = context.state.tables.as_mut_ptr();
        self.stack_limit = eval::interp::stack_floor();
        self.punctuation = context.punctuation.map_or(0, |mark| mark as u32);
        let own = &raw mut *self.own_tuple_buf;
        self.tuple_buf = out.map_or(own, std::ptr::from_mut);
        let outlet: *mut (dyn CodeOutlet + '_) = context.outlet;
        // SAFETY: only the lifetime changes; `leave` forgets the pointer before it ends.
        self.outlet = Some(unsafe {
            std::mem::transmute::<*mut (dyn CodeOutlet + '_), *mut (dyn CodeOutlet + 'static)>(
                outlet,
            )
        });
    }

    fn bind_input(&mut self, inputs: &InputTuples<'_>, slot: usize, layout: &Layout) {
        let tuple = inputs.tuples.get(slot).copied().flatten();
        self.input_slices[slot] = match tuple.map(TupleRef::bytes) {
            Some(bytes) => RawSlice {
                data: bytes.as_ptr(),
                len: bytes.len(),
            },
            // An empty slot reads as the default tuple.
            None => RawSlice {
                data: self.default_tuples.as_ptr().cast(),
                len: layout.size as usize,
            },
        };
    }

    /// Binds the frames of a batch; called after `enter`.
    pub fn enter_batch(&mut self, batch: &FrameBatch<'_>, kind: u8) {
        let bytes = batch.bytes().as_ptr_range();
        self.batch = BatchCursor {
            next: bytes.start,
            end: bytes.end,
            count: 0,
            header_tag: kind.into(),
        };
    }

    /// Ends a batch. Returns the number of frames that were taken, and their size in bytes.
    pub fn leave_batch(&mut self, batch: &FrameBatch<'_>) -> (u64, usize) {
        let taken = std::mem::replace(&mut self.batch, BatchCursor::NONE);
        (
            taken.count,
            taken.next.addr() - batch.bytes().as_ptr().addr(),
        )
    }

    /// Gives all temporary memory back. Returns the fault if the code has failed.
    pub fn leave(&mut self) -> Option<Fault> {
        if self.temps_len > 0 || self.bump.next != self.bump_base {
            self.reset(0, 0);
            self.bump_base = self.bump.next;
        }
        let fault = self.fault.take();
        if fault.is_some() {
            self.call_frames.clear();
            self.call_depth = 0;
            if self.inlined_operator != NO_INLINED_OPERATOR {
                // The report is to name the operator whose fault it is.
                let actor = std::mem::replace(&mut self.inlined_operator, NO_INLINED_OPERATOR);
                self.raw_outlet().act_as(actor);
            }
        }
        self.outlet = None;
        fault
    }

    /// Gives back the bytes and the values taken since the marks.
    pub fn reset(&mut self, bump: usize, temps: usize) {
        self.arena.reset(&mut self.bump, bump);
        self.temps.reset(&mut self.temps_len, temps);
    }

    /// Takes bytes of the arena; the address is a multiple of 8.
    pub fn allocate(&mut self, bytes: usize) -> *mut u8 {
        self.arena.allocate(&mut self.bump, bytes)
    }

    /// Copies bytes into the arena.
    pub fn copy_bytes(&mut self, bytes: &[u8]) -> RawSlice<u8> {
        let data = self.allocate(bytes.len());
        // SAFETY: `take` gave this many bytes, which nothing else uses.
        unsafe { data.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        RawSlice {
            data,
            len: bytes.len(),
        }
    }

    /// Keeps a value until the next reset.
    pub fn push_temp(&mut self, value: Value) -> *mut Value {
        self.temps.push(&mut self.temps_len, value)
    }

    /// Stores the fault with which the code is about to return. Returns the status for it, 1.
    pub fn set_fault(&mut self, fault: Fault) -> u32 {
        self.fault = Some(fault);
        1
    }

    fn raw_outlet(&mut self) -> &mut dyn CodeOutlet {
        let outlet = self
            .outlet
            .expect("compiled code runs between enter and leave");
        // SAFETY: set by `enter` from a reference that lives until after `leave`.
        unsafe { &mut *outlet }
    }

    /// Runs `work` on the operator's outlet. While an inlined operator runs, the outlet acts for
    /// it.
    pub fn with_outlet<R>(
        &mut self,
        work: impl FnOnce(&mut dyn CodeOutlet) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let actor = self.inlined_operator;
        let outlet = self.raw_outlet();
        if actor == NO_INLINED_OPERATOR {
            return work(outlet);
        }
        let before = outlet.act_as(actor);
        let result = work(outlet)?;
        outlet.act_as(before);
        Ok(result)
    }

    /// Like [`Env::with_outlet`], for an operator that the code has not noted. After a fault it is
    /// noted.
    pub fn with_outlet_of<R>(
        &mut self,
        operator: u32,
        work: impl FnOnce(&mut dyn CodeOutlet) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let before = std::mem::replace(&mut self.inlined_operator, operator);
        let result = self.with_outlet(work)?;
        self.inlined_operator = before;
        Ok(result)
    }

    /// The tuple that is being written.
    pub fn tuple_buf(&mut self) -> &mut TupleBuf {
        // SAFETY: set by `enter` to the caller's or the own buffer; nothing else touches either.
        unsafe { &mut *self.tuple_buf }
    }

    /// Submits the tuple that was written.
    ///
    /// # Errors
    /// The fault of the submission.
    pub fn submit_tuple_buf(&mut self, port: PortIndex) -> Result<(), Fault> {
        // SAFETY: as in `buf`; the outlet is another object and cannot reach the buffer.
        let tuple = unsafe { &mut *self.tuple_buf };
        self.with_outlet(|outlet| outlet.submit_owned(port, tuple))
    }

    /// Submits the tuple that was last made to some consumers of a port, by their places.
    ///
    /// # Errors
    /// The fault of the submission.
    pub fn submit_tuple_buf_to(
        &mut self,
        port: PortIndex,
        places: Range<u32>,
    ) -> Result<(), Fault> {
        // SAFETY: as in `submit_tuple_buf`.
        let tuple = unsafe { &*self.tuple_buf };
        self.with_outlet(|outlet| outlet.submit_to(port, places, tuple.as_ref()))
    }

    /// Shows the tuple that was last made to who taps a port's stream.
    pub fn tap_tuple_buf(&mut self, port: PortIndex) {
        // SAFETY: as in `submit_tuple_buf`.
        let tuple = unsafe { &*self.tuple_buf };
        let shown = self.with_outlet(|outlet| {
            outlet.tap(port, tuple.as_ref());
            Ok(())
        });
        debug_assert!(shown.is_ok());
    }

    /// The input tuple that an address lies in, and the offset of the address in it.
    pub fn input_at(&self, address: *const u8) -> Option<(TupleRef<'_>, usize)> {
        let view = self.input_slices.iter().find(|view| {
            let start = view.data.addr();
            start <= address.addr() && address.addr() < start + view.len
        })?;
        // SAFETY: bound by `enter` to a tuple that lives until after `leave`.
        let tuple = TupleRef::from_bytes(unsafe { view.slice() }).ok()?;
        Some((tuple, address.addr() - view.data.addr()))
    }
}

// SAFETY: between calls its pointers are not used, and what it owns is `Send`; a call is on one
// thread from `enter` to `leave`.
unsafe impl Send for Env {}
