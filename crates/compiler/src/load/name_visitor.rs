//! Visits every name of a syntax tree, with the role of the name.

use syntax::ast::{
    Actual, Block, Composite, Expr, ExprKind, Function, Ident, Invocation, Item, LocalDecl, Logic,
    Mode, QName, Stmt, StmtKind, TupleBody, TupleBodyKind, TypeDef, TypeDefBody, TypeExpr,
    TypeKind, Unit,
};

/// The role of a name where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum NameRole {
    /// After `=` of an invocation.
    Operator,
    /// Where only a type can stand.
    Type,
    /// Before the parenthesis of a call.
    Callee,
    /// Anywhere in an expression or for a parameter.
    Value,
}

/// Receiver of the names that a walk through a syntax tree meets.
pub(crate) trait NameVisitor<'a> {
    /// A name is used.
    fn mention(&mut self, role: NameRole, name: &'a QName);
    /// A type `C.T` is used, after the mention of `C`.
    fn member(&mut self, _composite: &'a QName, _member: &'a Ident) {}
    /// A name is declared: stream, alias, port, formal, attribute, variable, enumerator, type.
    fn declare(&mut self, name: &'a Ident);
}

/// Meets all names of a unit.
pub(super) fn unit<'a>(unit: &'a Unit, v: &mut dyn NameVisitor<'a>) {
    for item in &unit.items {
        match item {
            Item::Composite(composite) => self::composite(composite, v),
            Item::Function(function) => self::function(function, v),
            Item::Type(def) => type_def(def, v),
        }
    }
}

fn composite<'a>(composite: &'a Composite, v: &mut dyn NameVisitor<'a>) {
    for port in composite.outputs.iter().chain(&composite.inputs) {
        v.declare(&port.name);
        port.ty.iter().for_each(|body| tuple_body(body, v));
    }
    for formal in &composite.params {
        v.declare(&formal.name);
        if let Mode::Expression(Some(ty)) = &formal.mode {
            type_expr(ty, v);
        }
        formal.default.iter().for_each(|a| actual(a, v));
    }
    composite.types.iter().for_each(|def| type_def(def, v));
    composite.graph.iter().for_each(|i| invocation(i, v));
    composite.config.iter().for_each(|c| exprs(&c.values, v));
}

fn invocation<'a>(i: &'a Invocation, v: &mut dyn NameVisitor<'a>) {
    v.mention(NameRole::Operator, &i.operator);
    i.alias.iter().for_each(|a| v.declare(a));
    for port in &i.outputs {
        v.declare(&port.name);
        port.alias.iter().for_each(|a| v.declare(a));
        tuple_body(&port.ty, v);
    }
    for port in &i.inputs {
        port.alias.iter().for_each(|a| v.declare(a));
        port.ty.iter().for_each(|body| tuple_body(body, v));
    }
    i.logic.iter().for_each(|l| logic(l, v));
    i.windows.iter().for_each(|w| exprs(&w.body, v));
    i.params.iter().for_each(|p| actual(&p.actual, v));
    for (_, value) in i.output.iter().flat_map(|clause| &clause.body) {
        expr(value, v);
    }
    i.config.iter().for_each(|c| exprs(&c.values, v));
}

fn logic<'a>(logic: &'a Logic, v: &mut dyn NameVisitor<'a>) {
    match logic {
        Logic::State(decls) => decls.iter().for_each(|d| local(d, v)),
        Logic::OnTuple(_, body) | Logic::OnPunct(_, body) | Logic::OnProcess(_, body) => {
            stmt(body, v);
        }
    }
}

fn function<'a>(function: &'a Function, v: &mut dyn NameVisitor<'a>) {
    type_expr(&function.result, v);
    for param in &function.params {
        v.declare(&param.name);
        type_expr(&param.ty, v);
    }
    block(&function.body, v);
}

/// Meets the names of a type definition.
pub(crate) fn type_def<'a>(def: &'a TypeDef, v: &mut dyn NameVisitor<'a>) {
    v.declare(&def.name);
    match &def.body {
        TypeDefBody::Type(ty) => type_expr(ty, v),
        TypeDefBody::Tuple(body) => tuple_body(body, v),
    }
}

fn tuple_body<'a>(body: &'a TupleBody, v: &mut dyn NameVisitor<'a>) {
    match &body.kind {
        TupleBodyKind::Attributes(list) => list.iter().for_each(|(ty, name)| {
            v.declare(name);
            type_expr(ty, v);
        }),
        TupleBodyKind::Concat(list) => list.iter().for_each(|ty| type_expr(ty, v)),
    }
}

fn type_expr<'a>(ty: &'a TypeExpr, v: &mut dyn NameVisitor<'a>) {
    match &ty.kind {
        TypeKind::Named(name, member) => {
            v.mention(NameRole::Type, name);
            member.iter().for_each(|member| v.member(name, member));
        }
        TypeKind::Enum(names) => names.iter().for_each(|n| v.declare(n)),
        TypeKind::BoundedString(bound) => expr(bound, v),
        TypeKind::Tuple(body) => tuple_body(body, v),
        TypeKind::List(element, bound) | TypeKind::Set(element, bound) => {
            type_expr(element, v);
            bound.iter().for_each(|b| expr(b, v));
        }
        TypeKind::Map(key, value, bound) => {
            type_expr(key, v);
            type_expr(value, v);
            bound.iter().for_each(|b| expr(b, v));
        }
        TypeKind::Optional(ty) => type_expr(ty, v),
        TypeKind::Primitive(_) | TypeKind::Xml(_) | TypeKind::Error => {}
    }
}

/// Meets the names of an actual.
pub(crate) fn actual<'a>(actual: &'a Actual, v: &mut dyn NameVisitor<'a>) {
    match actual {
        Actual::Type(ty) => type_expr(ty, v),
        Actual::Exprs(list) => exprs(list, v),
    }
}

fn block<'a>(block: &'a Block, v: &mut dyn NameVisitor<'a>) {
    block.stmts.iter().for_each(|s| stmt(s, v));
}

fn local<'a>(decl: &'a LocalDecl, v: &mut dyn NameVisitor<'a>) {
    type_expr(&decl.ty, v);
    for (name, init) in &decl.vars {
        v.declare(name);
        init.iter().for_each(|e| expr(e, v));
    }
}

fn stmt<'a>(s: &'a Stmt, v: &mut dyn NameVisitor<'a>) {
    match &s.kind {
        StmtKind::Local(decl) => local(decl, v),
        StmtKind::Type(def) => type_def(def, v),
        StmtKind::Block(body) => block(body, v),
        StmtKind::Expr(e) | StmtKind::Return(Some(e)) => expr(e, v),
        StmtKind::If(condition, then, otherwise) => {
            expr(condition, v);
            stmt(then, v);
            otherwise.iter().for_each(|s| stmt(s, v));
        }
        StmtKind::While(condition, body) => {
            expr(condition, v);
            stmt(body, v);
        }
        StmtKind::For(ty, name, over, body) => {
            type_expr(ty, v);
            v.declare(name);
            expr(over, v);
            stmt(body, v);
        }
        StmtKind::Break | StmtKind::Continue | StmtKind::Return(None) | StmtKind::Error => {}
    }
}

/// Meets the names of expressions.
pub(crate) fn exprs<'a>(list: &'a [Expr], v: &mut dyn NameVisitor<'a>) {
    list.iter().for_each(|e| expr(e, v));
}

fn expr<'a>(e: &'a Expr, v: &mut dyn NameVisitor<'a>) {
    match &e.kind {
        ExprKind::Name(name) => v.mention(NameRole::Value, name),
        ExprKind::List(list) | ExprKind::Set(list) => exprs(list, v),
        ExprKind::Map(entries) => entries.iter().for_each(|(key, value)| {
            expr(key, v);
            expr(value, v);
        }),
        ExprKind::Tuple(attributes) => attributes.iter().for_each(|(_, value)| expr(value, v)),
        ExprKind::Call(callee, args) => {
            match &callee.kind {
                ExprKind::Name(name) => v.mention(NameRole::Callee, name),
                _ => expr(callee, v),
            }
            exprs(args, v);
        }
        ExprKind::Field(inner, _)
        | ExprKind::Prefix(_, inner)
        | ExprKind::Postfix(_, inner)
        | ExprKind::Paren(inner) => expr(inner, v),
        ExprKind::Index(a, b) | ExprKind::Binary(_, _, a, b) | ExprKind::Assign(_, _, a, b) => {
            expr(a, v);
            expr(b, v);
        }
        ExprKind::Slice(inner, lower, upper) => {
            expr(inner, v);
            lower.iter().chain(upper).for_each(|e| expr(e, v));
        }
        ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|e| expr(e, v)),
        ExprKind::Cast(ty, inner) => {
            type_expr(ty, v);
            expr(inner, v);
        }
        ExprKind::Number(_)
        | ExprKind::String(..)
        | ExprKind::StringUnits(..)
        | ExprKind::Boolean(_)
        | ExprKind::Null
        | ExprKind::Error => {}
    }
}
