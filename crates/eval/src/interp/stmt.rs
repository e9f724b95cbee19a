//! Execution of statements.

use std::borrow::Cow;

use graph::{
    Arg, Body, Callee, EventTimeUnits, Expr, ExprKind, LocalId, NumberedPanes, PortIndex, Pos,
    StateId, Stmt, TableId,
};
use smallvec::SmallVec;
use tuple::{EventTime, Layout, List, Punctuation, RString, TupleBuf, Type, UString, Value};

use super::machine::{Machine, VOID_VALUE};
use super::operand::EvaluatedOperand;
use super::variable_path::{VariableBase, VariablePath};
use crate::ops::{self, IntegerRange, element, faults};
use crate::{Fault, Pane};

/// Way in which a statement ended.
enum StmtCompletion {
    Next,
    Break,
    Continue,
    /// A `return`, with the value if it has one.
    Return(Option<Value>),
}

impl<'m> Machine<'m, '_> {
    /// Runs a body in a frame of its own.
    pub(super) fn run(&mut self, body: &'m Body) -> Result<(), Fault> {
        self.call_base = self.locals.len();
        self.call_vars = &body.locals;
        self.locals
            .resize(self.call_base + body.locals.len(), VOID_VALUE);
        self.block(&body.stmts).map(drop)
    }

    /// Runs a function's statements; the value that it returns.
    pub(super) fn run_function_body(&mut self, stmts: &[Stmt]) -> Result<Option<Value>, Fault> {
        match self.block(stmts)? {
            StmtCompletion::Return(value) => Ok(value),
            _ => Ok(None),
        }
    }
}

impl Machine<'_, '_> {
    fn block(&mut self, stmts: &[Stmt]) -> Result<StmtCompletion, Fault> {
        for stmt in stmts {
            match self.stmt(stmt)? {
                StmtCompletion::Next => {}
                completion => return Ok(completion),
            }
        }
        Ok(StmtCompletion::Next)
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<StmtCompletion, Fault> {
        match stmt {
            Stmt::Let(local, init) => self.define(*local, init.as_ref())?,
            Stmt::Expr(expr) => drop(self.operand(expr)?),
            Stmt::If(condition, yes, no) => {
                let holds = self.condition(condition)?;
                return self.block(if holds { yes } else { no });
            }
            Stmt::While(condition, body) => return self.run_while(condition, body),
            Stmt::For(local, collection, body) => return self.run_for(*local, collection, body),
            Stmt::Break => return Ok(StmtCompletion::Break),
            Stmt::Continue => return Ok(StmtCompletion::Continue),
            Stmt::Return(value) => {
                let value = value.as_ref().map(|value| self.value(value)).transpose()?;
                return Ok(StmtCompletion::Return(value));
            }
            Stmt::Clause(body) => {
                self.block(body)?;
            }
            Stmt::Sleep(seconds) => {
                if let Value::Float64(seconds) = self.value(seconds)? {
                    self.evaluation.submit.services().block(seconds);
                }
            }
            Stmt::Submit { port, tuple, pos } => {
                let submitted = self.submit(port, tuple);
                submitted.map_err(|fault| fault.with_pos(*pos))?;
            }
            Stmt::FindEntry {
                table,
                key,
                added,
                pos,
            } => {
                if self.find_entry(*table, key, *pos)? {
                    return self.block(added);
                }
            }
            Stmt::SubmitPunct { port, mark, pos } => {
                let submitted = self.submit_punctuation(port, mark);
                submitted.map_err(|fault| fault.with_pos(*pos))?;
            }
            Stmt::CountUnits(local, units, time) => self.count_units(*local, units, time)?,
            Stmt::BeginPane {
                number,
                fire_count,
                panes,
            } => self.begin_pane(number, fire_count, panes)?,
            Stmt::AdvanceWatermark(time) => {
                let advanced = self.advance_watermark(time);
                advanced.map_err(|fault| fault.with_pos(time.pos))?;
            }
            Stmt::InsertElement(variable, element) => self.insert_element(*variable, element)?,
            Stmt::ClearElements(variable) => {
                let variable = VariablePath::from_base(VariableBase::State(*variable));
                self.change(&variable, |collection, _| {
                    ops::clear_elements(collection);
                    Ok(())
                })?;
            }
            entries => self.entry_stmt(entries)?,
        }
        Ok(StmtCompletion::Next)
    }

    fn insert_element(&mut self, variable: StateId, element: &Expr) -> Result<(), Fault> {
        let value = self.value(element)?;
        let base = VariableBase::State(variable);
        let ty = self.base_type(base).cloned();
        let ty = ty.ok_or_else(|| faults::mistyped("a collection"))?;
        let inserted = self.change(&VariablePath::from_base(base), |collection, _| {
            ops::insert_element(collection, &ty, value)
        });
        inserted.map_err(|fault| fault.with_pos(element.pos))
    }

    fn count_units(
        &mut self,
        local: LocalId,
        units: &EventTimeUnits,
        time: &Expr,
    ) -> Result<(), Fault> {
        let time = EventTime::from_value(&self.value(time)?, units.resolution);
        let time = time.ok_or_else(|| faults::mistyped("an event time"))?;
        let count = Value::Int64(units.count(time));
        self.locals[self.call_base + local.0 as usize] = count;
        Ok(())
    }

    fn begin_pane(
        &mut self,
        number: &Expr,
        fire_count: &Expr,
        panes: &NumberedPanes,
    ) -> Result<(), Fault> {
        let (number, fire_count) = (self.value(number)?, self.value(fire_count)?);
        if let (Value::Int64(number), Value::Uint64(fire_count)) = (number, fire_count)
            && let Some(events) = self.evaluation.submit.services().event_time()
        {
            events.set_firing_pane(Some(Pane::firing(panes, number, fire_count)));
        }
        Ok(())
    }

    fn advance_watermark(&mut self, time: &Expr) -> Result<(), Fault> {
        let time = self.value(time)?;
        let submit = &mut *self.evaluation.submit;
        let events = submit.services().event_time();
        let Some((at, ports)) = events.and_then(|events| events.generate_watermark(&time)) else {
            return Ok(());
        };
        let mut ports = ports.iter();
        ports.try_for_each(|&port| submit.submit_watermark(port, at))
    }

    /// Runs a statement on the entries of a table that has no others within it.
    fn entry_stmt(&mut self, stmt: &Stmt) -> Result<(), Fault> {
        match stmt {
            Stmt::AddEntry(table, pos) => {
                let added = self.table(*table)?.add_without_key();
                added.map_err(|error| Fault::from(error).with_pos(*pos))?;
            }
            Stmt::EntryId(local, table) => {
                let id = self.table(*table)?.current;
                self.locals[self.call_base + local.0 as usize] = Value::Uint32(id);
            }
            Stmt::SelectEntry(table, id) => {
                if let Value::Uint32(id) = self.value(id)? {
                    self.table(*table)?.select_id(id);
                }
            }
            Stmt::RemoveEntry(table) => self.table(*table)?.remove_current(),
            Stmt::EnqueueEntry(table, pos) => {
                let queued = self.table(*table)?.enqueue_current();
                queued.map_err(|error| Fault::from(error).with_pos(*pos))?;
            }
            Stmt::DequeueEntry(table) => self.table(*table)?.dequeue(),
            Stmt::UseEntry(table) => self.table(*table)?.use_current(),
            Stmt::SelectLeastUsed(table) => self.table(*table)?.select_least_used(),
            _ => {}
        }
        Ok(())
    }

    /// Makes the entry of a key current. Whether it was added.
    fn find_entry(&mut self, table: TableId, key: &Expr, pos: Pos) -> Result<bool, Fault> {
        let (mut tuple, layout) = self.table(table)?.take_key_tuple();
        tuple.begin(&layout);
        if let ExprKind::Tuple(parts) = &key.kind {
            // Part by part: a tuple as a value is an allocation.
            for (at, part) in parts.iter().enumerate() {
                tuple.set(&layout, at, &self.value(part)?);
            }
        } else {
            tuple.set_all(&layout, &self.value(key)?);
        }
        let was_added = self.table(table)?.find_or_add_taken(tuple);
        was_added.map_err(|error| Fault::from(error).with_pos(pos))
    }

    fn define(&mut self, local: LocalId, init: Option<&Expr>) -> Result<(), Fault> {
        let at = local.0 as usize;
        let value = match init {
            Some(init) => self.value(init)?,
            None => Value::default_of(&self.call_vars[at].ty),
        };
        self.locals[self.call_base + at] = value;
        Ok(())
    }

    fn run_while(&mut self, condition: &Expr, body: &[Stmt]) -> Result<StmtCompletion, Fault> {
        while self.condition(condition)? {
            self.count_step()?;
            match self.block(body)? {
                StmtCompletion::Next | StmtCompletion::Continue => {}
                StmtCompletion::Break => break,
                completion @ StmtCompletion::Return(_) => return Ok(completion),
            }
        }
        Ok(StmtCompletion::Next)
    }

    fn run_for(
        &mut self,
        local: LocalId,
        collection: &Expr,
        body: &[Stmt],
    ) -> Result<StmtCompletion, Fault> {
        if let Some(range) = self.range(collection)? {
            return self.run_for_range(local, range, body);
        }
        let is_part = collection.is_part_of_variable();
        let mut collection = self.operand(collection)?;
        if !is_part && let EvaluatedOperand::Path(_) = &collection {
            collection = EvaluatedOperand::Owned(self.owned_value(collection)?);
        }
        let collection = self.ustring_characters(collection)?;
        let mut at = 0;
        // The variable does not change in the body, so an element is fetched when its turn comes.
        while let Some(item) = loop_element(&*self.operand_value(&collection)?, at) {
            self.count_step()?;
            at += 1;
            self.locals[self.call_base + local.0 as usize] = item;
            match self.block(body)? {
                StmtCompletion::Next | StmtCompletion::Continue => {}
                StmtCompletion::Break => break,
                completion @ StmtCompletion::Return(_) => return Ok(completion),
            }
        }
        Ok(StmtCompletion::Next)
    }

    /// Numbers of a loop over a call of `range`, for which no list is made.
    fn range(&mut self, collection: &Expr) -> Result<Option<IntegerRange>, Fault> {
        let ExprKind::Call(Callee::Native(id), args) = &collection.kind else {
            return Ok(None);
        };
        let native = self.natives.get(id.0 as usize);
        if !native.is_some_and(|native| native.is_range) {
            return Ok(None);
        }
        self.count_step()?;
        let mut operands = SmallVec::<[EvaluatedOperand<'_>; 3]>::new();
        for arg in args {
            operands.push(match arg {
                // Only its length counts.
                Arg::Value(arg) if matches!(arg.ty, Type::List(..)) => self.operand(arg)?,
                Arg::Value(arg) => EvaluatedOperand::Owned(self.value(arg)?),
                Arg::Place(_) => return Err(faults::mistyped("an argument of range")),
            });
        }
        let values: SmallVec<[Cow<'_, Value>; 3]> = operands
            .iter()
            .map(|operand| self.operand_value(operand))
            .collect::<Result<_, _>>()?;
        let values: SmallVec<[&Value; 3]> = values.iter().map(|value| &**value).collect();
        let range =
            IntegerRange::from_args(&values).map_err(|fault| fault.with_pos(collection.pos))?;
        Ok(Some(range))
    }

    fn run_for_range(
        &mut self,
        local: LocalId,
        range: IntegerRange,
        body: &[Stmt],
    ) -> Result<StmtCompletion, Fault> {
        for number in range.numbers() {
            self.count_step()?;
            self.locals[self.call_base + local.0 as usize] = Value::Int32(number);
            match self.block(body)? {
                StmtCompletion::Next | StmtCompletion::Continue => {}
                StmtCompletion::Break => break,
                completion @ StmtCompletion::Return(_) => return Ok(completion),
            }
        }
        Ok(StmtCompletion::Next)
    }

    /// A ustring as the list of its characters, for they cannot be found by number at once.
    fn ustring_characters<'x>(
        &self,
        collection: EvaluatedOperand<'x>,
    ) -> Result<EvaluatedOperand<'x>, Fault> {
        if let Value::UString(s) = &*self.operand_value(&collection)? {
            let characters = s.code_points().map(|point| {
                let mut character = UString::default();
                character.push_code_point(point);
                Value::UString(character)
            });
            return Ok(EvaluatedOperand::Owned(Value::List(List::Any(
                characters.collect(),
            ))));
        }
        Ok(collection)
    }

    /// The number of an output port that exists.
    fn port(&mut self, port: &Expr) -> Result<PortIndex, Fault> {
        let ports = self.ports.output_layouts.len();
        match self.value(port)? {
            Value::Uint32(at) if (at as usize) < ports => Ok(PortIndex(at)),
            Value::Uint32(at) => Err(faults::port_out_of_range(at.into(), ports)),
            _ => Err(faults::mistyped("a port")),
        }
    }

    fn submit(&mut self, port: &Expr, tuple: &Expr) -> Result<(), Fault> {
        let port = self.port(port)?;
        if let ExprKind::Input {
            port: from,
            history,
        } = &tuple.kind
            && let Some((input, _)) = self.tuple_at(self.slot(*from, *history))?
        {
            return self.evaluation.submit.submit_tuple(port, input);
        }
        let ports = self.ports;
        let layout = &ports.output_layouts[port.index()];
        let mut out = std::mem::take(&mut self.tuple_buffer);
        let written = match &tuple.kind {
            ExprKind::Tuple(parts) => self.write(parts.iter().map(Some), layout, &mut out),
            _ => self.write_value(tuple, layout, &mut out),
        };
        let sent = written.and_then(|()| self.evaluation.submit.submit_tuple(port, out.as_ref()));
        self.tuple_buffer = out;
        sent
    }

    /// Writes expressions as the attributes of a flat tuple.
    pub(super) fn write<'x>(
        &mut self,
        exprs: impl Iterator<Item = Option<&'x Expr>>,
        layout: &Layout,
        out: &mut TupleBuf,
    ) -> Result<(), Fault> {
        out.begin(layout);
        for (at, expr) in exprs.enumerate() {
            if let Some(expr) = expr {
                let operand = self.operand(expr)?;
                out.set(layout, at, &*self.operand_value(&operand)?);
            }
        }
        Ok(())
    }

    fn write_value(
        &mut self,
        tuple: &Expr,
        layout: &Layout,
        out: &mut TupleBuf,
    ) -> Result<(), Fault> {
        let operand = self.operand(tuple)?;
        out.begin(layout);
        match &*self.operand_value(&operand)? {
            Value::Tuple(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    out.set(layout, at, part);
                }
                Ok(())
            }
            _ => Err(faults::mistyped("the submitted tuple")),
        }
    }

    fn submit_punctuation(&mut self, port: &Expr, mark: &Expr) -> Result<(), Fault> {
        let port = self.port(port)?;
        let mark = match self.value(mark)? {
            Value::Enum(0) => Punctuation::Window,
            Value::Enum(1) => Punctuation::Final,
            _ => return Err(faults::mistyped("the submitted marker")),
        };
        self.evaluation.submit.submit_punctuation(port, mark)
    }
}

/// Value of the loop variable in turn `at` of a loop over a collection.
fn loop_element(collection: &Value, at: usize) -> Option<Value> {
    match collection {
        Value::List(list) => element(list, at).map(|item| item.into_owned()),
        Value::Set(set) => set.get_index(at).cloned(),
        Value::Map(map) => map.get_index(at).map(|(key, _)| key.clone()),
        Value::RString(s) => s.0.get(at).map(|&byte| Value::RString(RString(vec![byte]))),
        Value::Blob(bytes) => bytes.get(at).map(|&byte| Value::Uint8(byte)),
        _ => None,
    }
}
