//! Type names: local types, composite types, `C.T`, stream names, `$T`, types of namespaces.

use std::rc::Rc;
use std::sync::Arc;

use syntax::ast::{Actual, Composite, Expr, ExprKind, Ident, Mode, QName, TypeDef};
use syntax::{DeclarationKind, Diagnostic};
use tuple::{TupleType, Type};

use crate::Session;
use crate::name_index::NameDeclaration;
use crate::names::{
    BlockScope, CircularDefinition, CompositeScope, Definition, DefinitionKind, OperatorScope,
    Scope, ScopeLevel, UnitId,
};

impl<'w> Session<'w> {
    pub(super) fn named_type(
        &self,
        name: &QName,
        member: Option<&Ident>,
        scope: &Scope<'w>,
    ) -> Option<Type> {
        if let Some(member) = member {
            return self.member_type(name, member, scope);
        }
        if name.name.text.starts_with('$') {
            return self.formal_type(&name.name, scope);
        }
        if name.namespace.is_none()
            && let Some(found) = self.local_type(&name.name, scope)
        {
            return found;
        }
        let unit = scope.unit_id();
        match self.symbols.search(unit, name, DefinitionKind::Type) {
            Ok(Definition::Type(owner, def)) => self.unit_type(owner, def, &name.name),
            Ok(_) => None,
            Err(finding) => {
                let finding = finding.and_then(|finding| self.hint_type(*finding, name, scope));
                self.diagnostics.add_or_note(finding);
                None
            }
        }
    }

    /// Resolves all types of the composite around, to report what is wrong with those that nothing
    /// uses.
    pub fn resolve_types(&self, scope: &Scope<'w>) {
        if let Some(composite_scope) = scope.composite_scope() {
            for def in &composite_scope.ast.types {
                self.composite_type(composite_scope, &def.name, scope);
            }
        }
    }

    /// A type that a prototype of the library names.
    pub(crate) fn library_type(
        &self,
        name: &QName,
        member: Option<&Ident>,
        prototype_scope: &Scope<'static>,
    ) -> Option<Type> {
        let scope = Scope::unit(prototype_scope.unit_id());
        self.named_type(name, member, &scope)
    }

    /// Resolves a type of a block, to report what is wrong with it even if nothing uses it.
    pub(crate) fn local_definition(&self, def: &TypeDef, scope: &Scope<'w>) {
        self.local_type(&def.name, scope);
    }

    /// A type of a unit's top level.
    pub(crate) fn unit_type(&self, unit: UnitId, def: &'w TypeDef, asked: &Ident) -> Option<Type> {
        let slot = {
            let mut units = self.definitions.units.borrow_mut();
            units.entry(std::ptr::from_ref(def)).or_default().clone()
        };
        let scope = Scope::unit(unit);
        let result =
            self.resolve_definition(&slot, asked, || self.definition_body(&def.body, &scope));
        self.found_type(self.report_circular(result, def, asked), def, asked)
    }

    /// Notes that a name means a type definition, and answers with the type.
    fn found_type(&self, ty: Option<Type>, def: &TypeDef, asked: &Ident) -> Option<Type> {
        self.note_use(asked.span, def.name.span, ty.as_ref());
        self.note_declaration(|| NameDeclaration {
            head: def.span,
            ..NameDeclaration::new(DeclarationKind::Type, &def.name, ty.clone())
        });
        ty
    }

    /// `C.T`: a static type of a composite, or any type of the composite around.
    fn member_type(&self, name: &QName, member: &Ident, scope: &Scope<'w>) -> Option<Type> {
        let unit = scope.unit_id();
        let found =
            self.symbols
                .definition(unit, name, DefinitionKind::Operator, &self.diagnostics)?;
        let Definition::Composite(owner, composite) = found else {
            let message = format!(
                "`{}` is a primitive operator and has no types",
                name.name.text
            );
            return self.fail("unknown-type", name.span, message);
        };
        self.note_use(name.name.span, composite.name.span, None);
        self.composite_member(owner, composite, member, scope)
    }

    fn composite_member(
        &self,
        owner: UnitId,
        composite: &'w Composite,
        member: &Ident,
        scope: &Scope<'w>,
    ) -> Option<Type> {
        let own = scope
            .composite_scope()
            .filter(|composite_scope| std::ptr::eq(composite_scope.ast, composite));
        let Some(def) = composite.types.iter().find(|t| t.name.text == member.text) else {
            if self.note_poisoned(DeclarationKind::Type, &member.text) {
                return None;
            }
            let message = format!(
                "composite `{}` has no type `{}`",
                composite.name.text, member.text
            );
            let finding = Diagnostic::error("unknown-type", member.span, message);
            let names = || composite.types.iter().map(|t| &*t.name.text);
            let suggestions = &self.symbols.suggestions;
            self.report(suggestions.did_you_mean(finding, &member.text, names));
            return None;
        };
        if !def.is_static && own.is_none() {
            let (c, t) = (&composite.name.text, &member.text);
            let message = format!("type `{t}` of composite `{c}` is not static");
            let finding = Diagnostic::error("non-static-type", member.span, message)
                .label(def.name.span, "defined here")
                .help(format!(
                    "define it as `static {t} = ...` to use it outside of `{c}`"
                ));
            self.report(finding);
            return None;
        }
        let scope = match own {
            Some(_) => scope.outside_operator(),
            None => self.static_scope(owner, composite),
        };
        let composite_scope = scope.composite_scope()?.clone();
        self.composite_type(&composite_scope, member, &scope)?
    }

    /// The scope in which the static types of a composite are resolved once for all.
    pub(crate) fn static_scope(&self, unit: UnitId, composite: &'w Composite) -> Scope<'w> {
        let key = std::ptr::from_ref(composite);
        if let Some(scope) = self.definitions.statics.borrow().get(&key) {
            return scope.clone();
        }
        let composite_scope = CompositeScope::new(unit, composite, "", &self.diagnostics);
        let scope = Scope::composite(Rc::new(composite_scope));
        self.definitions
            .statics
            .borrow_mut()
            .insert(key, scope.clone());
        scope
    }

    /// Types that the levels of a scope define. `None`: no such name; `Some(None)`: it is broken.
    fn local_type(&self, name: &Ident, scope: &Scope<'w>) -> Option<Option<Type>> {
        let outer = scope.outside_operator();
        for level in scope.levels() {
            let found = match level {
                ScopeLevel::Block(block) => self.block_type(block, name, scope),
                ScopeLevel::Operator(operator) => {
                    if let Some(&port) = operator.inputs_named(&name.text).first() {
                        let port = &operator.inputs[port];
                        self.note_port(name, port.alias.as_ref(), port.schema.as_ref(), scope);
                        Some(port.schema.clone().map(Type::Tuple))
                    } else {
                        self.output_alias_type(operator, name, scope)
                    }
                }
                ScopeLevel::Composite(composite_scope) => {
                    let of_type = self.composite_type(composite_scope, name, &outer);
                    of_type.or_else(|| self.stream_type(composite_scope, name, &outer))
                }
                ScopeLevel::Unit(_) | ScopeLevel::Default => None,
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The type of an output port by its alias; its stream is found in the composite.
    fn output_alias_type(
        &self,
        operator: &OperatorScope,
        name: &Ident,
        scope: &Scope<'w>,
    ) -> Option<Option<Type>> {
        let composite_scope = scope.composite_scope();
        if composite_scope.is_some_and(|scope| scope.stream(&name.text).is_some()) {
            return None;
        }
        let port = operator.output(&name.text)?;
        Some(operator.outputs[port].schema.clone().map(Type::Tuple))
    }

    fn block_type(
        &self,
        block: &BlockScope<'w>,
        name: &Ident,
        scope: &Scope<'w>,
    ) -> Option<Option<Type>> {
        let local = block.types.borrow().get(&name.text).cloned()?;
        let resolve = || self.definition_body(&local.def.body, scope);
        let result = self.resolve_definition(&local.resolved, name, resolve);
        let ty = self.report_circular(result, local.def, name);
        Some(self.found_type(ty, local.def, name))
    }

    /// A type of the composite's own; `None`: it has no such type.
    pub(crate) fn composite_type(
        &self,
        composite_scope: &CompositeScope<'w>,
        name: &Ident,
        outer: &Scope<'w>,
    ) -> Option<Option<Type>> {
        let local = composite_scope.ty(&name.text)?;
        let resolve = || self.definition_body(&local.def.body, outer);
        let result = self.resolve_definition(&local.resolved, name, resolve);
        let ty = self.report_circular(result, local.def, name);
        Some(self.found_type(ty, local.def, name))
    }

    fn stream_type(
        &self,
        composite_scope: &CompositeScope<'w>,
        name: &Ident,
        outer: &Scope<'w>,
    ) -> Option<Option<Type>> {
        let stream = composite_scope.stream(&name.text)?;
        let ty = self.stream_schema(&stream, outer).map(Type::Tuple);
        self.note_use(name.span, stream.span, ty.as_ref());
        Some(ty)
    }

    /// Notes that a name means a port of an operator: its alias, or a stream of the composite.
    pub(crate) fn note_port(
        &self,
        name: &Ident,
        alias: Option<&Ident>,
        schema: Option<&Arc<TupleType>>,
        scope: &Scope<'w>,
    ) {
        let Some(names) = self.name_recorder() else {
            return;
        };
        let ty = schema.cloned().map(Type::Tuple);
        if let Some(alias) = alias.filter(|alias| alias.text == name.text) {
            names.add_declaration(NameDeclaration::new(
                DeclarationKind::Stream,
                alias,
                ty.clone(),
            ));
            return self.note_use(name.span, alias.span, ty.as_ref());
        }
        let stream = scope
            .composite_scope()
            .and_then(|scope| scope.stream(&name.text));
        if let Some(stream) = stream {
            self.note_use(name.span, stream.span, ty.as_ref());
        }
    }

    fn report_circular(
        &self,
        result: Result<Option<Type>, CircularDefinition>,
        def: &TypeDef,
        asked: &Ident,
    ) -> Option<Type> {
        result.unwrap_or_else(|CircularDefinition| {
            let message = format!("type `{}` is defined in terms of itself", def.name.text);
            let finding = Diagnostic::error("circular-type", asked.span, message);
            self.report(finding.label(def.name.span, "its definition"));
            None
        })
    }

    /// `$T`: what was passed for a formal of mode `type`.
    fn formal_type(&self, name: &Ident, scope: &Scope<'w>) -> Option<Type> {
        let (actual, scope) = self.formal(name, scope, "type", |m| matches!(m, Mode::Type))?;
        match actual {
            Actual::Type(ty) => self.resolve_type(ty, &scope),
            Actual::Exprs(list) => match &list[..] {
                [one] => self.expr_as_type(one, &scope),
                _ => self.fail(
                    "bad-actual",
                    name.span,
                    format!("`{}` needs one type", name.text),
                ),
            },
        }
    }

    /// The actual of a formal, and the scope in which it was written; reports a formal of another
    /// mode.
    pub fn formal(
        &self,
        name: &Ident,
        scope: &Scope<'w>,
        wanted: &str,
        fits: impl Fn(&Mode) -> bool,
    ) -> Option<(&'w Actual, Scope<'w>)> {
        if scope.is_default() {
            self.report(formal_in_default(name));
            return None;
        }
        if scope.has_variable(&name.text) {
            // That its name begins with `$` was reported where it is declared.
            self.diagnostics.note_poisoned();
            return None;
        }
        let Some(composite_scope) = scope.composite_scope() else {
            let message = format!("there is no composite parameter `{}` here", name.text);
            return self.fail("unknown-formal", name.span, message);
        };
        let Some(formal) = composite_scope
            .ast
            .params
            .iter()
            .find(|p| p.name.text == name.text)
        else {
            if self.note_poisoned(DeclarationKind::Formal, &name.text) {
                return None;
            }
            let message = format!(
                "composite `{}` has no parameter `{}`",
                composite_scope.ast.name.text, name.text
            );
            let finding = Diagnostic::error("unknown-formal", name.span, message);
            let names = || composite_scope.ast.params.iter().map(|p| &*p.name.text);
            let suggestions = &self.symbols.suggestions;
            self.report(suggestions.did_you_mean(finding, &name.text, names));
            return None;
        };
        self.note_use(name.span, formal.name.span, None);
        if !fits(&formal.mode) {
            let (name_, mode) = (&name.text, mode_word(&formal.mode));
            let message = format!("`{name_}` is of mode {mode}, and {wanted} is needed here");
            let finding = Diagnostic::error("wrong-mode", name.span, message);
            self.report(finding.label(formal.span, "declared here"));
            return None;
        }
        let binding = composite_scope.binding(&name.text)??;
        Some((binding.actual, binding.actual_scope(composite_scope)))
    }

    /// A type that was written where an expression could stand too: a name, `C.T`.
    pub fn expr_as_type(&self, expr: &'w Expr, scope: &Scope<'w>) -> Option<Type> {
        match &expr.kind {
            ExprKind::Name(name) => self.named_type(name, None, scope),
            ExprKind::Paren(inner) => self.expr_as_type(inner, scope),
            ExprKind::Field(base, member) => match &base.kind {
                ExprKind::Name(name) => self.member_type(name, member, scope),
                _ => self.fail("not-a-type", expr.span, "a type is needed here"),
            },
            ExprKind::Error => None,
            _ => self.fail("not-a-type", expr.span, "a type is needed here"),
        }
    }

    /// Adds what may be meant to the report of an unknown type; `None` if another report says it.
    fn hint_type(
        &self,
        finding: Diagnostic,
        name: &QName,
        scope: &Scope<'w>,
    ) -> Option<Diagnostic> {
        if finding.code != "unknown-type" || name.namespace.is_some() {
            return Some(finding);
        }
        let Some(composite_scope) = scope.composite_scope() else {
            return Some(finding);
        };
        let composite = composite_scope.ast;
        // Static types are resolved without an instance, and so without its streams.
        if stream_names(composite).any(|stream| *stream == *name.name.text) {
            let mut plain = composite.types.iter().filter(|def| !def.is_static);
            let (start, end) = (name.span.start, name.span.end);
            // A static type that is made of one that is not is reported by itself.
            let is_told = self.symbols.unit(composite_scope.unit).is_checked
                && plain.any(|def| def.span.start <= start && end <= def.span.end);
            return (!is_told).then(|| static_type_of_stream(&name.name));
        }
        let mut streams = Vec::new();
        let suggestions = &self.symbols.suggestions;
        Some(suggestions.did_you_mean(finding, &name.name.text, || {
            streams = composite_scope.stream_names();
            let types = composite_scope.type_names().map(|s| -> &str { s });
            streams.iter().map(|s| &**s).chain(types)
        }))
    }
}

/// The word for a formal's mode.
pub(crate) fn mode_word(mode: &Mode) -> &'static str {
    match mode {
        Mode::Attribute => "attribute",
        Mode::Expression(_) => "expression",
        Mode::Function => "function",
        Mode::Operator => "operator",
        Mode::Type => "type",
    }
}

/// The error of a formal in the default of a formal.
pub(crate) fn formal_in_default(name: &Ident) -> Diagnostic {
    let message = format!("the default of a parameter cannot refer to `{}`", name.text);
    Diagnostic::error("formal-in-default", name.span, message)
}

/// Names of the ports and streams of a composite.
pub(crate) fn stream_names(composite: &Composite) -> impl Iterator<Item = &str> {
    let ports = composite.inputs.iter().chain(&composite.outputs);
    let streams = composite
        .graph
        .iter()
        .flat_map(|invocation| &invocation.outputs);
    let ports = ports.map(|port| &*port.name.text);
    ports.chain(streams.map(|stream| &*stream.name.text))
}

/// The error of a port or stream in a static type.
pub(crate) fn static_type_of_stream(name: &Ident) -> Diagnostic {
    let message = format!(
        "a static type cannot be made of stream `{}`, which only an instance of the composite has",
        name.text
    );
    Diagnostic::error("static-type-part", name.span, message)
        .help("write the type of the stream out, or leave `static` out")
}
