//! Scope: the names that can be used at one place, as levels from the innermost block out to the
//! unit.
//!
//! ```text
//!   Block (locals, local types)  ->  Block ...  ->  Operator (ports, state)
//!                                       ->  Composite (formals, streams, types)  ->  Unit
//! ```
//! Cheap to clone. The actual of a composite's formal keeps the scope it was written in, which
//! makes the expansion of composites hygienic: nothing of the composite is ever seen by its
//! actuals.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use graph::LocalId;
use syntax::Span;
use syntax::ast::TypeDef;
use tuple::Type;

use super::composite_scope::CompositeScope;
use super::enumerator::Enumerator;
use super::lazy_result::LazyResult;
use super::operator_scope::OperatorScope;
use super::unit::UnitId;

/// A place's view of names.
#[derive(Clone, Debug)]
pub struct Scope<'w>(Rc<ScopeNode<'w>>);

#[derive(Debug)]
struct ScopeNode<'w> {
    level: ScopeLevel<'w>,
    outer: Option<Scope<'w>>,
}

/// One level of a scope: the names that one construct adds.
#[derive(Clone, Debug)]
pub enum ScopeLevel<'w> {
    /// The unit and all that it sees.
    Unit(UnitId),
    /// Names of one composite instance.
    Composite(Rc<CompositeScope<'w>>),
    /// The default of a composite's formal: other formals are not to be seen.
    Default,
    /// Ports and state variables of one operator invocation.
    Operator(Rc<OperatorScope>),
    /// A block of statements, or a function's formals.
    #[expect(
        private_interfaces,
        reason = "blocks belong to the typing of statements"
    )]
    Block(Rc<BlockScope<'w>>),
}

/// Local variable of a body.
#[derive(Clone, Debug)]
pub(crate) struct LocalEntry {
    pub id: LocalId,
    /// `None` if its type is broken, which was reported.
    pub ty: Option<Type>,
    pub span: Span,
    pub kind: LocalKind,
}

/// Sort of a local variable, which decides whether it may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LocalKind {
    Mutable,
    Immutable,
    Loop,
    MutableFormal,
    Formal,
}

/// A type of a block.
#[derive(Debug)]
pub(crate) struct LocalType<'w> {
    pub def: &'w Arc<TypeDef>,
    pub resolved: LazyResult<Type>,
}

/// The names of a block.
#[derive(Debug, Default)]
pub(crate) struct BlockScope<'w> {
    pub vars: RefCell<HashMap<Arc<str>, LocalEntry>>,
    pub types: RefCell<HashMap<Arc<str>, Rc<LocalType<'w>>>>,
    pub enumerators: RefCell<HashMap<Arc<str>, Enumerator>>,
}

impl<'w> Scope<'w> {
    /// The scope of a unit's top level.
    pub fn unit(unit: UnitId) -> Scope<'w> {
        Scope(Rc::new(ScopeNode {
            level: ScopeLevel::Unit(unit),
            outer: None,
        }))
    }

    /// The scope inside a composite instance.
    pub fn composite(composite: Rc<CompositeScope<'w>>) -> Scope<'w> {
        let unit = composite.unit;
        Scope::unit(unit).enter(ScopeLevel::Composite(composite))
    }

    /// A scope with one more level.
    pub fn enter(&self, level: ScopeLevel<'w>) -> Scope<'w> {
        Scope(Rc::new(ScopeNode {
            level,
            outer: Some(self.clone()),
        }))
    }

    /// The levels, innermost first.
    pub fn levels(&self) -> impl Iterator<Item = &ScopeLevel<'w>> {
        let mut next = Some(self);
        std::iter::from_fn(move || {
            let scope = next?;
            next = scope.0.outer.as_ref();
            Some(&scope.0.level)
        })
    }

    /// The unit that holds it.
    pub fn unit_id(&self) -> UnitId {
        let unit = self.levels().find_map(|level| match level {
            ScopeLevel::Unit(unit) => Some(*unit),
            _ => None,
        });
        unit.unwrap_or(UnitId(0))
    }

    /// The composite instance around it.
    pub fn composite_scope(&self) -> Option<&Rc<CompositeScope<'w>>> {
        self.levels().find_map(|level| match level {
            ScopeLevel::Composite(composite) => Some(composite),
            _ => None,
        })
    }

    /// The operator invocation around it.
    pub fn operator_scope(&self) -> Option<&Rc<OperatorScope>> {
        self.levels().find_map(|level| match level {
            ScopeLevel::Operator(operator) => Some(operator),
            _ => None,
        })
    }

    /// Whether a local or state variable has a name.
    pub(crate) fn has_variable(&self, name: &str) -> bool {
        self.levels().any(|level| match level {
            ScopeLevel::Block(block) => block.vars.borrow().contains_key(name),
            ScopeLevel::Operator(operator) => operator.state(name).is_some(),
            _ => false,
        })
    }

    /// Whether it is the default of a composite's formal.
    pub fn is_default(&self) -> bool {
        self.levels()
            .any(|level| matches!(level, ScopeLevel::Default))
    }

    /// The scope without its blocks and its operator: that of the composite or unit.
    pub fn outside_operator(&self) -> Scope<'w> {
        let mut scope = self;
        while let (ScopeLevel::Block(_) | ScopeLevel::Operator(_), Some(outer)) =
            (&scope.0.level, scope.0.outer.as_ref())
        {
            scope = outer;
        }
        scope.clone()
    }
}
