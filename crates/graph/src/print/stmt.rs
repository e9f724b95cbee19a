//! Statements, bodies and functions.

use std::fmt::Write;

use tuple::Type;

use super::{PrintNames, indent, separated};
use crate::{Body, Expr, Function, LocalId, Stmt};

impl<'a> PrintNames<'a> {
    /// The statements of a body, a line each; its variables are declared where they are set.
    pub(super) fn body(self, body: &'a Body, depth: usize, out: &mut String) {
        let names = PrintNames {
            locals: &body.locals,
            ..self
        };
        for stmt in &body.stmts {
            names.stmt(stmt, depth, out);
        }
    }

    pub(super) fn function(self, function: &'a Function, out: &mut String) {
        let body = &function.body;
        let names = PrintNames {
            locals: &body.locals,
            ..self
        };
        if function.is_stateful {
            out.push_str("stateful ");
        }
        let _ = write!(out, "{} {}(", function.result, function.name);
        let formals = body
            .locals
            .iter()
            .take(function.formals as usize)
            .enumerate();
        separated(formals, out, |(at, formal), out| {
            let mutable = if formal.by_reference { "mutable " } else { "" };
            let name = names.local(LocalId(at as u32));
            let _ = write!(out, "{mutable}{} {name}", formal.ty);
        });
        out.push_str(") {\n");
        self.body(body, 1, out);
        out.push_str("}\n");
    }
}

impl PrintNames<'_> {
    pub(super) fn stmt(self, stmt: &Stmt, depth: usize, out: &mut String) {
        indent(depth, out);
        match stmt {
            Stmt::Let(id, init) => self.definition(*id, init.as_ref(), out),
            Stmt::Expr(expr) => self.expr(expr, out),
            Stmt::If(condition, yes, no) => return self.branches(condition, (yes, no), depth, out),
            Stmt::While(condition, body) => {
                out.push_str("while (");
                self.expr(condition, out);
                out.push_str(") ");
                return self.block(body, depth, out);
            }
            Stmt::For(id, collection, body) => {
                let _ = write!(
                    out,
                    "for ({} {} in ",
                    self.type_of_local(*id),
                    self.local(*id)
                );
                self.expr(collection, out);
                out.push_str(") ");
                return self.block(body, depth, out);
            }
            Stmt::Clause(body) => {
                out.push_str("clause ");
                return self.block(body, depth, out);
            }
            Stmt::Break => out.push_str("break"),
            Stmt::Continue => out.push_str("continue"),
            Stmt::Return(None) => out.push_str("return"),
            Stmt::Return(Some(value)) => {
                out.push_str("return ");
                self.expr(value, out);
            }
            Stmt::Sleep(seconds) => self.intrinsic("sleep", &[seconds], out),
            Stmt::Submit { port, tuple, .. } => self.intrinsic("submit", &[tuple, port], out),
            Stmt::SubmitPunct { port, mark, .. } => self.intrinsic("submit", &[mark, port], out),
            Stmt::FindEntry {
                table, key, added, ..
            } => {
                let _ = write!(out, "entry of table{}[", table.0);
                self.expr(key, out);
                out.push_str("] added ");
                return self.block(added, depth, out);
            }
            Stmt::InsertElement(variable, element) => {
                self.expr(element, out);
                let _ = write!(out, " into {}", self.state(*variable));
            }
            Stmt::ClearElements(variable) => {
                let _ = write!(out, "clear {}", self.state(*variable));
            }
            Stmt::CountUnits(..) | Stmt::BeginPane { .. } | Stmt::AdvanceWatermark(_) => {
                self.event_time_stmt(stmt, out);
            }
            other => self.entry_stmt(other, out),
        }
        out.push_str(";\n");
    }

    /// A statement on the entries of a table that has no others within it.
    fn entry_stmt(self, stmt: &Stmt, out: &mut String) {
        match stmt {
            Stmt::AddEntry(table, _) => {
                let _ = write!(out, "add entry to table{}", table.0);
            }
            Stmt::EntryId(id, table) => {
                let _ = write!(out, "uint32 {} = id of table{}", self.local(*id), table.0);
            }
            Stmt::SelectEntry(table, id) => {
                let _ = write!(out, "entry of table{} by id ", table.0);
                self.expr(id, out);
            }
            Stmt::RemoveEntry(table) => {
                let _ = write!(out, "remove entry of table{}", table.0);
            }
            Stmt::EnqueueEntry(table, _) => {
                let _ = write!(out, "put entry into queue of table{}", table.0);
            }
            Stmt::DequeueEntry(table) => {
                let _ = write!(out, "take entry from queue of table{}", table.0);
            }
            Stmt::UseEntry(table) => {
                let _ = write!(out, "use entry of table{}", table.0);
            }
            Stmt::SelectLeastUsed(table) => {
                let _ = write!(out, "entry of table{} that is least used", table.0);
            }
            _ => {}
        }
    }

    /// A statement about event time.
    fn event_time_stmt(self, stmt: &Stmt, out: &mut String) {
        match stmt {
            Stmt::CountUnits(id, units, time) => {
                let (unit, origin) = (units.unit_ns, units.origin_ns);
                let _ = write!(
                    out,
                    "int64 {} = units of {unit} ns since {origin} ns at ",
                    self.local(*id)
                );
                self.expr(time, out);
            }
            Stmt::BeginPane {
                number, fire_count, ..
            } => self.intrinsic("beginPane", &[number, fire_count], out),
            Stmt::AdvanceWatermark(time) => {
                out.push_str("advance watermark by ");
                self.expr(time, out);
            }
            _ => {}
        }
    }

    fn definition(self, id: LocalId, init: Option<&Expr>, out: &mut String) {
        let _ = write!(out, "{} {}", self.type_of_local(id), self.local(id));
        if let Some(init) = init {
            out.push_str(" = ");
            self.expr(init, out);
        }
    }

    fn intrinsic(self, name: &str, args: &[&Expr], out: &mut String) {
        out.push_str(name);
        out.push('(');
        separated(args, out, |arg, out| self.expr(arg, out));
        out.push(')');
    }

    fn branches(
        self,
        condition: &Expr,
        (yes, no): (&[Stmt], &[Stmt]),
        depth: usize,
        out: &mut String,
    ) {
        out.push_str("if (");
        self.expr(condition, out);
        out.push_str(") ");
        self.block(yes, depth, out);
        if !no.is_empty() {
            out.truncate(out.trim_end().len());
            out.push_str(" else ");
            self.block(no, depth, out);
        }
    }

    fn block(self, stmts: &[Stmt], depth: usize, out: &mut String) {
        out.push_str("{\n");
        for stmt in stmts {
            self.stmt(stmt, depth + 1, out);
        }
        indent(depth, out);
        out.push_str("}\n");
    }

    fn type_of_local(self, id: LocalId) -> Type {
        self.locals
            .get(id.0 as usize)
            .map_or(Type::Void, |var| var.ty.clone())
    }
}
