//! Statements.

use cranelift_codegen::ir::{Block, InstBuilder};
use graph::Stmt;
use tuple::Type;

use super::frame::{Exit, Loop};
use super::{Lower, Made, Storage};
use crate::code::Import;

impl Lower<'_, '_> {
    /// Statements in order.
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
                        let ty = self.frame.types[local.0 as usize].clone();
                        self.default_value(&ty)
                    }
                };
                self.set_local(*local, value);
            }
            Stmt::Expr(e) => {
                self.expr(e);
            }
            Stmt::If(condition, yes, no) => self.if_else(condition, yes, no),
            Stmt::While(condition, body) => self.repeat(condition, body),
            Stmt::For(local, collection, body) => self.for_each(*local, collection, body),
            Stmt::Break => self.leave_loop(|blocks| blocks.done),
            Stmt::Continue => self.leave_loop(|blocks| {
                blocks.is_continued = true;
                blocks.next
            }),
            Stmt::Return(value) => self.return_(value.as_ref()),
            Stmt::Clause(body) => self.clause(body),
            Stmt::Sleep(seconds) => {
                let seconds = self.expr_part(seconds);
                self.call(Import::Sleep, &[seconds]);
            }
            Stmt::Submit { port, tuple, pos } => self.submit(port, tuple, *pos),
            Stmt::SubmitPunct { port, mark, pos } => self.submit_punct(port, mark, *pos),
        }
    }

    fn if_else(&mut self, condition: &graph::Expr, yes: &[Stmt], no: &[Stmt]) {
        let condition = self.expr_part(condition);
        if self.choose(condition, yes, no) {
            return;
        }
        let (on_yes, done) = (self.block(), self.block());
        let on_no = if no.is_empty() { done } else { self.block() };
        self.branch(condition, on_yes, on_no);
        self.go_sealed(on_yes);
        self.stmts(yes);
        self.jump(done, &[]);
        if !no.is_empty() {
            self.go_sealed(on_no);
            self.stmts(no);
            self.jump(done, &[]);
        }
        self.go_sealed(done);
    }

    fn return_(&mut self, value: Option<&graph::Expr>) {
        let parts = match value {
            Some(e) => {
                let value = self.expr(e);
                // What it points to may be a variable that ends here.
                let value = self.stable(value, &e.ty);
                self.parts(&value, &e.ty)
            }
            None => Default::default(),
        };
        let Some(Exit { block, ty }) = self.frame.exits.last().cloned() else {
            unreachable!("a body has an exit")
        };
        let parts = if ty == Type::Void {
            Default::default()
        } else {
            parts
        };
        self.leave(block, &parts);
    }

    /// `break` and `continue`; without a loop around they end the clause.
    fn leave_loop(&mut self, to: fn(&mut Loop) -> Block) {
        match (self.frame.loops.last_mut().map(to), self.frame.exits.last()) {
            (Some(block), _) => self.leave(block, &[]),
            (
                None,
                Some(Exit {
                    block,
                    ty: Type::Void,
                }),
            ) => self.leave(*block, &[]),
            _ => {}
        }
    }

    /// A body within a body: `return` leaves only it.
    fn clause(&mut self, body: &[Stmt]) {
        let done = self.block();
        self.frame.exits.push(Exit {
            block: done,
            ty: Type::Void,
        });
        let loops = std::mem::take(&mut self.frame.loops);
        self.stmts(body);
        self.frame.loops = loops;
        self.frame.exits.pop();
        self.jump(done, &[]);
        self.go_sealed(done);
    }

    /// Sets a variable that a loop fetches anew each turn: its value stays where it is.
    pub fn set_item(&mut self, local: graph::LocalId, item: crate::value::Val) {
        let at = local.0 as usize;
        match self.frame.locals[at] {
            Storage::Unset | Storage::Alias(_) => self.frame.locals[at] = Storage::Alias(item),
            _ => self.set_local(local, item),
        }
    }

    /// Seals what is left and ends the function.
    pub fn finish(mut self) -> Made {
        self.b.seal_all_blocks();
        let config = self.unit.frontend;
        let made = Made {
            slots: self.slots,
            allocates: self.allocations > 0,
        };
        self.b.finalize(config);
        made
    }

    /// Returns with a status and values.
    pub fn return_status(&mut self, status: i64, values: &[cranelift_codegen::ir::Value]) {
        let status = self.int(cranelift_codegen::ir::types::I32, status);
        let mut all = vec![status];
        all.extend_from_slice(values);
        self.b.ins().return_(&all);
    }
}
