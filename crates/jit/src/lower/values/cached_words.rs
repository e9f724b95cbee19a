//! Counters and state variables in registers: loaded, and written back to where they belong.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, SourceLoc, types};
use cranelift_frontend::Variable;
use graph::StateId;

use super::emit::AccessRegion;
use crate::code::{ImportedFunction, NO_INLINED_OPERATOR, offsets};
use crate::lower::context::{
    CachedTicks, CachedVariable, FunctionLowering, InlinedOutput, PENDING_MAX, SampledOperator,
    StateStorage, TICK_READS,
};

impl FunctionLowering<'_, '_> {
    /// Begins with nothing to count, and the state variables as they are.
    pub fn load_cached_words(&mut self) {
        for count in self.cache.counters.clone() {
            let none = self.word(0);
            self.builder.def_var(count.pending, none);
        }
        if let Some(ticks) = self.cache.ticks {
            let none = self.builder.ins().f64const(0.0);
            self.builder.def_var(ticks.seconds, none);
        }
        self.load_cached_variables();
    }

    /// Writes all back that is in registers.
    pub fn store_cached_words(&mut self) {
        self.store_pending_counts();
        self.store_cached_variables();
    }

    /// Adds to counters what is to be added.
    pub fn store_pending_counts(&mut self) {
        for count in self.cache.counters.clone() {
            let pending = self.builder.use_var(count.pending);
            for counter in count.counters {
                let at = self.word(counter);
                let before = self.load(AccessRegion::Counters, types::I64, at, 0);
                let after = self.builder.ins().iadd(before, pending);
                self.store(AccessRegion::Counters, after, at, 0);
            }
            let none = self.word(0);
            self.builder.def_var(count.pending, none);
        }
    }

    /// Loads the state variables, after a call that may have changed them.
    pub fn load_cached_variables(&mut self) {
        for word in self.cache.variables.clone() {
            let at = self.word(word.address);
            let parts = self.load_slot(region(&word), at, 0, &word.ty);
            self.builder.def_var(word.variable, parts[0]);
        }
        self.forget_ticks();
    }

    /// Reads the clock of ticks anew when it is asked for next: much time may have passed.
    pub fn forget_ticks(&mut self) {
        if let Some(ticks) = self.cache.ticks {
            let none = self.word(0);
            self.builder.def_var(ticks.reads_left, none);
        }
    }

    /// The seconds of the clock of ticks.
    pub fn tick_seconds(&mut self) -> ir::Value {
        let read = |lower: &mut Self| {
            let import = ImportedFunction::TickClockSeconds;
            lower.call_for_word(import, &[])
        };
        let Some(CachedTicks {
            seconds,
            reads_left,
        }) = self.cache.ticks
        else {
            return read(self);
        };
        let (anew, done) = (self.cold_block(), self.block());
        let left = self.builder.use_var(reads_left);
        let fewer = self.offset(left, -1);
        self.builder.def_var(reads_left, fewer);
        self.branch(left, done, anew);
        self.switch_to_sealed(anew);
        let now = self.seldom(read);
        self.builder.def_var(seconds, now);
        let left = self.word(TICK_READS - 1);
        self.builder.def_var(reads_left, left);
        self.jump(done, &[]);
        self.switch_to_sealed(done);
        self.builder.use_var(seconds)
    }

    /// Stores the state variables.
    pub fn store_cached_variables(&mut self) {
        for word in self.cache.variables.clone() {
            let at = self.word(word.address);
            let value = self.builder.use_var(word.variable);
            self.store_slot(region(&word), at, 0, &word.ty, &[value]);
        }
    }

    /// The machine variable of a state variable of the body, if it is in one.
    pub fn cached_variable(&self, state: StateId) -> Option<Variable> {
        let StateStorage::At {
            scalars_address: Some(scalars),
            ..
        } = self.body.state
        else {
            return None;
        };
        self.cache.state_variable(scalars, state)
    }

    /// Counts a tuple that goes over an edge of an output port; over the first one, that it is
    /// submitted, too. Whether the number is in a register.
    pub fn count_delivered(&mut self, output: &InlinedOutput, edge: usize) -> bool {
        if self.body.is_counted_with_input {
            return true;
        }
        let Some(variable) = self.cache.pending(output, edge) else {
            for counter in output.counters(edge) {
                self.increment_counter(counter);
            }
            return false;
        };
        let pending = self.builder.use_var(variable);
        let pending = self.offset(pending, 1);
        self.builder.def_var(variable, pending);
        // Bodies of inlined operators run between two tuples that the function's own one submits.
        if edge > 0 || self.body.inlined_operator != NO_INLINED_OPERATOR {
            return true;
        }
        let (many, next) = (self.cold_block(), self.block());
        let is_many = self.icmp_const(IntCC::UnsignedGreaterThanOrEqual, pending, PENDING_MAX);
        self.branch(is_many, many, next);
        self.switch_to_sealed(many);
        self.store_cached_words();
        self.jump(next, &[]);
        self.switch_to_sealed(next);
        true
    }

    /// Adds 1 to the counter at an address.
    pub fn increment_counter(&mut self, counter: i64) {
        let at = self.word(counter);
        let count = self.load(AccessRegion::Counters, types::I64, at, 0);
        let count = self.builder.ins().iadd_imm_s(count, 1);
        self.store(AccessRegion::Counters, count, at, 0);
    }

    /// Gives the instructions that follow to the body's operator, for samples of the thread.
    pub fn mark_operator(&mut self) {
        if let Some(SampledOperator { operator, .. }) = self.body.sampled {
            self.builder.set_srcloc(SourceLoc::new(operator));
        }
    }

    /// Gives the instructions that follow to the operator that sends, for samples of the thread.
    pub fn mark_sender(&mut self, sender: u32) {
        if self.body.sampled.is_some() {
            self.builder.set_srcloc(SourceLoc::new(sender));
        }
    }

    /// Says which operator a call belongs to, for samples of the thread within it.
    pub fn note_running(&mut self) {
        if let Some(SampledOperator {
            operator,
            running: Some(running),
        }) = self.body.sampled
        {
            let operator = self.int(types::I32, i64::from(operator));
            let running = self.word(running);
            self.store(AccessRegion::Counters, operator, running, 0);
        }
    }

    /// Notes the operator that a call belongs to, for its faults and for what it asks of the
    /// outlet, if the function has bodies of several.
    pub fn note_operator(&mut self) {
        if self.inlines {
            let operator = i64::from(self.body.inlined_operator as i32);
            let operator = self.int(types::I32, operator);
            let env = self.env;
            self.store(AccessRegion::Env, operator, env, offsets::INLINED_OPERATOR);
        }
    }
}

fn region(word: &CachedVariable) -> AccessRegion {
    match word.is_event_time {
        true => AccessRegion::Watermarks,
        false => AccessRegion::Scalars,
    }
}
