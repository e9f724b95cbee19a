//! Queries as trees: what the parser makes and the evaluation walks.
//!
//! Names have their namespaces, functions are found, variables are numbers: those that are bound where
//! an expression stands, outermost first.

use super::atomic::{Arithmetic, Atomic, Type};
use super::function::Function;
use super::item::Name;
use super::tree::{Kind, Namespace};

/// A query.
#[derive(Debug)]
pub struct Query {
    /// What the prolog declares, in its order: they are the first variables.
    pub variables: Vec<Declared>,
    pub body: Expr,
}

/// `declare variable $name := value;`, or `external`.
#[derive(Debug)]
pub struct Declared {
    pub name: String,
    pub ty: Option<SequenceType>,
    /// None: it comes from outside.
    pub value: Option<Expr>,
}

#[derive(Debug)]
pub enum Expr {
    Literal(Atomic),
    /// A bound variable.
    Variable(usize),
    /// A variable that nothing in the query declares.
    External(String),
    /// `.`
    Context,
    /// `a, b`
    Sequence(Vec<Expr>),
    /// `a to b`
    Range(Box<[Expr; 2]>),
    Or(Vec<Expr>),
    And(Vec<Expr>),
    Compare(Comparison, Box<[Expr; 2]>),
    /// `a + b - c`, from left to right.
    Arithmetic(Box<Expr>, Vec<(Arithmetic, Expr)>),
    /// `-a`
    Negate(Box<Expr>),
    /// `a || b`
    Concat(Vec<Expr>),
    /// `a union b except c`, from left to right.
    Sets(Box<Expr>, Vec<(SetOp, Expr)>),
    If(Box<[Expr; 3]>),
    /// `some`, or `every`.
    Quantified(bool, Vec<Expr>, Box<Expr>),
    Flwor(Vec<Clause>, Box<Expr>),
    Path(Start, Vec<Step>),
    /// `a[b][c]`
    Filter(Box<Expr>, Vec<Expr>),
    Call(&'static Function, Vec<Expr>),
    Element(Box<Element>),
    /// An attribute, a text or a comment with computed contents.
    Leaf(Kind, Option<Name>, Vec<Part>),
    /// `cast as`; an empty sequence is allowed or not.
    Cast(Box<Expr>, Type, bool),
    Castable(Box<Expr>, Type, bool),
    /// `instance of`
    Instance(Box<Expr>, SequenceType),
    /// `treat as`
    Treat(Box<Expr>, SequenceType),
}

/// How two operands are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`: some item of one with some item of the other.
    General(Order),
    /// `eq`: one value with one value.
    Value(Order),
    /// `is`
    Same,
    /// `<<`
    Before,
    /// `>>`
    After,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOp {
    Union,
    Intersect,
    Except,
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The document.
    Root,
    /// What is at hand.
    Context,
}

#[derive(Debug)]
pub enum Step {
    Axis(Axis, Test, Vec<Expr>),
    Expr(Expr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    Child,
    Descendant,
    Attribute,
    Itself,
    DescendantOrSelf,
    FollowingSibling,
    Following,
    Parent,
    Ancestor,
    PrecedingSibling,
    Preceding,
    AncestorOrSelf,
}

/// What nodes a step takes. A part of a name that is not given stands for any.
#[derive(Clone, Debug)]
pub enum Test {
    /// Elements, or attributes on their axis.
    Name {
        uri: Option<String>,
        local: Option<String>,
    },
    /// `node()`
    Any,
    /// `text()`, `element(name)`
    Kind(Kind, Option<Name>),
}

/// The clauses of a FLWOR expression before `return`.
#[derive(Debug)]
pub enum Clause {
    /// `for $x at $i in`: binds one variable, or two.
    For(Expr, bool),
    Let(Expr),
    Where(Expr),
    OrderBy(Vec<Key>),
}

/// A key of `order by`.
#[derive(Debug)]
pub struct Key {
    pub value: Expr,
    pub is_descending: bool,
    pub is_empty_greatest: bool,
}

/// An element that a query makes.
#[derive(Debug)]
pub struct Element {
    pub name: Name,
    pub namespaces: Vec<Namespace>,
    pub attributes: Vec<(Name, Vec<Part>)>,
    pub content: Vec<Part>,
}

/// What an element or attribute is made of.
#[derive(Debug)]
pub enum Part {
    Text(String),
    Expr(Expr),
}

/// `xs:string?`, `element(a)*`
#[derive(Debug)]
pub struct SequenceType {
    /// As it was written.
    pub text: String,
    /// None: `empty-sequence()`.
    pub item: Option<ItemType>,
    pub may_be_empty: bool,
    pub may_be_several: bool,
}

#[derive(Debug)]
pub enum ItemType {
    /// `item()`
    Any,
    Node(Test),
    Atomic(Type),
}
