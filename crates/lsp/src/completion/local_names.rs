//! Names that the syntax tree declares around the cursor: variables, formals and state.

use lsp_types::CompletionItemKind;
use syntax::ast::{Block, Composite, Function, Item, LocalDecl, Logic, Stmt, StmtKind};
use syntax::{FileId, Span, SyntaxKind};

use super::candidates::Candidates;

/// Adds the variables, formals of functions and composites, and state variables that are declared
/// before the cursor, in the constructs around it. Only the part of the definition that stands
/// before the cursor is parsed: what comes behind declares nothing that can be seen there.
pub fn add_local_names(candidates: &mut Candidates<'_>) {
    let context = candidates.context;
    let part = context.definition_start as usize..context.word_start as usize;
    let text = candidates.text.get(part).unwrap_or_default();
    let parsed = syntax::parse(FileId::default(), text);
    let mut names = LocalNames {
        text,
        offset: text.len() as u32,
        found: Vec::new(),
    };
    for item in &parsed.unit.items {
        match item {
            Item::Composite(composite) if names.is_around(composite.span) => {
                names.composite(composite);
            }
            Item::Function(function) if names.is_around(function.span) => {
                names.function(function);
            }
            _ => {}
        }
    }
    // The innermost were found last.
    for (name, ty) in names.found.iter().rev() {
        let ty = ty.and_then(|ty| {
            let range = ty.start as usize..ty.end as usize;
            text.get(range)
        });
        candidates.add_name(name, CompletionItemKind::VARIABLE, ty.unwrap_or_default());
    }
}

/// Whether a text closes as many braces as it opens.
fn is_closed(text: &str) -> bool {
    let (tokens, _) = syntax::tokens(FileId::default(), text);
    let count = |kind| tokens.iter().filter(|token| token.kind == kind).count();
    count(SyntaxKind::LBrace) <= count(SyntaxKind::RBrace)
}

/// Names found so far, outermost first, with the places of their types.
struct LocalNames<'a> {
    text: &'a str,
    offset: u32,
    found: Vec<(&'a str, Option<Span>)>,
}

impl<'a> LocalNames<'a> {
    /// Whether a construct is around the cursor. One without its closing brace ends with its last
    /// token, and the blanks behind that belong to it.
    fn is_around(&self, span: Span) -> bool {
        if span.start > self.offset || self.offset <= span.end {
            return span.start <= self.offset;
        }
        let text = |start: u32, end: u32| self.text.get(start as usize..end as usize);
        let behind = text(span.end, self.offset).unwrap_or("?");
        let inside = text(span.start, span.end).unwrap_or_default();
        behind.trim().is_empty() && !is_closed(inside)
    }

    fn composite(&mut self, composite: &'a Composite) {
        for formal in &composite.params {
            self.found.push((&formal.name.text, None));
        }
        for invocation in &composite.graph {
            if !self.is_around(invocation.span) {
                continue;
            }
            for entry in &invocation.logic {
                if let Logic::State(declarations) = entry {
                    declarations.iter().for_each(|one| self.declaration(one));
                }
            }
            for entry in &invocation.logic {
                match entry {
                    Logic::State(_) => {}
                    Logic::OnTuple(_, stmt) | Logic::OnPunct(_, stmt) => self.statement(stmt),
                    Logic::OnProcess(_, stmt) => self.statement(stmt),
                }
            }
        }
    }

    fn function(&mut self, function: &'a Function) {
        for param in &function.params {
            self.found.push((&param.name.text, Some(param.ty.span)));
        }
        self.block(&function.body);
    }

    fn block(&mut self, block: &'a Block) {
        for stmt in &block.stmts {
            if stmt.span.start >= self.offset {
                break;
            }
            match &stmt.kind {
                StmtKind::Local(declaration) if declaration.span.end <= self.offset => {
                    self.declaration(declaration);
                }
                _ => self.statement(stmt),
            }
        }
    }

    fn declaration(&mut self, declaration: &'a LocalDecl) {
        for (name, _) in &declaration.vars {
            self.found.push((&name.text, Some(declaration.ty.span)));
        }
    }

    /// Names within a statement around the cursor.
    fn statement(&mut self, stmt: &'a Stmt) {
        let mut next = Some(stmt);
        while let Some(stmt) = next.take() {
            if !self.is_around(stmt.span) {
                return;
            }
            match &stmt.kind {
                StmtKind::Block(block) => self.block(block),
                StmtKind::While(_, body) => next = Some(body),
                StmtKind::For(ty, name, _, body) => {
                    self.found.push((&name.text, Some(ty.span)));
                    next = Some(body);
                }
                StmtKind::If(_, then, otherwise) => {
                    let inner = otherwise.as_deref();
                    let inner = inner.filter(|inner| self.is_around(inner.span));
                    next = Some(inner.unwrap_or(then));
                }
                _ => {}
            }
        }
    }
}
