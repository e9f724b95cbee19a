//! One compilation: its symbols, options and findings, and the tables of what it has computed so
//! far.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use graph::Pos;
use syntax::{DeclarationKind, Diagnostic, Span};
use tuple::{TupleType, Type};

use crate::name_index::{NameDeclaration, NameMeaning, NameRecorder};
use crate::names::SymbolTable;
use crate::tables::{ConditionSymbols, FunctionTable, RequestedValues, TypeDefinitions};
use crate::{CompileOptions, Diagnostics};

/// One compilation. All stages take it by shared reference; its tables are behind cells.
#[derive(Debug)]
pub struct Session<'w> {
    /// The program and the library.
    pub symbols: &'w SymbolTable,
    /// Values and options that the user gave.
    pub options: &'w CompileOptions,
    /// Findings of all stages so far.
    pub diagnostics: Diagnostics,
    /// Qualified name of the main composite; empty when there is none.
    pub main: Arc<str>,
    /// Whether submission-time values may still be given, so that missing ones are not reported.
    pub(crate) values_pending: Cell<bool>,
    /// Whether what is checked is no part of the program, see [`Session::outside_program`].
    pub(crate) is_outside_program: Cell<bool>,
    /// Whether a function uses such a value.
    pub(crate) pending_in_functions: Cell<bool>,
    /// Whether a formal stands for too many expressions, which was reported: no formal is replaced
    /// any more.
    pub(crate) is_formal_full: Cell<bool>,
    /// The first statement of the program that could not be compiled, see
    /// [`Session::note_untyped`].
    first_untyped: Cell<Option<Span>>,
    /// Types that definitions stand for.
    pub(crate) definitions: TypeDefinitions<'w>,
    /// How many definitions of types are being resolved now, one within the other.
    pub(crate) definition_depth: Cell<u32>,
    /// Values of the user that the program asks for.
    pub(crate) requested_values: RequestedValues,
    /// Symbols of conditions in texts, made for the first one.
    pub(crate) condition_symbols: RefCell<Option<ConditionSymbols>>,
    /// User functions that were referred to.
    pub(crate) functions: FunctionTable<'w>,
}

impl<'w> Session<'w> {
    /// A session that has computed nothing yet.
    pub fn new(
        symbols: &'w SymbolTable,
        options: &'w CompileOptions,
        main: impl Into<Arc<str>>,
    ) -> Session<'w> {
        Session {
            symbols,
            options,
            diagnostics: Diagnostics::default(),
            main: main.into(),
            values_pending: Cell::new(false),
            is_outside_program: Cell::new(false),
            pending_in_functions: Cell::new(false),
            is_formal_full: Cell::new(false),
            first_untyped: Cell::new(None),
            definitions: TypeDefinitions::default(),
            definition_depth: Cell::new(0),
            requested_values: RequestedValues::default(),
            condition_symbols: RefCell::default(),
            functions: FunctionTable::default(),
        }
    }

    /// Adds a finding to [`Session::diagnostics`].
    pub fn report(&self, diagnostic: Diagnostic) {
        self.diagnostics.add(diagnostic);
    }

    /// Reports an error, and answers `None` so that it can end a computation.
    pub(crate) fn fail<T>(
        &self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Option<T> {
        self.report(Diagnostic::error(code, span, message));
        None
    }

    /// Whether a name that is declared nowhere may have its declaration in a broken part of the
    /// program, which was reported. Then the name counts as an error and must not be reported.
    pub(crate) fn note_poisoned(&self, kind: DeclarationKind, name: &str) -> bool {
        let is_poisoned = self.symbols.poison.has_name(kind, name);
        if is_poisoned {
            self.diagnostics.note_poisoned();
        }
        is_poisoned
    }

    /// Whether a node is broken somewhere, so that parts of it may be missing.
    pub(crate) fn is_broken(&self, node: Span) -> bool {
        self.symbols.poison.is_within(node)
    }

    /// The collector of names, if the caller of the compiler wants them.
    pub(crate) fn name_recorder(&self) -> Option<&NameRecorder> {
        self.options.names.as_deref()
    }

    /// Notes that a name means a declaration of the program, and the type of its value.
    pub(crate) fn note_use(&self, name: Span, declared: Span, ty: Option<&Type>) {
        self.note_meaning(name, NameMeaning::Declared(declared), ty);
    }

    /// Notes the meaning of a name, and the type of its value.
    pub(crate) fn note_meaning(&self, name: Span, meaning: NameMeaning, ty: Option<&Type>) {
        if let Some(names) = self.name_recorder() {
            names.add_use(name, meaning, ty);
        }
    }

    /// Notes that a name means an attribute of a tuple type.
    pub(crate) fn note_attribute(&self, name: Span, schema: &Arc<TupleType>, index: usize) {
        if let Some(names) = self.name_recorder()
            && let Some(origin) = names.origin(schema, index)
        {
            let ty = schema.attributes.get(index).map(|attribute| &attribute.ty);
            names.add_use(name, NameMeaning::Declared(origin), ty);
        }
    }

    /// Notes a declaration, which is made only if it is wanted.
    pub(crate) fn note_declaration(&self, declaration: impl FnOnce() -> NameDeclaration) {
        if let Some(names) = self.name_recorder() {
            names.add_declaration(declaration());
        }
    }

    /// Notes a statement that cannot be compiled. Its cause was reported, or the statement depends
    /// on values that are not given yet: formals of a composite that nothing invokes,
    /// submission-time values.
    pub(crate) fn note_untyped(&self, statement: Span) {
        self.first_untyped
            .set(self.first_untyped.get().or(Some(statement)));
    }

    /// Whether a statement of the program could not be compiled.
    pub(crate) fn has_untyped(&self) -> bool {
        self.first_untyped.get().is_some()
    }

    /// Checks what is no part of the program: the submission-time values in it are not given, and
    /// statements that cannot be compiled are ignored.
    pub(crate) fn outside_program<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = self.first_untyped.get();
        let was_outside = self.is_outside_program.replace(true);
        let were_pending = self.values_pending.replace(true);
        let result = work();
        self.values_pending.set(were_pending);
        self.is_outside_program.set(was_outside);
        self.first_untyped.set(before);
        result
    }

    /// Reports a statement of the program that could not be compiled although nothing is wrong: one
    /// left out silently would change the program.
    pub(crate) fn report_untyped(&self) {
        let is_explained = self.diagnostics.has_errors() || self.values_pending.get();
        if let (false, Some(place)) = (is_explained, self.first_untyped.get()) {
            let message = "this statement cannot be compiled, which is a fault of the compiler";
            self.report(Diagnostic::error("not-compiled", place, message));
        }
    }

    /// The place of a span as typed expressions hold it.
    pub fn pos(&self, span: Span) -> Pos {
        let at = self.symbols.sources().position(span);
        Pos {
            file: span.file.0,
            line: at.line,
            column: at.column,
        }
    }
}
