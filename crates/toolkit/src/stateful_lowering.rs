//! Statements of operators that keep state: variables and tables, and the expressions and
//! statements that work on them.

use std::sync::Arc;

use graph::{
    BinaryOp, Body, Expr, ExprKind, LocalId, OperatorNode, ParamValue, Place, PlaceRoot, Pos,
    StateId, StateTable, StateVar, Stmt, TableId,
};
use tuple::{TupleType, Type, Value};

use crate::lower;

/// A body that is being lowered, and the state that the operator's bodies share.
pub struct StatefulLowering {
    /// Position of the part of the invocation that is being lowered.
    pub pos: Pos,
    pub body: Body,
    /// Number of state variables of the logic clause.
    logic_state_count: usize,
    /// State variables that were added, behind those of the logic clause.
    pub state: Vec<StateVar>,
    pub tables: Vec<StateTable>,
}

impl StatefulLowering {
    /// Lowering of an operator, before its first body.
    pub fn new(operator: &OperatorNode) -> StatefulLowering {
        StatefulLowering {
            pos: operator.pos,
            body: Body::default(),
            logic_state_count: operator.logic.state.len(),
            state: Vec::new(),
            tables: Vec::new(),
        }
    }

    /// A new state variable of a table or of the operator, as an expression that reads it.
    pub fn variable(&mut self, table: Option<TableId>, name: &str, ty: Type) -> Expr {
        let id = StateId((self.logic_state_count + self.state.len()) as u32);
        self.state.push(StateVar {
            name: name.into(),
            ty: ty.clone(),
            init: None,
        });
        if let Some(table) = table {
            self.tables[table.0 as usize].variables.push(id);
        }
        lower::expr(ExprKind::State(id), ty, self.pos)
    }

    /// A new state variable of the operator that is set once, before the first tuple.
    pub fn initialized_variable(&mut self, name: &str, init: &Expr) -> Expr {
        let variable = self.variable(None, name, init.ty.clone());
        if let Some(declared) = self.state.last_mut() {
            declared.init = Some(init.clone());
        }
        variable
    }

    /// Adds a table, with keys of these parts or without keys.
    pub fn add_table(&mut self, name: &str, key: Option<&[Expr]>) -> TableId {
        self.tables.push(StateTable {
            name: name.into(),
            key: key.map(key_type),
            variables: Vec::new(),
            sort_keys: Vec::new(),
            by_use: false,
        });
        TableId(self.tables.len() as u32 - 1)
    }

    /// A statement that makes the entry of a key current.
    pub fn find_entry(&self, table: TableId, key: Vec<Expr>) -> Stmt {
        self.find_or_add_entry(table, key, Vec::new())
    }

    /// A statement that makes the entry of a key current, and runs others if it is new.
    pub fn find_or_add_entry(&self, table: TableId, key: Vec<Expr>, added: Vec<Stmt>) -> Stmt {
        let schema = key_type(&key);
        Stmt::FindEntry {
            table,
            key: lower::tuple(key, &schema, self.pos),
            added,
            pos: self.pos,
        }
    }

    /// The body, which is the clause for a marker, gets statements for a window marker behind it.
    pub fn after_marker_clause(&mut self, for_window: Vec<Stmt>) {
        let clause = std::mem::take(&mut self.body.stmts);
        let mark = lower::current_punctuation(self.pos);
        let window = lower::constant(Value::Enum(0), mark.ty.clone(), self.pos);
        let is_window = self.compare(BinaryOp::Eq, &mark, &window);
        self.body.stmts = vec![Stmt::Clause(clause), if_then(is_window, for_window)];
    }

    /// The parts of a key that a parameter gives, each computed.
    pub fn key(&mut self, operator: &OperatorNode, param: &str) -> Option<Vec<Expr>> {
        let ParamValue::Exprs(parts) = &operator.param(param)?.value else {
            return None;
        };
        Some(parts.iter().map(|part| self.argument(part)).collect())
    }

    /// The value of an argument for this tuple, computed once.
    pub fn argument(&mut self, arg: &Expr) -> Expr {
        if let ExprKind::Attribute { .. } = arg.kind {
            return arg.clone();
        }
        let local = self.body.local("argument", arg.ty.clone());
        self.body.stmts.push(Stmt::Let(local, Some(arg.clone())));
        lower::expr(ExprKind::Local(local), arg.ty.clone(), arg.pos)
    }

    /// A new local variable, as an expression that reads it, and its id.
    pub fn local(&mut self, name: &str, ty: Type) -> (LocalId, Expr) {
        let id = self.body.local(name, ty.clone());
        (id, lower::expr(ExprKind::Local(id), ty, self.pos))
    }

    /// A result that is still there when its entry has been removed; `stmts` keep it.
    pub fn keep_result(&mut self, result: Expr, stmts: &mut Vec<Stmt>) -> Expr {
        if let ExprKind::Attribute { .. } | ExprKind::Const(_) | ExprKind::Local(_) = result.kind {
            return result;
        }
        let (local, kept) = self.local("result", result.ty.clone());
        stmts.push(Stmt::Let(local, Some(result)));
        kept
    }

    /// A statement that sets a variable.
    pub fn set(&self, variable: &Expr, value: Expr) -> Stmt {
        let root = match variable.kind {
            ExprKind::State(id) => PlaceRoot::State(id),
            ExprKind::Local(id) => PlaceRoot::Local(id),
            _ => unreachable!("only variables are set"),
        };
        let place = Place {
            root,
            steps: Vec::new(),
            ty: variable.ty.clone(),
            pos: self.pos,
        };
        let kind = ExprKind::Assign(place, Box::new(value));
        Stmt::Expr(lower::expr(kind, Type::Void, self.pos))
    }

    pub fn constant(&self, value: Value) -> Expr {
        let ty = match value {
            Value::Boolean(_) => Type::Boolean,
            Value::Uint32(_) => Type::Uint32,
            Value::Uint64(_) => Type::Uint64,
            Value::List(_) => Type::List(Type::Int32.into(), None),
            _ => Type::Int32,
        };
        lower::constant(value, ty, self.pos)
    }

    pub fn binary(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
        let kind = ExprKind::Binary(op, Box::new(a.clone()), Box::new(b.clone()));
        lower::expr(kind, a.ty.clone(), self.pos)
    }

    pub fn compare(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
        lower::expr(self.binary(op, a, b).kind, Type::Boolean, self.pos)
    }

    /// Whether an expression has a value.
    pub fn equals(&self, value: &Expr, constant: Value) -> Expr {
        self.compare(BinaryOp::Eq, value, &self.constant(constant))
    }

    /// Whether an integer is 1.
    pub fn is_one(&self, number: &Expr) -> Expr {
        let one = self.cast(&self.constant(Value::Uint32(1)), &number.ty);
        self.compare(BinaryOp::Eq, number, &one)
    }

    /// Whether an id is that of an entry.
    pub fn is_entry(&self, id: &Expr) -> Expr {
        self.compare(BinaryOp::Ne, id, &self.constant(Value::Uint32(0)))
    }

    pub fn cast(&self, value: &Expr, ty: &Type) -> Expr {
        if value.ty == *ty {
            return value.clone();
        }
        lower::expr(
            ExprKind::Cast(Box::new(value.clone())),
            ty.clone(),
            self.pos,
        )
    }

    /// A statement that adds 1 to a variable.
    pub fn increment(&self, variable: &Expr) -> Stmt {
        let one = self.cast(&self.constant(Value::Uint32(1)), &variable.ty);
        let more = self.binary(BinaryOp::Add, variable, &one);
        self.set(variable, more)
    }
}

/// Statements under a condition.
pub fn if_then(condition: Expr, then: Vec<Stmt>) -> Stmt {
    Stmt::If(condition, then, Vec::new())
}

/// The id of a state variable, given the expression that reads it.
pub fn state_id(variable: &Expr) -> StateId {
    match variable.kind {
        ExprKind::State(id) => id,
        _ => unreachable!("a state variable"),
    }
}

/// The type of a key of these parts.
fn key_type(parts: &[Expr]) -> Arc<TupleType> {
    let types = parts.iter().enumerate();
    Arc::new(TupleType::new(
        types.map(|(at, part)| (format!("k{at}"), part.ty.clone())),
    ))
}
