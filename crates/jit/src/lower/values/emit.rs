//! The instructions that everything else is made of: constants, memory, branches, calls.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, MemFlagsData, types};
use cranelift_codegen::ir::{AliasRegionData, StackSlotData, StackSlotKind};
use smallvec::SmallVec;

use crate::code::ImportedFunction;
use crate::code::offsets;
use crate::lower::context::FunctionLowering;
use crate::lowered_value::{LoweredValue, ValueForm};

/// Memory that a load or store touches. Two accesses of different regions never touch the same
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessRegion {
    /// The fields of the environment.
    Env = 1,
    /// The operator's scalar state variables.
    Scalars,
    /// The addresses of the current entries of tables.
    Tables,
    /// The entries of tables.
    Entries,
    /// `Value`s and what they own, but for the elements of strings and lists.
    Values,
    /// Elements of strings and lists, and slots passed by address.
    Bytes,
    /// Words on the stack.
    Stack,
    /// The tuple that is being written.
    Output,
    /// Counters of tuples at ports.
    Counters,
    /// The words of a ring and of its grant.
    Ring,
    /// The words of watermarks.
    Watermarks,
    /// The budgets of taps, which other threads change at any time.
    Taps,
    /// Memory that nothing changes, but of which something else says whether it is there: the
    /// elements of lists of input tuples, and of tables by an index.
    Input,
    /// Memory that is there, and stays as it is, while the function runs.
    Fixed,
}

impl AccessRegion {
    /// Region of a value that lies in a `Value`.
    pub fn of_boxed_value(value: &LoweredValue) -> AccessRegion {
        if value.is_fixed() {
            AccessRegion::Fixed
        } else {
            AccessRegion::Values
        }
    }

    /// A value that lies in this region.
    pub fn value_in_region(self, form: ValueForm) -> LoweredValue {
        match self {
            AccessRegion::Fixed => LoweredValue::new_fixed(form),
            _ => LoweredValue::new_stable(form),
        }
    }

    /// Region of a value in flat memory.
    pub fn of_flat_value(value: &LoweredValue) -> AccessRegion {
        if value.is_fixed() {
            AccessRegion::Fixed
        } else {
            AccessRegion::Input
        }
    }
}

impl FunctionLowering<'_, '_> {
    /// The flags of an access.
    pub fn flags(&mut self, region: AccessRegion) -> MemFlagsData {
        let flags = MemFlagsData::trusted();
        match region {
            AccessRegion::Input => return flags.with_readonly(),
            AccessRegion::Fixed => return flags.with_readonly().with_can_move(),
            _ => {}
        }
        let user_id = region as u32;
        let regions = &mut self.builder.func.dfg.alias_regions;
        let known = regions.get(user_id).unwrap_or_else(|| {
            let description = format!("{region:?}").into();
            regions.insert(AliasRegionData {
                user_id,
                description,
            })
        });
        flags.with_alias_region(Some(known))
    }

    /// Emits a load from a region.
    pub fn load(
        &mut self,
        region: AccessRegion,
        ty: ir::Type,
        base: ir::Value,
        offset: i32,
    ) -> ir::Value {
        let flags = self.flags(region);
        self.builder.ins().load(ty, flags, base, offset)
    }

    /// Emits a store to a region.
    pub fn store(&mut self, region: AccessRegion, value: ir::Value, base: ir::Value, offset: i32) {
        let flags = self.flags(region);
        self.builder.ins().store(flags, value, base, offset);
    }

    /// A field of the environment.
    pub fn load_env(&mut self, ty: ir::Type, offset: i32) -> ir::Value {
        let env = self.env;
        self.load(AccessRegion::Env, ty, env, offset)
    }

    /// Emits an integer constant.
    pub fn int(&mut self, ty: ir::Type, value: i64) -> ir::Value {
        self.builder.ins().iconst(ty, value)
    }

    /// A 64-bit constant, such as an address.
    pub fn word(&mut self, value: i64) -> ir::Value {
        self.int(types::I64, value)
    }

    /// An address and an offset.
    pub fn offset(&mut self, base: ir::Value, offset: i64) -> ir::Value {
        if offset == 0 {
            return base;
        }
        self.builder.ins().iadd_imm_s(base, offset)
    }

    /// The address of the element at an index.
    pub fn element(&mut self, data: ir::Value, index: ir::Value, stride: i32) -> ir::Value {
        let distance = if stride == 1 {
            index
        } else if stride.count_ones() == 1 {
            self.builder
                .ins()
                .ishl_imm_u(index, i64::from(stride.trailing_zeros()))
        } else {
            self.builder.ins().imul_imm_s(index, i64::from(stride))
        };
        self.builder.ins().iadd(data, distance)
    }

    /// A comparison of integers.
    pub fn icmp(&mut self, cc: IntCC, a: ir::Value, b: ir::Value) -> ir::Value {
        self.builder.ins().icmp(cc, a, b)
    }

    /// A comparison with a constant.
    pub fn icmp_const(&mut self, cc: IntCC, a: ir::Value, b: i64) -> ir::Value {
        self.builder.ins().icmp_imm_s(cc, a, b)
    }

    /// Creates a block without parameters.
    pub fn block(&mut self) -> ir::Block {
        self.builder.create_block()
    }

    /// A new block that is seldom run.
    pub fn cold_block(&mut self) -> ir::Block {
        let block = self.builder.create_block();
        self.builder.set_cold_block(block);
        block
    }

    /// A new block with parameters of these types.
    pub fn block_with(&mut self, types: &[ir::Type]) -> ir::Block {
        let block = self.builder.create_block();
        for &ty in types {
            self.builder.append_block_param(block, ty);
        }
        block
    }

    /// The parameters of a block.
    pub fn block_params(&self, block: ir::Block) -> SmallVec<[ir::Value; 4]> {
        SmallVec::from_slice(self.builder.block_params(block))
    }

    /// Emits a jump. The next block has to be switched to.
    pub fn jump(&mut self, to: ir::Block, args: &[ir::Value]) {
        let args: SmallVec<[BlockArg; 8]> = args.iter().map(|&v| BlockArg::Value(v)).collect();
        self.builder.ins().jump(to, args.iter());
    }

    /// Emits a jump, and goes on in a block that control never reaches, for code behind a `return`.
    pub fn leave_to(&mut self, to: ir::Block, args: &[ir::Value]) {
        self.jump(to, args);
        let nowhere = self.block();
        self.switch_to(nowhere);
    }

    /// Branches on a boolean.
    pub fn branch(&mut self, condition: ir::Value, yes: ir::Block, no: ir::Block) {
        self.builder.ins().brif(condition, yes, &[], no, &[]);
    }

    /// Branches on a number that is not 0, with arguments for the blocks.
    pub fn branch_with(
        &mut self,
        condition: ir::Value,
        yes: (ir::Block, &[ir::Value]),
        no: (ir::Block, &[ir::Value]),
    ) {
        let [yes_args, no_args] = [yes.1, no.1].map(|args| {
            let args = args.iter().map(|&value| BlockArg::Value(value));
            args.collect::<SmallVec<[BlockArg; 4]>>()
        });
        self.builder
            .ins()
            .brif(condition, yes.0, yes_args.iter(), no.0, no_args.iter());
    }

    /// Goes on unless a condition holds. Cranelift moves code out of a loop only if the way out is
    /// the first one of its branch.
    pub fn leave_if(&mut self, condition: ir::Value, to: ir::Block) {
        let next = self.block();
        self.branch(condition, to, next);
        self.switch_to_sealed(next);
    }

    /// Goes on in a block.
    pub fn switch_to(&mut self, block: ir::Block) {
        self.builder.switch_to_block(block);
    }

    /// Goes on in a block whose predecessors are all known.
    pub fn switch_to_sealed(&mut self, block: ir::Block) {
        self.builder.switch_to_block(block);
        self.builder.seal_block(block);
    }

    /// Calls an imported function. Its first argument is always the environment.
    pub fn call(
        &mut self,
        import: ImportedFunction,
        args: &[ir::Value],
    ) -> SmallVec<[ir::Value; 2]> {
        self.note_running();
        let is_outside = import.reaches_outside();
        if is_outside {
            self.note_operator();
            self.store_cached_words();
        }
        let mut all: SmallVec<[ir::Value; 8]> = SmallVec::new();
        all.push(self.env);
        all.extend_from_slice(args);
        let results = match self.is_seldom {
            true => self.call_preserving(import, &all),
            false => {
                let function = self.import_ref(import);
                let call = self.builder.ins().call(function, &all);
                SmallVec::from_slice(self.builder.inst_results(call))
            }
        };
        if is_outside {
            self.load_cached_variables();
        }
        results
    }

    /// Calls an imported function that returns one word.
    pub fn call_for_word(&mut self, import: ImportedFunction, args: &[ir::Value]) -> ir::Value {
        self.call(import, args)[0]
    }

    /// Calls an imported function that returns a status, and leaves if that is not 0.
    pub fn call_checked(&mut self, import: ImportedFunction, args: &[ir::Value]) {
        let status = self.call_for_word(import, args);
        self.check_status(status);
    }

    /// Leaves if a status is not 0.
    pub fn check_status(&mut self, status: ir::Value) {
        let next = self.block();
        self.branch(status, self.fault_block, next);
        self.switch_to_sealed(next);
    }

    /// Takes words on the stack. Returns their address.
    pub fn stack_words(&mut self, words: usize) -> ir::Value {
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 8 * words.max(1) as u32, 3);
        let slot = self.builder.create_sized_stack_slot(data);
        self.builder.ins().stack_addr(types::I64, slot, 0)
    }

    /// A part as a word on the stack.
    pub fn store_word(&mut self, value: ir::Value, words: ir::Value, at: usize) {
        self.store(AccessRegion::Stack, value, words, 8 * at as i32);
    }

    /// Takes bytes of the arena. Returns their address, a multiple of 8.
    pub fn allocate(&mut self, bytes: ir::Value) -> ir::Value {
        self.allocate_after(bytes, |_| {})
    }

    /// Like [`FunctionLowering::allocate`], with code that runs before the arena grows.
    pub fn allocate_after(
        &mut self,
        bytes: ir::Value,
        before_growing: impl FnOnce(&mut Self),
    ) -> ir::Value {
        self.allocations += 1;
        let next = self.load_env(types::I64, offsets::BUMP);
        let limit = self.load_env(types::I64, offsets::BUMP_LIMIT);
        let up = self.builder.ins().iadd_imm_s(bytes, 7);
        let rounded = self.builder.ins().band_imm_s(up, -8);
        let room = self.builder.ins().isub(limit, next);
        let (fast, slow) = (self.block(), self.cold_block());
        let done = self.block_with(&[types::I64]);
        let fits = self.icmp(IntCC::UnsignedLessThanOrEqual, rounded, room);
        self.branch(fits, fast, slow);
        self.switch_to_sealed(fast);
        let after = self.builder.ins().iadd(next, rounded);
        let env = self.env;
        self.store(AccessRegion::Env, after, env, offsets::BUMP);
        self.jump(done, &[next]);
        self.switch_to_sealed(slow);
        before_growing(self);
        let grown = self.seldom(|lower| lower.call_for_word(ImportedFunction::Allocate, &[bytes]));
        self.jump(done, &[grown]);
        self.switch_to_sealed(done);
        self.block_params(done)[0]
    }

    /// Copies bytes, by a call.
    pub fn copy(&mut self, to: ir::Value, from: ir::Value, bytes: ir::Value) {
        self.call(ImportedFunction::CopyBytes, &[to, from, bytes]);
    }

    /// Copies a known number of bytes at an offset.
    pub fn copy_const(&mut self, to: (ir::Value, i32), from: (ir::Value, i32), bytes: i32) {
        if bytes > 64 {
            let target = self.offset(to.0, i64::from(to.1));
            let source = self.offset(from.0, i64::from(from.1));
            let bytes = self.word(i64::from(bytes));
            return self.copy(target, source, bytes);
        }
        let mut at = 0;
        while at < bytes {
            let (ty, step) = match bytes - at {
                16.. => (types::I8X16, 16),
                8.. => (types::I64, 8),
                4.. => (types::I32, 4),
                2.. => (types::I16, 2),
                _ => (types::I8, 1),
            };
            // Not `trusted`: the pieces of a string lie at any address.
            let flags = MemFlagsData::new().with_notrap();
            let piece = self.builder.ins().load(ty, flags, from.0, from.1 + at);
            self.builder.ins().store(flags, piece, to.0, to.1 + at);
            at += step;
        }
    }
}
