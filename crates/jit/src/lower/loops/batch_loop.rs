//! A loop over the frames of a batch: what is entered and left for each tuple otherwise is entered
//! and left once.
//!
//! ```text
//!   head(frame):  frame < end?  header's kind and flags?  len?   --no--> done
//!   turn:         the input slot is the payload, or what it says in registers; the body
//!   next:         temporaries are given back; head(the frame behind)
//! ```
//!
//! Where the next frame begins is known when a length has come from memory, which another processor
//! has just written: a chain of waits. But lengths of a stream are mostly alike. So the frame
//! behind is as far away as the last one was, if the length is that of the last one: a branch,
//! which the processor predicts, finds out if not, and the waits overlap. And what lies further
//! behind is fetched before it is needed, some lines at a time, since that takes a call.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, types};
use cranelift_frontend::Variable;
use runtime::abi::{FrameForm, PREFETCH_BYTES};
use tuple::Layout;

use crate::code::ImportedFunction;
use crate::code::offsets;
use crate::lower::context::{BodyInput, FunctionLowering};
use crate::lower::values::AccessRegion;
use crate::lowered_value::{LoweredValue, ValueForm};

impl FunctionLowering<'_, '_> {
    /// Runs a body for each frame whose payload is a tuple of the layout in the form. A flat tuple
    /// is taken for one if it is at least as large as its fixed part.
    pub fn batch_loop(
        &mut self,
        slot: u32,
        (form, layout): (FrameForm, &Layout),
        body: impl FnOnce(&mut Self),
    ) {
        let mark = self.allocation_mark();
        let first = self.load_env(types::I64, offsets::BATCH_NEXT);
        let end = self.load_env(types::I64, offsets::BATCH_END);
        let tag = self.load_env(types::I32, offsets::BATCH_TAG);
        let (zero, none) = (self.word(0), self.word(-1));
        let cursor = [
            self.builder.declare_var(types::I64),
            self.builder.declare_var(types::I64),
        ];
        self.set_batch_cursor(cursor, [first, zero]);
        let head = self.block_with(&[types::I64; 3]);
        let done = self.block();
        self.jump(head, &[none, zero, first]);
        self.switch_to(head);
        let [known, stride, due] = self.block_params(head)[..] else {
            unreachable!("it has three parameters");
        };
        let [frame, count] = cursor.map(|variable| self.builder.use_var(variable));
        let is_last = self.icmp(IntCC::UnsignedGreaterThanOrEqual, frame, end);
        self.leave_if(is_last, done);
        let (data, len) = self.payload(frame, tag, (form, layout), done);
        let stride = self.stride(len, known, stride);
        let after = self.builder.ins().iadd(frame, stride);
        let is_cut = self.icmp(IntCC::UnsignedGreaterThan, after, end);
        self.leave_if(is_cut, done);
        let normal = match form {
            FrameForm::Flat => None,
            FrameForm::Normal => Some(self.read_normal(data, &layout.schema, done)),
        };
        let count = self.offset(count, 1);
        self.set_batch_cursor(cursor, [after, count]);
        let due = self.prefetch([frame, end], stride, due);
        match normal {
            None => self.bind_input(slot, data, len),
            Some(tuple) => {
                let input = BodyInput { tuple, bytes: None };
                self.body.inputs[slot as usize] = Some(input);
            }
        }
        body(self);
        self.reset_to_mark(mark);
        self.jump(head, &[len, stride, due]);
        self.builder.seal_block(head);
        self.switch_to_sealed(done);
    }

    /// Payload of a tuple's frame; leaves the loop for another frame.
    fn payload(
        &mut self,
        frame: ir::Value,
        tag: ir::Value,
        (form, layout): (FrameForm, &Layout),
        done: ir::Block,
    ) -> (ir::Value, ir::Value) {
        let len = self.load(AccessRegion::Input, types::I32, frame, 0);
        let found = self.load(AccessRegion::Input, types::I32, frame, 4);
        let is_other = self.icmp(IntCC::NotEqual, found, tag);
        self.leave_if(is_other, done);
        let (misfit, bytes) = match form.payload_bytes(layout) {
            Some(bytes) if form == FrameForm::Normal => (IntCC::NotEqual, bytes),
            _ => (IntCC::UnsignedLessThan, layout.size),
        };
        let is_other = self.icmp_const(misfit, len, bytes.into());
        self.leave_if(is_other, done);
        let len = self.builder.ins().uextend(types::I64, len);
        (self.offset(frame, 8), len)
    }

    /// Size of a frame, given its payload's length: the last frame's, if the lengths are equal.
    fn stride(&mut self, len: ir::Value, known: ir::Value, stride: ir::Value) -> ir::Value {
        let (same, other) = (self.block(), self.cold_block());
        let next = self.block_with(&[types::I64]);
        let is_known = self.icmp(IntCC::Equal, len, known);
        self.branch(is_known, same, other);
        self.switch_to_sealed(same);
        self.jump(next, &[stride]);
        self.switch_to_sealed(other);
        // The header of 8 bytes, and the payload filled up to a multiple of 8.
        let up = self.offset(len, 8 + 7);
        let bytes = self.builder.ins().band_imm_s(up, -8);
        self.jump(next, &[bytes]);
        self.switch_to_sealed(next);
        self.block_params(next)[0]
    }

    /// Prefetches memory some way behind a frame, if the frame is at or beyond the address where
    /// that is due. Returns the next such address.
    fn prefetch(
        &mut self,
        [frame, end]: [ir::Value; 2],
        stride: ir::Value,
        due: ir::Value,
    ) -> ir::Value {
        let (now, next) = (self.block(), self.block_with(&[types::I64]));
        let is_due = self.icmp(IntCC::UnsignedGreaterThanOrEqual, frame, due);
        self.builder
            .ins()
            .brif(is_due, now, &[], next, &[BlockArg::Value(due)]);
        self.switch_to_sealed(now);
        let least = self.word(PREFETCH_BYTES as i64);
        let bytes = self.builder.ins().umax(stride, least);
        let left = self.builder.ins().isub(end, frame);
        self.call(ImportedFunction::Prefetch, &[frame, bytes, left]);
        let due = self.builder.ins().iadd(frame, bytes);
        self.jump(next, &[due]);
        self.switch_to_sealed(next);
        self.block_params(next)[0]
    }

    /// Notes what the batch has come to.
    fn set_batch_cursor(&mut self, cursor: [Variable; 2], words: [ir::Value; 2]) {
        for (variable, word) in cursor.into_iter().zip(words) {
            self.builder.def_var(variable, word);
        }
        self.batch_cursor = Some(cursor);
    }

    /// Stores what the batch has come to; a frame whose body failed is taken.
    pub fn store_batch_cursor(&mut self) {
        let Some(cursor) = self.batch_cursor else {
            return;
        };
        let env = self.env;
        for (variable, offset) in cursor
            .into_iter()
            .zip([offsets::BATCH_NEXT, offsets::BATCH_COUNT])
        {
            let word = self.builder.use_var(variable);
            self.store(AccessRegion::Env, word, env, offset);
        }
    }

    /// Makes a payload the tuple of an input slot.
    fn bind_input(&mut self, slot: u32, data: ir::Value, len: ir::Value) {
        let input_array = self.load_env(types::I64, offsets::INPUTS);
        self.store(AccessRegion::Env, data, input_array, 16 * slot as i32);
        self.store(AccessRegion::Env, len, input_array, 16 * slot as i32 + 8);
        self.body.inputs[slot as usize] = Some(BodyInput {
            tuple: LoweredValue::new_stable(ValueForm::Flat(data, 0)),
            bytes: Some(len),
        });
    }
}
