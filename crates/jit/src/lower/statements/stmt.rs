//! Statements: which form is lowered where.

use cranelift_codegen::ir::{Block, InstBuilder};
use graph::{Expr, Stmt};
use tuple::Type;

use crate::code::ImportedFunction;
use crate::lower::context::{
    FunctionLowering, LocalStorage, LoopTargets, MemoryRequirements, ReturnTarget,
};

impl FunctionLowering<'_, '_> {
    /// Lowers statements in order.
    pub fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(stmt);
            // What stands behind a jump is never run.
            if matches!(stmt, Stmt::Return(_) | Stmt::Break | Stmt::Continue) {
                break;
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let(local, init) => {
                let value = match init {
                    Some(init) => self.expr(init),
                    None => {
                        let ty = self.body.types[local.0 as usize].clone();
                        self.default_value(&ty)
                    }
                };
                self.set_local(*local, value);
            }
            Stmt::Expr(e) => {
                self.expr(e);
            }
            Stmt::If(condition, yes, no) => self.if_else(condition, yes, no),
            Stmt::While(condition, body) => self.while_loop(condition, body),
            Stmt::For(local, collection, body) => self.for_each(*local, collection, body),
            Stmt::Break => self.leave_loop(|blocks| blocks.break_block),
            Stmt::Continue => self.leave_loop(|blocks| {
                blocks.is_continued = true;
                blocks.continue_block
            }),
            Stmt::Return(value) => self.return_statement(value.as_ref()),
            Stmt::Clause(body) => self.nested_body(body),
            Stmt::Sleep(seconds) => {
                let seconds = self.expr_single_part(seconds);
                self.call(ImportedFunction::Sleep, &[seconds]);
            }
            Stmt::Submit { port, tuple, pos } => self.submit(port, tuple, *pos),
            Stmt::SubmitPunct { port, mark, pos } => self.submit_punct(port, mark, *pos),
            Stmt::FindEntry {
                table,
                key,
                added,
                pos,
            } => self.find_entry(*table, key, added, *pos),
            Stmt::AddEntry(table, pos) => {
                self.call_on_table_or_fault(ImportedFunction::AddEntry, *table, *pos);
            }
            Stmt::EntryId(local, table) => self.entry_id(*local, *table),
            Stmt::SelectEntry(table, id) => self.select_entry(*table, id),
            Stmt::RemoveEntry(table) => self.call_on_table(ImportedFunction::RemoveEntry, *table),
            Stmt::EnqueueEntry(table, pos) => {
                self.call_on_table_or_fault(ImportedFunction::EnqueueEntry, *table, *pos);
            }
            Stmt::DequeueEntry(table) => self.call_on_table(ImportedFunction::DequeueEntry, *table),
            Stmt::UseEntry(table) => self.call_on_table(ImportedFunction::UseEntry, *table),
            Stmt::SelectLeastUsed(table) => {
                self.call_on_table(ImportedFunction::SelectLeastUsed, *table);
            }
            Stmt::InsertElement(variable, element) => self.insert_element(*variable, element),
            Stmt::ClearElements(variable) => self.clear_elements(*variable),
            Stmt::CountUnits(local, units, time) => self.count_units(*local, units, time),
            Stmt::BeginPane {
                number,
                fire_count,
                panes,
            } => self.begin_pane(number, fire_count, panes),
            Stmt::AdvanceWatermark(time) => self.advance_watermark(time),
        }
    }

    fn if_else(&mut self, asked: &Expr, yes: &[Stmt], no: &[Stmt]) {
        let condition = self.expr_single_part(asked);
        if self.branchless_if(condition, yes, no) {
            return;
        }
        if no.is_empty() && self.seldom_if(asked, condition, yes) {
            return;
        }
        let (on_yes, done) = (self.block(), self.block());
        let on_no = if no.is_empty() { done } else { self.block() };
        self.branch(condition, on_yes, on_no);
        self.switch_to_sealed(on_yes);
        self.stmts(yes);
        self.jump(done, &[]);
        if !no.is_empty() {
            self.switch_to_sealed(on_no);
            self.stmts(no);
            self.jump(done, &[]);
        }
        self.switch_to_sealed(done);
    }

    fn return_statement(&mut self, value: Option<&Expr>) {
        let parts = match value {
            Some(e) => {
                let value = self.expr(e);
                // What it points to may be a variable that ends here.
                let value = self.stable(value, &e.ty);
                self.parts(&value, &e.ty)
            }
            None => Default::default(),
        };
        let Some(ReturnTarget { block, ty }) = self.body.return_targets.last().cloned() else {
            unreachable!("a body has an exit")
        };
        let parts = if ty == Type::Void {
            Default::default()
        } else {
            parts
        };
        self.leave_to(block, &parts);
    }

    /// `break` and `continue`; without a loop around they end the clause.
    fn leave_loop(&mut self, to: fn(&mut LoopTargets) -> Block) {
        match (
            self.body.loops.last_mut().map(to),
            self.body.return_targets.last(),
        ) {
            (Some(block), _) => self.leave_to(block, &[]),
            (
                None,
                Some(ReturnTarget {
                    block,
                    ty: Type::Void,
                }),
            ) => self.leave_to(*block, &[]),
            _ => {}
        }
    }

    /// A body within a body: `return` leaves only it.
    fn nested_body(&mut self, body: &[Stmt]) {
        let done = self.block();
        self.body.return_targets.push(ReturnTarget {
            block: done,
            ty: Type::Void,
        });
        let loops = std::mem::take(&mut self.body.loops);
        self.stmts(body);
        self.body.loops = loops;
        self.body.return_targets.pop();
        self.jump(done, &[]);
        self.switch_to_sealed(done);
    }

    /// Sets a variable that a loop fetches anew each turn: its value stays where it is.
    pub fn set_item(&mut self, local: graph::LocalId, item: crate::lowered_value::LoweredValue) {
        let at = local.0 as usize;
        match self.body.locals[at] {
            LocalStorage::Unset | LocalStorage::Alias(_) => {
                self.body.locals[at] = LocalStorage::Alias(item)
            }
            _ => self.set_local(local, item),
        }
    }

    /// Seals what is left and ends the function.
    pub fn finish_function(mut self) -> MemoryRequirements {
        self.builder.seal_all_blocks();
        let config = self.unit.target_config;
        let requirements = MemoryRequirements {
            local_types: self.local_types,
            allocates: self.calls_arms || self.allocations > 0,
        };
        self.builder.finalize(config);
        requirements
    }

    /// Returns with a status and values.
    pub fn return_status(&mut self, status: i64, values: &[cranelift_codegen::ir::Value]) {
        let status = self.int(cranelift_codegen::ir::types::I32, status);
        let mut all = vec![status];
        all.extend_from_slice(values);
        self.builder.ins().return_(&all);
    }
}
