//! Frames that go into a ring without a call: see `ring::grant` for the four steps.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, types};
use graph::PortIndex;
use runtime::abi::grant::{BASE_OFFSET, END_OFFSET, HEAD_OFFSET};

use crate::code::ImportedFunction;
use crate::lower::context::{FunctionLowering, RingGrantAddresses};
use crate::lower::values::AccessRegion;

/// Bytes of a frame's header.
const HEADER_BYTES: u32 = 8;

/// Largest number of bytes that are zeroed by inline stores; more are zeroed by a call.
const INLINE_ZEROES_BYTES_MAX: u32 = 256;

impl FunctionLowering<'_, '_> {
    /// Claims room for a payload, writes the frame's header, and returns the address of the
    /// payload. Jumps to `no_room` if the grant is too small.
    pub fn claim_frame(&mut self, granted: &RingGrantAddresses, no_room: ir::Block) -> ir::Value {
        let grant = self.word(granted.grant);
        let head = self.load(AccessRegion::Ring, types::I64, grant, HEAD_OFFSET);
        let until = self.load(AccessRegion::Ring, types::I64, grant, END_OFFSET);
        let end = self.offset(head, frame_bytes(granted.bytes));
        let fits = self.icmp(IntCC::UnsignedLessThanOrEqual, end, until);
        let next = self.block();
        self.branch(fits, next, no_room);
        self.switch_to_sealed(next);
        let base = self.load(AccessRegion::Ring, types::I64, grant, BASE_OFFSET);
        let at = self.builder.ins().iadd(base, head);
        let header = self.word(i64::from(granted.bytes) | i64::from(granted.kind) << 32);
        self.store(AccessRegion::Output, header, at, 0);
        self.offset(at, HEADER_BYTES.into())
    }

    /// The frame is written: others may see it.
    pub fn commit_frame(&mut self, granted: &RingGrantAddresses, port: PortIndex) {
        self.increment_counter(granted.processed);
        self.increment_counter(granted.written);
        let grant = self.word(granted.grant);
        let head = self.load(AccessRegion::Ring, types::I64, grant, HEAD_OFFSET);
        let end = self.offset(head, frame_bytes(granted.bytes));
        self.store(AccessRegion::Ring, end, grant, HEAD_OFFSET);
        let committed = self.word(granted.committed);
        self.store_release(end, committed);
        let asleep = self.word(granted.asleep);
        let flags = ir::MemFlagsData::trusted();
        let sleepers = self.builder.ins().load(types::I64, flags, asleep, 0);
        let (wake, done) = (self.cold_block(), self.block());
        self.branch(sleepers, wake, done);
        self.switch_to_sealed(wake);
        let port = self.int(types::I32, port.0.into());
        let place = self.int(types::I32, granted.place.into());
        self.call(ImportedFunction::WakeReader, &[port, place]);
        self.jump(done, &[]);
        self.switch_to_sealed(done);
    }

    /// A store that no earlier store is seen after. On x86-64 every store is; stores without a
    /// region stay where they are among all others.
    fn store_release(&mut self, value: ir::Value, to: ir::Value) {
        let flags = ir::MemFlagsData::trusted();
        if cfg!(target_arch = "x86_64") {
            self.builder.ins().store(flags, value, to, 0);
        } else {
            self.builder.ins().atomic_store(flags, value, to);
        }
    }

    /// Makes bytes zero; a multiple of 8 of them.
    pub fn clear_bytes(&mut self, base: ir::Value, bytes: u32) {
        if bytes > INLINE_ZEROES_BYTES_MAX {
            let bytes = self.word(bytes.into());
            self.call(ImportedFunction::ZeroBytes, &[base, bytes]);
            return;
        }
        let zero = self.word(0);
        for at in (0..bytes).step_by(8) {
            self.store(AccessRegion::Output, zero, base, at as i32);
        }
    }
}

/// Bytes of a frame whose payload has `bytes` bytes: with its header, and filled up to a multiple
/// of 8.
fn frame_bytes(bytes: u32) -> i64 {
    i64::from((HEADER_BYTES + bytes).next_multiple_of(8))
}
