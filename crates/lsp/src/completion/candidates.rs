//! Candidates: the items for the place of the cursor.

use std::collections::HashSet;

use compiler::NameDeclaration;
use lsp_types::{CompletionItem, CompletionItemKind};
use syntax::{DeclarationKind, FileId, SyntaxKind};
use tuple::{TupleType, Type};

use super::cursor_place::{CursorContext, CursorPlace, WrittenPort};
use super::{library_items, local_names, members};
use crate::analysed_document::{AnalysedDocument, MAIN_FILE};
use crate::hover::declaration_text;

/// Items at most: a client filters thousands with every letter typed.
const ITEMS_MAX: usize = 2_000;

/// Collector of items for one place.
pub struct Candidates<'c> {
    /// Surroundings of the cursor.
    pub context: &'c CursorContext,
    /// Text of the document.
    pub text: &'c str,
    items: Vec<CompletionItem>,
    labels: HashSet<String>,
}

impl<'c> Candidates<'c> {
    /// A collector without items yet.
    pub fn new(context: &'c CursorContext, text: &'c str) -> Candidates<'c> {
        Candidates {
            context,
            text,
            items: Vec::new(),
            labels: HashSet::new(),
        }
    }

    /// The items, those added first at the top.
    pub fn into_items(mut self) -> Vec<CompletionItem> {
        self.items.truncate(ITEMS_MAX);
        for (at, item) in self.items.iter_mut().enumerate() {
            item.sort_text = Some(format!("{at:04}"));
        }
        self.items
    }

    /// Adds an item, unless one of its name is there.
    pub fn add(&mut self, item: CompletionItem) {
        if self.labels.insert(item.label.clone()) {
            self.items.push(item);
        }
    }

    /// Adds a name with what is shown behind it.
    pub fn add_name(&mut self, name: &str, kind: CompletionItemKind, detail: &str) {
        self.add(CompletionItem {
            label: name.to_owned(),
            kind: Some(kind),
            detail: (!detail.is_empty()).then(|| detail.to_owned()),
            ..CompletionItem::default()
        });
    }

    /// Adds words of the language.
    pub fn add_words(&mut self, words: &[&str]) {
        for word in words {
            self.add_name(word, CompletionItemKind::KEYWORD, "");
        }
    }

    /// Adds all that fits the place. `last` is the last analysis of the document.
    pub fn collect(&mut self, last: Option<&AnalysedDocument>, offset: u32) {
        let context = self.context;
        match &context.place {
            CursorPlace::Nothing => {}
            CursorPlace::Definition => self.add_words(DEFINITION_WORDS),
            CursorPlace::Import => library_items::add_namespaces(self),
            CursorPlace::CompositeClause => self.add_words(COMPOSITE_CLAUSES),
            CursorPlace::CompositePorts => self.add_words(&["input", "output", "stream"]),
            CursorPlace::Formal => self.add_words(FORMAL_MODES),
            CursorPlace::Invocation => self.add_words(&["stream"]),
            CursorPlace::Operator => {
                self.add_definitions(last, DeclarationKind::Composite);
                library_items::add_operators(self);
            }
            CursorPlace::InputStream => self.add_streams(last),
            CursorPlace::InvocationClause => self.add_words(INVOCATION_CLAUSES),
            CursorPlace::Parameter => self.add_parameters(last),
            CursorPlace::ParameterValue(name) => {
                library_items::add_literals(self, name);
                self.add_values(last);
            }
            CursorPlace::OutputPort => self.add_ports(last, &context.outputs),
            CursorPlace::OutputAttribute(port) => self.add_output_attributes(last, port),
            CursorPlace::OutputValue => {
                library_items::add_output_functions(self);
                self.add_values(last);
            }
            CursorPlace::InputPort => self.add_ports(last, &context.inputs),
            CursorPlace::Window => {
                self.add_words(WINDOW_WORDS);
                self.add_attributes(last);
            }
            CursorPlace::Logic => {
                self.add_words(&["onTuple", "onPunct", "onProcess", "state"]);
            }
            CursorPlace::Statement => {
                self.add_values(last);
                self.add_words(STATEMENT_WORDS);
                self.add_types(last);
            }
            CursorPlace::Expression => self.add_values(last),
            CursorPlace::ConfigName => self.add_words(&compiler::CONFIG_KINDS),
            CursorPlace::Type => {
                self.add_types(last);
                self.add_streams(last);
            }
            CursorPlace::Member(names) => members::add_members(self, last, names, offset),
        }
    }

    /// Adds all that an expression can name: variables, attributes, ports and functions.
    fn add_values(&mut self, last: Option<&AnalysedDocument>) {
        local_names::add_local_names(self);
        self.add_attributes(last);
        let inputs = &self.context.inputs;
        self.add_ports(last, inputs);
        let outputs = &self.context.outputs;
        self.add_ports(last, outputs);
        self.add_definitions(last, DeclarationKind::Function);
        library_items::add_functions(self);
        self.add_words(&["true", "false", "null"]);
        self.add_composites_with_members();
    }

    fn add_composites_with_members(&mut self) {
        for name in ["Sys", "Trace", "Log"] {
            self.add_name(name, CompletionItemKind::MODULE, "");
        }
    }

    /// Attributes of the input ports.
    fn add_attributes(&mut self, last: Option<&AnalysedDocument>) {
        for port in &self.context.inputs {
            if let Some(schema) = self.schema(last, port) {
                self.add_schema(&schema);
            }
        }
    }

    /// Adds the attributes of a tuple type.
    pub fn add_schema(&mut self, schema: &TupleType) {
        for attribute in &schema.attributes {
            let detail = attribute.ty.to_string();
            self.add_name(&attribute.name, CompletionItemKind::FIELD, &detail);
        }
    }

    fn add_output_attributes(&mut self, last: Option<&AnalysedDocument>, port: &str) {
        let mut outputs = self.context.outputs.iter();
        let found = outputs.find(|output| output.names().any(|name| name == port));
        if let Some(schema) = found.and_then(|output| self.schema(last, output)) {
            self.add_schema(&schema);
        }
    }

    /// Names of ports, with their types.
    fn add_ports(&mut self, last: Option<&AnalysedDocument>, ports: &[WrittenPort]) {
        for port in ports {
            let schema = self.schema(last, port);
            let detail = schema.map_or(String::new(), |schema| format!("stream<{schema}>"));
            for name in port.names() {
                self.add_name(name, CompletionItemKind::VARIABLE, &detail);
            }
        }
    }

    /// The tuple type of a port: that of its first stream.
    pub fn schema(
        &self,
        last: Option<&AnalysedDocument>,
        port: &WrittenPort,
    ) -> Option<std::sync::Arc<TupleType>> {
        let stream = port.streams.first()?;
        let streams = self.streams(last?);
        let found = streams.into_iter().find(|found| *found.name == **stream)?;
        match &found.ty {
            Some(Type::Tuple(schema)) => Some(schema.clone()),
            _ => None,
        }
    }

    /// The streams of the composite around the cursor.
    fn streams<'a>(&self, last: &'a AnalysedDocument) -> Vec<&'a NameDeclaration> {
        let declarations = last.analysis.names.declarations();
        let Some(composite) = &self.context.composite else {
            return Vec::new();
        };
        let is_around = |found: &&NameDeclaration| {
            found.kind == DeclarationKind::Composite
                && found.span.file == MAIN_FILE
                && *found.name == **composite
        };
        let around = declarations.iter().find(is_around).map(|found| found.span);
        let is_stream = |found: &&NameDeclaration| {
            found.kind == DeclarationKind::Stream && found.within == around
        };
        declarations.iter().filter(is_stream).collect()
    }

    fn add_streams(&mut self, last: Option<&AnalysedDocument>) {
        let streams = last.map(|last| self.streams(last)).unwrap_or_default();
        for stream in streams {
            let detail = stream.ty.as_ref().map_or(String::new(), Type::to_string);
            self.add_name(&stream.name, CompletionItemKind::VARIABLE, &detail);
        }
    }

    /// Parameters of the operator that is invoked.
    fn add_parameters(&mut self, last: Option<&AnalysedDocument>) {
        let Some(operator) = &self.context.operator else {
            return;
        };
        let declarations = last.map_or(&[][..], |last| last.analysis.names.declarations());
        let composite = declarations
            .iter()
            .find(|found| found.kind == DeclarationKind::Composite && *found.name == **operator);
        let Some(composite) = composite else {
            return library_items::add_parameters(self, operator);
        };
        let formals = declarations.iter().filter(|found| {
            found.kind == DeclarationKind::Formal && found.within == Some(composite.span)
        });
        for formal in formals {
            let detail = last.map_or("", |last| last.source(formal.head));
            let name = formal.name.trim_start_matches('$');
            self.add(CompletionItem {
                label: name.to_owned(),
                kind: Some(CompletionItemKind::PROPERTY),
                detail: Some(detail.to_owned()),
                insert_text: Some(format!("{name} : ")),
                ..CompletionItem::default()
            });
        }
    }

    fn add_types(&mut self, last: Option<&AnalysedDocument>) {
        self.add_definitions(last, DeclarationKind::Type);
        let words = SyntaxKind::keywords().filter(|word| SyntaxKind::is_type_word(word));
        self.add_words(&words.collect::<Vec<_>>());
    }

    /// Definitions of the program and of the toolkits that it uses.
    fn add_definitions(&mut self, last: Option<&AnalysedDocument>, kind: DeclarationKind) {
        let Some(last) = last else { return };
        let declarations = last.analysis.names.declarations().iter();
        let item = match kind {
            DeclarationKind::Composite => CompletionItemKind::CLASS,
            DeclarationKind::Function => CompletionItemKind::FUNCTION,
            _ => CompletionItemKind::STRUCT,
        };
        let is_own = |file: FileId| last.uri(file).is_some();
        for found in declarations.filter(|found| found.kind == kind) {
            if is_own(found.span.file) || kind == DeclarationKind::Type {
                let detail = declaration_text(last, found, found.ty.as_ref());
                self.add_name(&found.name, item, &detail);
            }
        }
    }
}

const DEFINITION_WORDS: &[&str] = &[
    "composite",
    "namespace",
    "public",
    "stateful",
    "type",
    "use",
    "void",
];

const COMPOSITE_CLAUSES: &[&str] = &["param", "type", "graph", "config", "static"];

const FORMAL_MODES: &[&str] = &["attribute", "expression", "function", "operator", "type"];

const INVOCATION_CLAUSES: &[&str] = &["logic", "window", "param", "output", "config"];

const STATEMENT_WORDS: &[&str] = &[
    "if", "else", "while", "for", "return", "break", "continue", "mutable", "type", "submit",
];

/// Parts of a window clause.
const WINDOW_WORDS: &[&str] = &[
    "tumbling",
    "sliding",
    "partitioned",
    "timeInterval",
    "session",
    "count",
    "time",
    "delta",
    "punct",
];
