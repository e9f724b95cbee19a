//! The owned syntax tree of one compilation unit: what the compiler walks.
//!
//! Lowered from the lossless tree. Every node carries its [`Span`]. Nothing is resolved here: names
//! are text, a type name may turn out to be a stream, an operator parameter may be an expression or
//! a type. Where the source was broken the node is left out or is an `Error`, and a diagnostic
//! exists.

use std::sync::Arc;

use crate::{BrokenParts, Span};

/// A name with its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ident {
    /// The text, with the leading `$` if it has one.
    pub text: Arc<str>,
    /// Place of the name in the text.
    pub span: Span,
}

/// A name with its namespace, `ns.sub::Name` or `Name`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QName {
    /// `ns.sub`, if it was written.
    pub namespace: Option<Ident>,
    /// Last part of the name.
    pub name: Ident,
    /// Place of the whole name.
    pub span: Span,
}

/// A source file with its definitions.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// `namespace a.b;`, text with dots.
    pub namespace: Option<Ident>,
    /// `use` directives, in order.
    pub uses: Vec<Use>,
    /// Composites, functions and types, in order.
    pub items: Vec<Item>,
    /// Parts of the file that could not be read and are not in the tree.
    pub broken: BrokenParts,
}

/// `use ns::Name;` or `use ns::*;`
#[derive(Clone, Debug)]
pub struct Use {
    /// The namespace, text with dots.
    pub namespace: Ident,
    /// Name that is imported; `None` for `*`.
    pub name: Option<Ident>,
    /// Place of the directive.
    pub span: Span,
}

/// A definition of a unit.
#[derive(Clone, Debug)]
pub enum Item {
    /// A composite operator with its body.
    Composite(Arc<Composite>),
    /// A function with its body.
    Function(Arc<Function>),
    /// `type T = ...;`
    Type(Arc<TypeDef>),
}

/// A composite operator definition.
#[derive(Clone, Debug)]
pub struct Composite {
    /// Annotations before the definition.
    pub annotations: Vec<Annotation>,
    /// Whether the composite is `public`.
    pub is_public: bool,
    /// Name of the composite operator.
    pub name: Ident,
    /// Output ports, `output A, B`.
    pub outputs: Vec<CompositePort>,
    /// Input ports, `input A, B`.
    pub inputs: Vec<CompositePort>,
    /// Formals of the `param` clause.
    pub params: Vec<Formal>,
    /// Types of the `type` clause.
    pub types: Vec<Arc<TypeDef>>,
    /// Invocations of the `graph` clause.
    pub graph: Vec<Invocation>,
    /// Entries of the `config` clause.
    pub config: Vec<Config>,
    /// Place from the first annotation to the closing brace.
    pub span: Span,
    /// The SPLDOC comment before it, without its markers.
    pub doc: Option<Arc<str>>,
}

/// `stream<T> Name` or `Name` in a composite head.
#[derive(Clone, Debug)]
pub struct CompositePort {
    /// The declared type, if any.
    pub ty: Option<TupleBody>,
    /// Name of the port.
    pub name: Ident,
}

/// Mode of a composite parameter: the kind of argument that it takes.
#[derive(Clone, Debug)]
pub enum Mode {
    /// An attribute of an input stream.
    Attribute,
    /// An expression, `expression` or `expression<T>`.
    Expression(Option<TypeExpr>),
    /// A function by its name.
    Function,
    /// An operator by its name.
    Operator,
    /// A type by its name.
    Type,
}

/// A composite's formal parameter.
#[derive(Clone, Debug)]
pub struct Formal {
    /// Mode of the parameter.
    pub mode: Mode,
    /// The name, with its `$`.
    pub name: Ident,
    /// Default value, behind the `:`.
    pub default: Option<Actual>,
    /// Place of the whole declaration.
    pub span: Span,
}

/// `static T = ...;` or `type T = ...;`
#[derive(Clone, Debug)]
pub struct TypeDef {
    /// Whether the definition is `static`.
    pub is_static: bool,
    /// Name of the type.
    pub name: Ident,
    /// Type or attributes that the name stands for.
    pub body: TypeDefBody,
    /// Place of the whole definition.
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
    /// Attributes or streams that the body names.
    pub kind: TupleBodyKind,
    /// Place of the tuple body.
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
    /// Form of the type.
    pub kind: TypeKind,
    /// Place of the type in the text.
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
    /// A bounded string, `rstring[n]`.
    BoundedString(Box<Expr>),
    /// XML of a schema, `xml<"uri">`.
    Xml(Arc<str>),
    /// A tuple type, `tuple<...>`.
    Tuple(TupleBody),
    /// A list type, `list<T>` or `list<T>[n]`.
    List(Box<TypeExpr>, Option<Box<Expr>>),
    /// A set type, `set<T>` or `set<T>[n]`.
    Set(Box<TypeExpr>, Option<Box<Expr>>),
    /// `map<K, V>`, `map<K, V>[n]`
    Map(Box<TypeExpr>, Box<TypeExpr>, Option<Box<Expr>>),
    /// An optional type, `optional<T>`.
    Optional(Box<TypeExpr>),
    /// Broken source; a diagnostic exists.
    Error,
}

/// One invocation of an operator.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// Annotations before the invocation.
    pub annotations: Vec<Annotation>,
    /// Output ports with their streams.
    pub outputs: Vec<OutPort>,
    /// `as Name` of the whole head (`() as S = ...`, `(stream<..> A) as B = ...`).
    pub alias: Option<Ident>,
    /// Which operator: a primitive, a composite, or a `$operator` formal.
    pub operator: QName,
    /// Input ports with their streams.
    pub inputs: Vec<InPort>,
    /// Entries of the `logic` clause.
    pub logic: Vec<Logic>,
    /// `window` clause: port, then the list of expressions. `sliding`, `tumbling`, `partitioned`,
    /// `timeInterval` are plain name expressions; `count(5)` is a call.
    pub windows: Vec<PortClause<Vec<Expr>>>,
    /// Entries of the `param` clause.
    pub params: Vec<Param>,
    /// `output` clause: port, then its assignments.
    pub output: Vec<PortClause<Vec<(Ident, Expr)>>>,
    /// Entries of the `config` clause.
    pub config: Vec<Config>,
    /// Place from the head to the closing brace.
    pub span: Span,
    /// The head only, up to the closing parenthesis of the inputs.
    pub head: Span,
}

/// `stream<T> Name as Alias`
#[derive(Clone, Debug)]
pub struct OutPort {
    /// Declared type of the stream.
    pub ty: TupleBody,
    /// Name of the stream.
    pub name: Ident,
    /// `as Alias` within the port.
    pub alias: Option<Ident>,
    /// Place of the whole declaration.
    pub span: Span,
}

/// `A, B as Alias` : one port fed by several streams.
#[derive(Clone, Debug)]
pub struct InPort {
    /// The declared type, if any.
    pub ty: Option<TupleBody>,
    /// Streams that the port receives.
    pub streams: Vec<Ident>,
    /// Name of the port, `as Alias`.
    pub alias: Option<Ident>,
    /// Place of the whole port.
    pub span: Span,
}

/// `Port : ...;` of a window or output clause.
#[derive(Clone, Debug)]
pub struct PortClause<T> {
    /// The port's (stream's) name or alias.
    pub port: Ident,
    /// Content of the clause for this port.
    pub body: T,
    /// Place of the whole entry.
    pub span: Span,
}

/// A parameter of an invocation, `name : actual;`.
#[derive(Clone, Debug)]
pub struct Param {
    /// Name of the parameter.
    pub name: Ident,
    /// Value that is passed.
    pub actual: Actual,
    /// Place of the whole entry.
    pub span: Span,
}

/// Value that is passed for a parameter. A bare name or qualified name is an expression
/// (`Expr::Name`). Only a form that can be nothing else is a type (`tuple<...>`, `int32`,
/// `list<T>`).
#[derive(Clone, Debug)]
pub enum Actual {
    /// A type that is no bare name.
    Type(TypeExpr),
    /// One or more expressions. A name may denote a type, operator, function or attribute.
    Exprs(Vec<Expr>),
}

/// One entry of a logic clause.
#[derive(Clone, Debug)]
pub enum Logic {
    /// State variables, `state: ...`.
    State(Vec<LocalDecl>),
    /// Statement for each tuple, `onTuple Port: stmt`.
    OnTuple(Ident, Stmt),
    /// Statement for each punctuation, `onPunct Port: stmt`.
    OnPunct(Ident, Stmt),
    /// `onProcess: stmt`; the span is that of the word.
    OnProcess(Span, Stmt),
}

/// `name : exprs;` of a config clause.
#[derive(Clone, Debug)]
pub struct Config {
    /// Kind of configuration, such as `placement`.
    pub name: Ident,
    /// The values. `Name = value` (hostPool) is an assignment expression.
    pub values: Vec<Expr>,
    /// Place of the whole entry.
    pub span: Span,
}

/// `@name(key = value, ...)`
#[derive(Clone, Debug)]
pub struct Annotation {
    /// Name of the annotation, without the `@`.
    pub name: Ident,
    /// `key = value` assignments.
    pub args: Vec<(Ident, Expr)>,
    /// Place of the whole annotation.
    pub span: Span,
}

/// A function with its body.
#[derive(Clone, Debug)]
pub struct Function {
    /// Whether the function is `public`.
    pub is_public: bool,
    /// Whether the function is `stateful`.
    pub is_stateful: bool,
    /// Result type; `TypeKind::Primitive("void")` for none.
    pub result: TypeExpr,
    /// Name of the function.
    pub name: Ident,
    /// Formal parameters, in order.
    pub params: Vec<FunctionParam>,
    /// Statements of the function.
    pub body: Block,
    /// Place of the whole definition.
    pub span: Span,
    /// The SPLDOC comment before it.
    pub doc: Option<Arc<str>>,
}

/// A formal parameter, `mutable T name`.
#[derive(Clone, Debug)]
pub struct FunctionParam {
    /// Whether the parameter is `mutable`.
    pub is_mutable: bool,
    /// Type of the parameter.
    pub ty: TypeExpr,
    /// Name of the parameter.
    pub name: Ident,
}

/// The prototype of a native function: `<any T, ordered K>[N,M] public stateful T f(mutable T x)`.
#[derive(Clone, Debug)]
pub struct Prototype {
    /// Constraint word and name of each type formal.
    pub type_formals: Vec<(Ident, Ident)>,
    /// Names of the bound formals.
    pub bounds: Vec<Ident>,
    /// Whether the function is `public`.
    pub is_public: bool,
    /// Whether the function is `stateful`.
    pub is_stateful: bool,
    /// Result type. Type formals appear as `Named`; bound formals as name expressions in bounds.
    pub result: TypeExpr,
    /// Name of the function.
    pub name: Ident,
    /// Formal parameters, in order.
    pub params: Vec<FunctionParam>,
}

/// Statements in braces, `{ ... }`.
#[derive(Clone, Debug)]
pub struct Block {
    /// Statements and local type definitions, in order.
    pub stmts: Vec<Stmt>,
    /// Place of the block with its braces.
    pub span: Span,
}

/// `mutable T a = 1, b;`
#[derive(Clone, Debug)]
pub struct LocalDecl {
    /// Whether the variable is `mutable`.
    pub is_mutable: bool,
    /// Type of the variable.
    pub ty: TypeExpr,
    /// Names with their initializers.
    pub vars: Vec<(Ident, Option<Expr>)>,
    /// Place of the whole declaration.
    pub span: Span,
}

/// A statement of a function or logic clause.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Form of the statement.
    pub kind: StmtKind,
    /// Place of the statement in the text.
    pub span: Span,
}

/// The forms of a statement.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// A declaration of variables.
    Local(LocalDecl),
    /// A local type definition.
    Type(Arc<TypeDef>),
    /// A block of statements in braces.
    Block(Block),
    /// An expression for its effect.
    Expr(Expr),
    /// `if (c) a else b`
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// A loop, `while (c) s`.
    While(Expr, Box<Stmt>),
    /// `for (T x in e) s`
    For(TypeExpr, Ident, Expr, Box<Stmt>),
    /// The statement `break;`, which ends a loop.
    Break,
    /// The statement `continue;`, which begins a loop's next turn.
    Continue,
    /// A return, with a value (`return e;`) or without.
    Return(Option<Expr>),
    /// Broken source; a diagnostic exists. A lone `;` is an empty block.
    Error,
}

/// An expression with its place.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Form of the expression.
    pub kind: ExprKind,
    /// Place of the expression in the text.
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
    /// A boolean literal, `true` or `false`.
    Boolean(bool),
    /// The literal `null` of optional types.
    Null,
    /// A variable, attribute, stream, enumerator, function, type, operator, or `$formal`. Also
    /// `ns::f`. `Sys.Wait` is a `Field` of the name `Sys`.
    Name(QName),
    /// A list literal, `[a, b]`.
    List(Vec<Expr>),
    /// `{a, b}`; also `{}`, which may be an empty set, map or tuple.
    Set(Vec<Expr>),
    /// A map literal, `{k: v}`.
    Map(Vec<(Expr, Expr)>),
    /// A tuple literal, `{a = e}`.
    Tuple(Vec<(Ident, Expr)>),
    /// `f(args)`; the callee is normally a name.
    Call(Box<Expr>, Vec<Expr>),
    /// An attribute of a tuple, `e.attr`.
    Field(Box<Expr>, Ident),
    /// A subscript, `e[i]`, into a collection or string.
    Index(Box<Expr>, Box<Expr>),
    /// A slice: `e[l:u]`, `e[:u]` or `e[l:]`.
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
    /// An expression in parentheses, `(e)`.
    Paren(Box<Expr>),
    /// Broken source; a diagnostic exists.
    Error,
}

/// The kind of a string literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringKind {
    /// No suffix: rstring (or, by context, ustring or xml where the spec allows).
    Plain,
    /// An rstring, with the suffix `r`.
    RString,
    /// A ustring, with the suffix `u`.
    UString,
    /// An XML document, with the suffix `x`.
    Xml,
}

/// A numeric literal: digits as written, and its suffix letters decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// The digits without suffix and `0x`; with point and exponent if it has them.
    pub digits: Arc<str>,
    /// Whether the number began with `0x`.
    pub is_hex: bool,
    /// Whether the number has a point or an exponent.
    pub is_float: bool,
    /// `s`, `u`, `f` or `d`.
    pub kind: Option<char>,
    /// `b`, `h`, `w`, `l` or `q`.
    pub width: Option<char>,
}

/// Operators that stand before their operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum PrefixOp {
    Not,
    Negate,
    Complement,
    Increment,
    Decrement,
}

/// Operators that stand behind their operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PostfixOp {
    /// Postfix `++`, which adds 1.
    Increment,
    /// Postfix `--`, which subtracts 1.
    Decrement,
    /// Postfix `!`, the content of an optional.
    Unwrap,
    /// Postfix `??`, whether an optional has content.
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
