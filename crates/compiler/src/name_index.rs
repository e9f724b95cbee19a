//! Name index: the names of a program with their meanings, for editors.
//!
//! A [`NameRecorder`] among the options of a check is told by the stages which declaration each
//! name means, and of which type the values are. Nothing is resolved a second time: where the
//! compiler looks a name up, it notes what it has found. [`NameRecorder::take`] gives the index.
//!
//! # Attributes
//! A tuple type is a structure without places. The recorder keeps, for each tuple type that was
//! made of written attributes, where these stand; a type is known again by its address, which all
//! streams that are declared with one named type have in common.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use graph::NativeId;
use syntax::{DeclarationKind, FileId, Span};
use tuple::{TupleType, Type};

/// Meaning of a name that stands somewhere in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameMeaning {
    /// A declaration of the program, by the place of the name in it.
    Declared(Span),
    /// A primitive operator of the library.
    Operator {
        /// Namespace of the operator.
        namespace: &'static str,
        /// Name of the operator in it.
        name: &'static str,
    },
    /// A function of the library.
    Native(NativeId),
    /// A parameter of a primitive operator of the library.
    Parameter {
        /// Name of the operator, without its namespace.
        operator: &'static str,
        /// Description of the parameter.
        doc: &'static str,
    },
}

/// A name in the text, with its meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct NameUse {
    /// Place of the name.
    pub span: Span,
    /// Meaning of the name where it was looked up first.
    pub meaning: NameMeaning,
    /// Whether the name has another meaning elsewhere: a composite is checked for each of its
    /// invocations, which may give it streams of different types.
    pub is_ambiguous: bool,
    /// Type of the value that the name stands for, if it stands for one.
    pub ty: Option<Type>,
}

/// A declaration of a name.
#[derive(Clone, Debug, PartialEq)]
pub struct NameDeclaration {
    /// Place of the name in the declaration.
    pub span: Span,
    /// Sort of thing that is declared.
    pub kind: DeclarationKind,
    /// The name as it is written there.
    pub name: Arc<str>,
    /// Type of the value, stream or type; `None` if it is not known, or for composites.
    pub ty: Option<Type>,
    /// Place of the name of the composite around, of streams and formals.
    pub within: Option<Span>,
    /// Head of the declaration: a function up to its body, the whole of a type or formal.
    pub head: Span,
    /// Comment before the declaration, of composites and functions.
    pub doc: Option<Arc<str>>,
}

impl NameDeclaration {
    /// A declaration that consists of its name.
    pub(crate) fn new(
        kind: DeclarationKind,
        name: &syntax::ast::Ident,
        ty: Option<Type>,
    ) -> NameDeclaration {
        NameDeclaration {
            span: name.span,
            kind,
            name: name.text.clone(),
            ty,
            within: None,
            head: name.span,
            doc: None,
        }
    }
}

/// The names of a program, by place.
#[derive(Clone, Debug, Default)]
pub struct NameIndex {
    uses: Vec<NameUse>,
    declarations: Vec<NameDeclaration>,
}

impl NameIndex {
    /// Every use that was recorded, by file and place.
    pub fn uses(&self) -> &[NameUse] {
        &self.uses
    }

    /// Every declaration that was recorded, by file and place.
    pub fn declarations(&self) -> &[NameDeclaration] {
        &self.declarations
    }

    /// The use at a byte offset; one that ends there counts if none begins there.
    pub fn use_at(&self, file: FileId, offset: u32) -> Option<&NameUse> {
        let at = place_index(&self.uses, |use_| use_.span, file, offset)?;
        Some(&self.uses[at])
    }

    /// The declaration whose name is at a byte offset; one that ends there counts if none begins
    /// there.
    pub fn declaration_at(&self, file: FileId, offset: u32) -> Option<&NameDeclaration> {
        let at = place_index(&self.declarations, |found| found.span, file, offset)?;
        Some(&self.declarations[at])
    }

    /// The declaration whose name is at a place.
    pub fn declaration(&self, span: Span) -> Option<&NameDeclaration> {
        let at = self
            .declarations
            .binary_search_by_key(&span, |found| found.span);
        Some(&self.declarations[at.ok()?])
    }

    /// The uses of the name that is declared at a place, without the declaration.
    pub fn uses_of(&self, declared: Span) -> impl Iterator<Item = &NameUse> {
        let meaning = NameMeaning::Declared(declared);
        let uses = self.uses.iter();
        uses.filter(move |use_| use_.meaning == meaning && use_.span != declared)
    }
}

/// Index of the last place that begins at an offset or before it and reaches to it.
fn place_index<T>(
    list: &[T],
    span_of: impl Fn(&T) -> Span,
    file: FileId,
    offset: u32,
) -> Option<usize> {
    let before = |one: &T| {
        let span = span_of(one);
        (span.file, span.start) <= (file, offset)
    };
    let at = list.partition_point(before).checked_sub(1)?;
    let span = span_of(&list[at]);
    (span.file == file && offset <= span.end).then_some(at)
}

/// Places at which the attributes of a tuple type are written.
#[derive(Debug)]
struct AttributeOrigins {
    /// The type, kept so that no other one gets its address.
    _schema: Arc<TupleType>,
    spans: Vec<Option<Span>>,
}

/// Collector of names and their meanings in one compilation.
#[derive(Debug, Default)]
pub struct NameRecorder {
    uses: RefCell<HashMap<Span, NameUse>>,
    declarations: RefCell<HashMap<Span, NameDeclaration>>,
    origins: RefCell<HashMap<*const TupleType, AttributeOrigins>>,
}

impl NameRecorder {
    /// The index of what was recorded; the recorder is empty then.
    pub fn take(&self) -> NameIndex {
        self.origins.take();
        let mut uses: Vec<_> = self.uses.take().into_values().collect();
        let mut declarations: Vec<_> = self.declarations.take().into_values().collect();
        uses.sort_unstable_by_key(|use_| use_.span);
        declarations.sort_unstable_by_key(|found| found.span);
        NameIndex { uses, declarations }
    }

    pub(crate) fn add_use(&self, span: Span, meaning: NameMeaning, ty: Option<&Type>) {
        let mut uses = self.uses.borrow_mut();
        let known = uses.entry(span).or_insert_with(|| NameUse {
            span,
            meaning,
            is_ambiguous: false,
            ty: ty.cloned(),
        });
        known.is_ambiguous |= known.meaning != meaning;
        if known.ty.is_none() {
            known.ty = ty.cloned();
        }
    }

    pub(crate) fn add_declaration(&self, declaration: NameDeclaration) {
        let mut declarations = self.declarations.borrow_mut();
        let span = declaration.span;
        let known = declarations
            .entry(span)
            .or_insert_with(|| declaration.clone());
        if known.ty.is_none() {
            known.ty = declaration.ty;
        }
    }

    /// Notes where the attributes of a tuple type are written, in their order.
    pub(crate) fn add_origins(&self, schema: &Arc<TupleType>, spans: Vec<Option<Span>>) {
        let origins = AttributeOrigins {
            _schema: schema.clone(),
            spans,
        };
        let key = Arc::as_ptr(schema);
        self.origins.borrow_mut().entry(key).or_insert(origins);
    }

    /// Place at which an attribute of a tuple type is written, if it is known.
    pub(crate) fn origin(&self, schema: &Arc<TupleType>, index: usize) -> Option<Span> {
        let origins = self.origins.borrow();
        let found = origins.get(&Arc::as_ptr(schema))?;
        found.spans.get(index).copied().flatten()
    }
}
