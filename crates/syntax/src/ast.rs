//! The owned syntax tree of one compilation unit: what the compiler walks.
//!
//! Lowered from the lossless tree. Every node carries its [`Span`]. Nothing is resolved here: names
//! are text, a type name may turn out to be a stream, an operator parameter may be an expression or
//! a type. Where the source was broken the node is left out or is an `Error`, and a diagnostic
//! exists.

use std::sync::Arc;

use crate::Span;

/// A name with its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ident {
    /// The text, with the leading `$` if it has one.
    pub text: Arc<str>,
    /// The place.
    pub span: Span,
}

/// `ns.sub::Name` or `Name`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QName {
    /// `ns.sub`, if it was written.
    pub namespace: Option<Ident>,
    /// The last part.
    pub name: Ident,
    /// All of it.
    pub span: Span,
}

/// A source file.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// `namespace a.b;`, text with dots.
    pub namespace: Option<Ident>,
    /// `use` directives, in order.
    pub uses: Vec<Use>,
    /// Composites, functions and types, in order.
    pub items: Vec<Item>,
}

/// `use ns::Name;` or `use ns::*;`
#[derive(Clone, Debug)]
pub struct Use {
    /// The namespace, text with dots.
    pub namespace: Ident,
    /// `None` for `*`.
    pub name: Option<Ident>,
    /// The directive.
    pub span: Span,
}

/// A definition of a unit.
#[derive(Clone, Debug)]
pub enum Item {
    /// A composite operator.
    Composite(Arc<Composite>),
    /// A function.
    Function(Arc<Function>),
    /// `type T = ...;`
    Type(Arc<TypeDef>),
}

/// A composite operator definition.
#[derive(Clone, Debug)]
pub struct Composite {
    /// Before the definition.
    pub annotations: Vec<Annotation>,
    /// `public`.
    pub is_public: bool,
    /// Its name.
    pub name: Ident,
    /// `output A, B`.
    pub outputs: Vec<CompositePort>,
    /// `input A, B`.
    pub inputs: Vec<CompositePort>,
    /// `param` clause.
    pub params: Vec<Formal>,
    /// `type` clause.
    pub types: Vec<Arc<TypeDef>>,
    /// `graph` clause.
    pub graph: Vec<Invocation>,
    /// `config` clause.
    pub config: Vec<Config>,
    /// From the first annotation to the closing brace.
    pub span: Span,
    /// The SPLDOC comment before it, without its markers.
    pub doc: Option<Arc<str>>,
}

/// `stream<T> Name` or `Name` in a composite head.
#[derive(Clone, Debug)]
pub struct CompositePort {
    /// The declared type, if any.
    pub ty: Option<TupleBody>,
    /// The port's name.
    pub name: Ident,
}

/// What may be passed for a composite parameter.
#[derive(Clone, Debug)]
pub enum Mode {
    /// `attribute`
    Attribute,
    /// `expression`, `expression<T>`
    Expression(Option<TypeExpr>),
    /// `function`
    Function,
    /// `operator`
    Operator,
    /// `type`
    Type,
}

/// A composite's formal parameter.
#[derive(Clone, Debug)]
pub struct Formal {
    /// The mode.
    pub mode: Mode,
    /// The name, with its `$`.
    pub name: Ident,
    /// `: default`.
    pub default: Option<Actual>,
    /// The whole declaration.
    pub span: Span,
}

/// `static T = ...;` or `type T = ...;`
#[derive(Clone, Debug)]
pub struct TypeDef {
    /// `static`.
    pub is_static: bool,
    /// The name.
    pub name: Ident,
    /// What it stands for.
    pub body: TypeDefBody,
    /// All of it.
    pub span: Span,
}

/// The right side of a type definition.
#[derive(Clone, Debug)]
pub enum TypeDefBody {
    /// Any type (also a single type name).
    Type(TypeExpr),
    /// A tuple body without `tuple<>`: `int32 a, rstring b` or `T1, T2` or `T1, tuple<...>`.
    Tuple(TupleBody),
}

/// The inside of `tuple<...>` and `stream<...>`.
#[derive(Clone, Debug)]
pub struct TupleBody {
    /// What it holds.
    pub kind: TupleBodyKind,
    /// The place.
    pub span: Span,
}

/// The two forms of a tuple body.
#[derive(Clone, Debug)]
pub enum TupleBodyKind {
    /// `int32 a, rstring b`.
    Attributes(Vec<(TypeExpr, Ident)>),
    /// `T1, In, tuple<int32 x>`: concatenated tuple types; each is a name or a tuple type. A single
    /// type name (`stream<T>`) is this form too.
    Concat(Vec<TypeExpr>),
}

/// A type as written.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// What.
    pub kind: TypeKind,
    /// Where.
    pub span: Span,
}

/// The forms of a type.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// A keyword type without arguments: `int32`, `rstring`, `timestamp`, `xml`, `void`, ...
    Primitive(&'static str),
    /// `ns::T`, `C.T`, `T`, `$T`, a stream's name.
    Named(QName, Option<Ident>),
    /// `enum { a, b }`
    Enum(Vec<Ident>),
    /// `rstring[n]`
    BoundedString(Box<Expr>),
    /// `xml<"uri">`
    Xml(Arc<str>),
    /// `tuple<...>`
    Tuple(TupleBody),
    /// `list<T>`, `list<T>[n]`
    List(Box<TypeExpr>, Option<Box<Expr>>),
    /// `set<T>`, `set<T>[n]`
    Set(Box<TypeExpr>, Option<Box<Expr>>),
    /// `map<K, V>`, `map<K, V>[n]`
    Map(Box<TypeExpr>, Box<TypeExpr>, Option<Box<Expr>>),
    /// `optional<T>`
    Optional(Box<TypeExpr>),
    /// Broken source; a diagnostic exists.
    Error,
}

/// An operator invocation.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// Before it.
    pub annotations: Vec<Annotation>,
    /// Output ports.
    pub outputs: Vec<OutPort>,
    /// `as Name` of the whole head (`() as S = ...`, `(stream<..> A) as B = ...`).
    pub alias: Option<Ident>,
    /// Which operator: a primitive, a composite, or a `$operator` formal.
    pub operator: QName,
    /// Input ports.
    pub inputs: Vec<InPort>,
    /// `logic` clause.
    pub logic: Vec<Logic>,
    /// `window` clause: port, then the list of expressions. `sliding`, `tumbling`, `partitioned`,
    /// `timeInterval` are plain name expressions; `count(5)` is a call.
    pub windows: Vec<PortClause<Vec<Expr>>>,
    /// `param` clause.
    pub params: Vec<Param>,
    /// `output` clause: port, then its assignments.
    pub output: Vec<PortClause<Vec<(Ident, Expr)>>>,
    /// `config` clause.
    pub config: Vec<Config>,
    /// From the head to the closing brace.
    pub span: Span,
    /// The head only, up to the closing parenthesis of the inputs.
    pub head: Span,
}

/// `stream<T> Name as Alias`
#[derive(Clone, Debug)]
pub struct OutPort {
    /// The declared type.
    pub ty: TupleBody,
    /// The stream's name.
    pub name: Ident,
    /// `as Alias` within the port.
    pub alias: Option<Ident>,
    /// All of it.
    pub span: Span,
}

/// `A, B as Alias` : one port fed by several streams.
#[derive(Clone, Debug)]
pub struct InPort {
    /// The declared type, if any.
    pub ty: Option<TupleBody>,
    /// The streams.
    pub streams: Vec<Ident>,
    /// `as Alias`.
    pub alias: Option<Ident>,
    /// All of it.
    pub span: Span,
}

/// `Port : ...;` of a window or output clause.
#[derive(Clone, Debug)]
pub struct PortClause<T> {
    /// The port's (stream's) name or alias.
    pub port: Ident,
    /// What is said of it.
    pub body: T,
    /// All of it.
    pub span: Span,
}

/// `name : actual;`
#[derive(Clone, Debug)]
pub struct Param {
    /// The parameter's name.
    pub name: Ident,
    /// What is passed.
    pub actual: Actual,
    /// All of it.
    pub span: Span,
}

/// What is passed for a parameter. A bare name or qualified name is an expression (`Expr::Name`);
/// only what can be nothing else is a type (`tuple<...>`, `int32`, `list<T>`).
#[derive(Clone, Debug)]
pub enum Actual {
    /// A type.
    Type(TypeExpr),
    /// One or more expressions. A name may denote a type, operator, function or attribute.
    Exprs(Vec<Expr>),
}

/// One entry of a logic clause.
#[derive(Clone, Debug)]
pub enum Logic {
    /// `state: ...`
    State(Vec<LocalDecl>),
    /// `onTuple Port: stmt`
    OnTuple(Ident, Stmt),
    /// `onPunct Port: stmt`
    OnPunct(Ident, Stmt),
    /// `onProcess: stmt`; the span is that of the word.
    OnProcess(Span, Stmt),
}

/// `name : exprs;` of a config clause.
#[derive(Clone, Debug)]
pub struct Config {
    /// The kind.
    pub name: Ident,
    /// The values. `Name = value` (hostPool) is an assignment expression.
    pub values: Vec<Expr>,
    /// All of it.
    pub span: Span,
}

/// `@name(key = value, ...)`
#[derive(Clone, Debug)]
pub struct Annotation {
    /// Without the `@`.
    pub name: Ident,
    /// `key = value` assignments.
    pub args: Vec<(Ident, Expr)>,
    /// All of it.
    pub span: Span,
}

/// A function definition.
#[derive(Clone, Debug)]
pub struct Function {
    /// `public`.
    pub is_public: bool,
    /// `stateful`.
    pub is_stateful: bool,
    /// Result type; `TypeKind::Primitive("void")` for none.
    pub result: TypeExpr,
    /// The name.
    pub name: Ident,
    /// The formals.
    pub params: Vec<FunctionParam>,
    /// The body.
    pub body: Block,
    /// The whole definition.
    pub span: Span,
    /// The SPLDOC comment before it.
    pub doc: Option<Arc<str>>,
}

/// `mutable T name`
#[derive(Clone, Debug)]
pub struct FunctionParam {
    /// `mutable`.
    pub is_mutable: bool,
    /// The type.
    pub ty: TypeExpr,
    /// The name.
    pub name: Ident,
}

/// The prototype of a native function: `<any T, ordered K>[N,M] public stateful T f(mutable T x)`.
#[derive(Clone, Debug)]
pub struct Prototype {
    /// Constraint word and name of each type formal.
    pub type_formals: Vec<(Ident, Ident)>,
    /// Names of the bound formals.
    pub bounds: Vec<Ident>,
    /// `public`.
    pub is_public: bool,
    /// `stateful`.
    pub is_stateful: bool,
    /// Result type. Type formals appear as `Named`; bound formals as name expressions in bounds.
    pub result: TypeExpr,
    /// The name.
    pub name: Ident,
    /// The formals.
    pub params: Vec<FunctionParam>,
}

/// `{ ... }`
#[derive(Clone, Debug)]
pub struct Block {
    /// Statements and local type definitions, in order.
    pub stmts: Vec<Stmt>,
    /// With its braces.
    pub span: Span,
}

/// `mutable T a = 1, b;`
#[derive(Clone, Debug)]
pub struct LocalDecl {
    /// `mutable`.
    pub is_mutable: bool,
    /// The type.
    pub ty: TypeExpr,
    /// Names with their initializers.
    pub vars: Vec<(Ident, Option<Expr>)>,
    /// All of it.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What.
    pub kind: StmtKind,
    /// Where.
    pub span: Span,
}

/// The forms of a statement.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// A declaration of variables.
    Local(LocalDecl),
    /// A local type definition.
    Type(Arc<TypeDef>),
    /// A block.
    Block(Block),
    /// An expression for its effect.
    Expr(Expr),
    /// `if (c) a else b`
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// `while (c) s`
    While(Expr, Box<Stmt>),
    /// `for (T x in e) s`
    For(TypeExpr, Ident, Expr, Box<Stmt>),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return e;`
    Return(Option<Expr>),
    /// Broken source; a diagnostic exists. A lone `;` is an empty block.
    Error,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// The forms of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number, as written; see [`Number`].
    Number(Number),
    /// A string literal with its escapes already interpreted (code points; `r` and none: rstring).
    String(Arc<str>, StringKind),
    /// A string literal whose escapes give something that is no Unicode scalar value (a lone
    /// surrogate `\uD800`): UTF-16 code units.
    StringUnits(Arc<[u16]>, StringKind),
    /// `true`, `false`
    Boolean(bool),
    /// `null`
    Null,
    /// A variable, attribute, stream, enumerator, function, type, operator, or `$formal`. Also
    /// `ns::f`. `Sys.Wait` is a `Field` of the name `Sys`.
    Name(QName),
    /// `[a, b]`
    List(Vec<Expr>),
    /// `{a, b}`; also `{}`, which may be an empty set, map or tuple.
    Set(Vec<Expr>),
    /// `{k: v}`
    Map(Vec<(Expr, Expr)>),
    /// `{a = e}`
    Tuple(Vec<(Ident, Expr)>),
    /// `f(args)`; the callee is normally a name.
    Call(Box<Expr>, Vec<Expr>),
    /// `e.attr`
    Field(Box<Expr>, Ident),
    /// `e[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `e[l:u]`, `e[:u]`, `e[l:]`
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    /// A prefix operator: `!` `-` `~` `++` `--`.
    Prefix(PrefixOp, Box<Expr>),
    /// A postfix operator: `++` `--` `!` `??`.
    Postfix(PostfixOp, Box<Expr>),
    /// An infix operator (also `?:`); the span is the operator's.
    Binary(BinaryOp, Span, Box<Expr>, Box<Expr>),
    /// `=`, `+=`, ...; `None` is plain `=`; the span is the operator's.
    Assign(Option<BinaryOp>, Span, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `(T) e`. `(name) e` is a cast when what follows can only begin an operand. Two forms are
    /// decided by what the name denotes: where it is a type, `(T)[e]` (an `Index` of a `Paren`) is
    /// the cast of a list of one, and `(T) - e` (a `Sub` of a `Paren`) that of a negation.
    Cast(TypeExpr, Box<Expr>),
    /// `(e)`
    Paren(Box<Expr>),
    /// Broken source; a diagnostic exists.
    Error,
}

/// The kind of a string literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringKind {
    /// No suffix: rstring (or, by context, ustring or xml where the spec allows).
    Plain,
    /// `r`
    RString,
    /// `u`
    UString,
    /// `x`
    Xml,
}

/// A numeric literal: digits as written, and its suffix letters decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// The digits without suffix and `0x`; with point and exponent if it has them.
    pub digits: Arc<str>,
    /// It began with `0x`.
    pub is_hex: bool,
    /// It has a point or an exponent.
    pub is_float: bool,
    /// `s`, `u`, `f` or `d`.
    pub kind: Option<char>,
    /// `b`, `h`, `w`, `l` or `q`.
    pub width: Option<char>,
}

/// Prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum PrefixOp {
    Not,
    Negate,
    Complement,
    Increment,
    Decrement,
}

/// Postfix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PostfixOp {
    /// `++`
    Increment,
    /// `--`
    Decrement,
    /// `!`
    Unwrap,
    /// `??`
    IsPresent,
}

/// Infix operators; a `Dot` one works element by element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
    In,
    OrElse,
    DotAdd,
    DotSub,
    DotMul,
    DotDiv,
    DotRem,
    DotShl,
    DotShr,
    DotLt,
    DotLe,
    DotGt,
    DotGe,
    DotEq,
    DotNe,
    DotBitAnd,
    DotBitXor,
    DotBitOr,
}
