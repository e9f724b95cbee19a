//! Queries as trees: what the parser makes and the evaluation walks.
//!
//! Names have their namespaces, functions are found, variables are numbers: those that are bound
//! where an expression stands, outermost first.

use super::atomic_value::{ArithmeticOp, AtomicType, AtomicValue};
use super::function::XPathFunction;
use crate::step::XPathAxis;
use crate::tree::{NamespaceBinding, XmlName, XmlNodeKind};

/// A query.
#[derive(Debug)]
pub struct XQuery {
    /// What the prolog declares, in its order: they are the first variables.
    pub variables: Vec<VariableDeclaration>,
    pub body: QueryExpr,
}

/// `declare variable $name := value;`, or `external`.
#[derive(Debug)]
pub struct VariableDeclaration {
    pub name: String,
    pub ty: Option<SequenceType>,
    /// None: it comes from outside.
    pub value: Option<QueryExpr>,
}

#[derive(Debug)]
pub enum QueryExpr {
    Literal(AtomicValue),
    /// A bound variable.
    Variable(usize),
    /// A variable that nothing in the query declares.
    External(String),
    /// `.`
    Context,
    /// `a, b`
    Sequence(Vec<QueryExpr>),
    /// `a to b`
    Range(Box<[QueryExpr; 2]>),
    Or(Vec<QueryExpr>),
    And(Vec<QueryExpr>),
    Compare(QueryComparison, Box<[QueryExpr; 2]>),
    /// `a + b - c`, from left to right.
    Arithmetic(Box<QueryExpr>, Vec<(ArithmeticOp, QueryExpr)>),
    /// `-a`
    Negate(Box<QueryExpr>),
    /// `a || b`
    Concat(Vec<QueryExpr>),
    /// `a union b except c`, from left to right.
    Sets(Box<QueryExpr>, Vec<(NodeSetOp, QueryExpr)>),
    If(Box<[QueryExpr; 3]>),
    /// `some`, or `every`.
    Quantified(bool, Vec<QueryExpr>, Box<QueryExpr>),
    Flwor(Vec<FlworClause>, Box<QueryExpr>),
    Path(PathStart, Vec<XPathStep>),
    /// `a[b][c]`
    Filter(Box<QueryExpr>, Vec<QueryExpr>),
    Call(&'static XPathFunction, Vec<QueryExpr>),
    Element(Box<ElementConstructor>),
    /// An attribute, a text or a comment with computed contents.
    Leaf(XmlNodeKind, Option<XmlName>, Vec<ConstructorPart>),
    /// `cast as`; an empty sequence is allowed or not.
    Cast(Box<QueryExpr>, AtomicType, bool),
    Castable(Box<QueryExpr>, AtomicType, bool),
    /// `instance of`
    Instance(Box<QueryExpr>, SequenceType),
    /// `treat as`
    Treat(Box<QueryExpr>, SequenceType),
}

/// How two operands are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryComparison {
    /// `=`: some item of one with some item of the other.
    General(ComparisonOp),
    /// `eq`: one value with one value.
    Value(ComparisonOp),
    /// `is`
    IsSameNode,
    /// `<<`
    Precedes,
    /// `>>`
    Follows,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonOp {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeSetOp {
    Union,
    Intersect,
    Except,
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStart {
    /// The document.
    Root,
    /// What is at hand.
    Context,
}

#[derive(Debug)]
pub enum XPathStep {
    Axis(XPathAxis, NodeTest, Vec<QueryExpr>),
    Expr(QueryExpr),
}

/// What nodes a step takes. A part of a name that is not given stands for any.
#[derive(Clone, Debug)]
pub enum NodeTest {
    /// Elements, or attributes on their axis.
    Name {
        uri: Option<String>,
        local: Option<String>,
    },
    /// `node()`
    Any,
    /// `text()`, `element(name)`
    Kind(XmlNodeKind, Option<XmlName>),
}

/// The clauses of a FLWOR expression before `return`.
#[derive(Debug)]
pub enum FlworClause {
    /// `for $x at $i in`: binds one variable, or two.
    For(QueryExpr, bool),
    Let(QueryExpr),
    Where(QueryExpr),
    OrderBy(Vec<OrderSpec>),
}

/// A key of `order by`.
#[derive(Debug)]
pub struct OrderSpec {
    pub value: QueryExpr,
    pub is_descending: bool,
    pub is_empty_greatest: bool,
}

/// An element that a query makes.
#[derive(Debug)]
pub struct ElementConstructor {
    pub name: XmlName,
    pub namespaces: Vec<NamespaceBinding>,
    pub attributes: Vec<(XmlName, Vec<ConstructorPart>)>,
    pub content: Vec<ConstructorPart>,
}

/// What an element or attribute is made of.
#[derive(Debug)]
pub enum ConstructorPart {
    Text(String),
    Expr(QueryExpr),
}

/// `xs:string?`, `element(a)*`
#[derive(Debug)]
pub struct SequenceType {
    /// As it was written.
    pub text: String,
    /// None: `empty-sequence()`.
    pub item: Option<XQueryItemType>,
    pub may_be_empty: bool,
    pub may_be_several: bool,
}

#[derive(Debug)]
pub enum XQueryItemType {
    /// `item()`
    Any,
    Node(NodeTest),
    Atomic(AtomicType),
}
