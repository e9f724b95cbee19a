//! The syntax tree of a query.
//!
//! Names are resolved to namespaces, functions to their entries. A variable is a number: its place
//! among those that are bound at the expression, outermost first.

use super::atomic_value::{ArithmeticOp, AtomicType, AtomicValue};
use super::function::XPathFunction;
use crate::step::XPathAxis;
use crate::tree::{NamespaceBinding, XmlName, XmlNodeKind};

/// A query that was read.
#[derive(Debug)]
pub struct XQuery {
    /// Variables that the prolog declares, in their order: the first ones that are bound.
    pub variables: Vec<VariableDeclaration>,
    pub body: QueryExpr,
}

/// `declare variable $name := value;`, or `external`.
#[derive(Debug)]
pub struct VariableDeclaration {
    pub name: String,
    pub ty: Option<SequenceType>,
    /// `None`: the value comes from outside.
    pub value: Option<QueryExpr>,
}

#[derive(Debug)]
pub enum QueryExpr {
    Literal(AtomicValue),
    /// A variable that is bound in the query.
    Variable(usize),
    /// A variable that nothing in the query declares.
    External(String),
    /// The item of the focus, `.`.
    Context,
    /// Sequences one after the other, `a, b`.
    Sequence(Vec<QueryExpr>),
    /// A range of integers, `a to b`.
    Range(Box<[QueryExpr; 2]>),
    Or(Vec<QueryExpr>),
    And(Vec<QueryExpr>),
    Compare(QueryComparison, Box<[QueryExpr; 2]>),
    /// `a + b - c`, from left to right.
    Arithmetic(Box<QueryExpr>, Vec<(ArithmeticOp, QueryExpr)>),
    /// The negated operand, `-a`.
    Negate(Box<QueryExpr>),
    /// Texts joined to one, `a || b`.
    Concat(Vec<QueryExpr>),
    /// `a union b except c`, from left to right.
    Sets(Box<QueryExpr>, Vec<(NodeSetOp, QueryExpr)>),
    If(Box<[QueryExpr; 3]>),
    /// `some`, or `every` if the flag is set: bindings and a condition.
    Quantified(bool, Vec<QueryExpr>, Box<QueryExpr>),
    Flwor(Vec<FlworClause>, Box<QueryExpr>),
    Path(PathStart, Vec<XPathStep>),
    /// Items filtered by predicates, `a[b][c]`.
    Filter(Box<QueryExpr>, Vec<QueryExpr>),
    Call(&'static XPathFunction, Vec<QueryExpr>),
    Element(Box<ElementConstructor>),
    /// An attribute, a text or a comment with computed contents.
    Leaf(XmlNodeKind, Option<XmlName>, Vec<ConstructorPart>),
    /// `cast as`; the flag says whether an empty sequence is allowed.
    Cast(Box<QueryExpr>, AtomicType, bool),
    Castable(Box<QueryExpr>, AtomicType, bool),
    /// A test of a type, `instance of`.
    Instance(Box<QueryExpr>, SequenceType),
    /// A checked type, `treat as`.
    Treat(Box<QueryExpr>, SequenceType),
}

/// Kind of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryComparison {
    /// `=`: holds for some item of one operand and some item of the other.
    General(ComparisonOp),
    /// `eq`: compares one value with one value.
    Value(ComparisonOp),
    /// `is`: both are the same node.
    IsSameNode,
    /// `<<`: the left node precedes the right one.
    Precedes,
    /// `>>`: the left node follows the right one.
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

/// Beginning of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStart {
    /// The root of the tree.
    Root,
    /// The item of the focus.
    Context,
}

#[derive(Debug)]
pub enum XPathStep {
    Axis(XPathAxis, NodeTest, Vec<QueryExpr>),
    Expr(QueryExpr),
}

/// Test that the nodes of a step must pass. A missing part of a name stands for any.
#[derive(Clone, Debug)]
pub enum NodeTest {
    /// Elements, or attributes on their axis.
    Name {
        uri: Option<String>,
        local: Option<String>,
    },
    /// Any node of the axis: `node()`.
    Any,
    /// Nodes of a kind, with a name if one is given: `text()`, `element(name)`.
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

/// The constructor of an element.
#[derive(Debug)]
pub struct ElementConstructor {
    pub name: XmlName,
    pub namespaces: Vec<NamespaceBinding>,
    pub attributes: Vec<(XmlName, Vec<ConstructorPart>)>,
    pub content: Vec<ConstructorPart>,
}

/// A part of the content of an element or attribute.
#[derive(Debug)]
pub enum ConstructorPart {
    Text(String),
    Expr(QueryExpr),
}

/// Type of a sequence, as `xs:string?` or `element(a)*`.
#[derive(Debug)]
pub struct SequenceType {
    /// The type as it was written.
    pub text: String,
    /// Type of each item; `None` for `empty-sequence()`.
    pub item: Option<XQueryItemType>,
    pub may_be_empty: bool,
    pub may_be_several: bool,
}

#[derive(Debug)]
pub enum XQueryItemType {
    /// Any kind of item: `item()`.
    Any,
    Node(NodeTest),
    Atomic(AtomicType),
}
