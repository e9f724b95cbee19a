//! How the nodes of a source file are laid out, down to statements and expressions.

use super::emit::Emitter;
use super::layout::LayoutCommand::{self, *};
use crate::SyntaxKind::{self, *};
use crate::node_view::{SyntaxElementView, SyntaxNodeView, SyntaxTokenView};

/// Walks a tree and emits its layout.
#[derive(Default)]
pub(super) struct Formatter<'a> {
    emitter: Emitter<'a>,
}

impl<'a> Formatter<'a> {
    pub(super) fn finish(self) -> Vec<LayoutCommand<'a>> {
        self.emitter.finish()
    }

    pub(super) fn push(&mut self, command: LayoutCommand<'a>) {
        self.emitter.push(command);
    }

    pub(super) fn newline(&mut self) {
        self.emitter.newline();
    }

    /// The end of a line without an empty line after it.
    pub(super) fn newline_without_blank(&mut self) {
        self.push(Newline { blank: false });
    }

    pub(super) fn previous(&self) -> Option<SyntaxKind> {
        self.emitter.previous()
    }

    /// Everything of a node that is no trivia, in order. Trivia goes to the emitter on the way, so
    /// a separator that `visit` pushes comes after it is known.
    pub(super) fn parts(
        &mut self,
        node: SyntaxNodeView<'a>,
        mut visit: impl FnMut(&mut Self, SyntaxElementView<'a>),
    ) {
        for element in node.elements() {
            match element {
                SyntaxElementView::Token(leaf) if leaf.kind.is_trivia() => {
                    self.emitter.trivia(leaf)
                }
                _ => visit(self, element),
            }
        }
    }

    /// A child as it is.
    pub(super) fn element(&mut self, element: SyntaxElementView<'a>) {
        match element {
            SyntaxElementView::Token(leaf) => self.token(leaf),
            SyntaxElementView::Node(node) => self.node(node),
        }
    }

    pub(super) fn token(&mut self, leaf: SyntaxTokenView<'a>) {
        self.emitter.token(leaf);
    }

    /// Items with an empty line between, except between `use` and between types.
    pub(super) fn unit(&mut self, root: SyntaxNodeView<'a>) {
        let mut before = None;
        self.parts(root, |this, element| {
            let kind = element.kind();
            if let Some(before) = before {
                let is_run = before == kind && matches!(kind, UseDecl | TypeItem);
                let blank = !is_run || this.emitter.has_blank_line_before();
                this.push(Newline { blank });
            }
            before = Some(kind);
            this.element(element);
        });
        self.newline();
    }

    pub(super) fn node(&mut self, node: SyntaxNodeView<'a>) {
        match node.kind() {
            Composite | Invocation => self.definition(node),
            CompositeBody | InvocationBody | Block => self.braces(node),
            ParamClause | TypeClause | GraphClause | ConfigClause | LogicClause | WindowClause
            | ArgumentClause | OutputClause => self.clause(node),
            Formal | Argument | ConfigEntry | WindowEntry => self.entry(node),
            OutputEntry => self.output_entry(node),
            StateEntry => self.state(node),
            TypeDef => self.type_definition(node),
            TupleBody => self.commas(node),
            StreamType | TupleType => self.angle(node),
            Head | PortList | InputList | FormalList | ArgList | AnnotationArgs | EnumType
            | ListExpr | SetExpr | MapExpr | TupleExpr => self.delimited(node),
            PrimitiveType | NamedType | StringType | XmlType | ListType | SetType | MapType
            | OptionalType | Dim | Mode | Annotation | NamespaceName | QName | Name => {
                self.unspaced_parts(node);
            }
            LocalDecl => self.declaration(node),
            IfStmt | WhileStmt | ForStmt => self.control(node),
            kind if is_expr(kind) => self.expr(node),
            _ => self.spaced_parts(node),
        }
    }

    /// Parts with blanks between, none before punctuation that ends or joins.
    pub(super) fn spaced_parts(&mut self, node: SyntaxNodeView<'a>) {
        let mut is_first = true;
        self.parts(node, |this, element| {
            let is_tight = matches!(element.kind(), Semi | Comma | FormalList | ColonColon)
                || matches!(this.previous(), Some(ColonColon));
            if !is_first && !is_tight {
                this.push(Space);
            }
            is_first = false;
            this.element(element);
        });
    }

    /// Parts without blanks, but one after a comma.
    fn unspaced_parts(&mut self, node: SyntaxNodeView<'a>) {
        let mut is_first = true;
        self.parts(node, |this, element| {
            if !is_first && this.previous() == Some(Comma) {
                this.push(Space);
            }
            is_first = false;
            this.element(element);
        });
    }

    /// Annotations a line each, then words; ports stand close to the name.
    fn definition(&mut self, node: SyntaxNodeView<'a>) {
        let mut before = None;
        self.parts(node, |this, element| {
            let kind = element.kind();
            match (before, kind) {
                (None, _) | (_, PortList | InputList) => {}
                (Some(Annotation), _) => this.newline_without_blank(),
                (Some(Eq), _) => {
                    this.push(Indent);
                    this.push(Fill);
                    this.element(element);
                    this.push(Dedent);
                    before = Some(kind);
                    return;
                }
                _ => this.push(Space),
            }
            before = Some(kind);
            this.element(element);
        });
    }

    /// `{`, one child a line, `}`; `{}` if there is nothing.
    fn braces(&mut self, node: SyntaxNodeView<'a>) {
        let is_empty = node.elements().all(|element| match element {
            SyntaxElementView::Node(_) => false,
            SyntaxElementView::Token(leaf) => matches!(leaf.kind, LBrace | RBrace | Whitespace),
        });
        self.parts(node, |this, element| match element.kind() {
            LBrace => {
                this.element(element);
                if !is_empty {
                    this.push(Indent);
                }
            }
            RBrace => {
                if !is_empty {
                    this.push(Dedent);
                    this.newline_without_blank();
                }
                this.element(element);
            }
            _ => {
                match this.previous() {
                    Some(LBrace) => this.newline_without_blank(),
                    _ => this.newline(),
                }
                this.element(element);
            }
        });
    }

    /// The keyword, then one entry a line.
    fn clause(&mut self, node: SyntaxNodeView<'a>) {
        let mut count = 0;
        self.parts(node, |this, element| {
            match count {
                0 => {}
                1 => {
                    this.push(Indent);
                    this.newline_without_blank();
                }
                _ => this.newline(),
            }
            count += 1;
            this.element(element);
        });
        if count > 1 {
            self.push(Dedent);
        }
    }

    /// `name : a, b;`, broken after commas.
    fn entry(&mut self, node: SyntaxNodeView<'a>) {
        let mut is_open = false;
        let mut is_first = true;
        self.parts(node, |this, element| {
            let after_colon = is_open;
            match element.kind() {
                Semi => this.end_values(&mut is_open),
                Comma => {}
                _ if this.previous() == Some(Comma) && after_colon => this.push(Fill),
                _ if is_first => {}
                _ => this.push(Space),
            }
            is_first = false;
            this.element(element);
            if element.kind() == Colon && !after_colon {
                this.push(Open);
                this.push(Indent);
                is_open = true;
            }
        });
        self.end_values(&mut is_open);
    }

    /// Ends the group of a list of values if it was begun.
    pub(super) fn end_values(&mut self, is_open: &mut bool) {
        if std::mem::take(is_open) {
            self.push(Dedent);
            self.push(Close);
        }
    }

    /// `Port : a = 1, b = 2;`: if it is too long, one assignment a line below the port.
    fn output_entry(&mut self, node: SyntaxNodeView<'a>) {
        let mut is_open = false;
        self.parts(node, |this, element| {
            match element.kind() {
                Semi => this.end_values(&mut is_open),
                Colon => this.push(Space),
                OutputAssign => this.push(Line),
                _ => {}
            }
            this.element(element);
            if element.kind() == Colon {
                this.push(Open);
                this.push(Indent);
                is_open = true;
            }
        });
        self.end_values(&mut is_open);
    }

    /// `state : { declarations }` or `state : declaration`.
    fn state(&mut self, node: SyntaxNodeView<'a>) {
        let mut is_first = true;
        let mut in_braces = false;
        self.parts(node, |this, element| {
            match element.kind() {
                _ if is_first => {}
                LocalDecl if this.previous() == Some(LBrace) => this.newline_without_blank(),
                LocalDecl if in_braces => this.newline(),
                RBrace if this.previous() != Some(LBrace) => {
                    this.push(Dedent);
                    this.newline_without_blank();
                }
                RBrace => this.push(Dedent),
                _ => this.push(Space),
            }
            is_first = false;
            this.element(element);
            if element.kind() == LBrace {
                in_braces = true;
                this.push(Indent);
            }
        });
    }

    /// `static T = type;`; a tuple body that is too long goes below, one attribute a line.
    fn type_definition(&mut self, node: SyntaxNodeView<'a>) {
        let mut is_first = true;
        self.parts(node, |this, element| match element.kind() {
            TupleBody => {
                this.push(Open);
                this.push(Indent);
                this.push(Line);
                this.element(element);
                this.push(Dedent);
                this.push(Close);
            }
            kind => {
                if !is_first && kind != Semi {
                    this.push(Space);
                }
                is_first = false;
                this.element(element);
            }
        });
    }

    /// Lays out a type with arguments, `stream<...>` or `tuple<...>`.
    fn angle(&mut self, node: SyntaxNodeView<'a>) {
        self.parts(node, |this, element| match element.kind() {
            TupleBody => {
                this.push(Open);
                this.push(Indent);
                this.push(SoftLine);
                this.element(element);
                this.push(Dedent);
                this.push(SoftLine);
                this.push(Close);
            }
            _ => this.element(element),
        });
    }

    /// Elements with `,` or `;` between, in the group of what is around.
    fn commas(&mut self, node: SyntaxNodeView<'a>) {
        let mut is_first = true;
        self.parts(node, |this, element| {
            if !is_first && this.previous() == Some(Comma) {
                this.push(Fill);
            }
            is_first = false;
            this.element(element);
        });
    }

    /// A bracket, elements, a bracket: on one line, or one element a line.
    fn delimited(&mut self, node: SyntaxNodeView<'a>) {
        let is_plain = is_plain(node);
        let between = match node.kind() {
            EnumType | ListExpr | SetExpr => Fill,
            _ if is_plain => Space,
            _ => Line,
        };
        let inside = match node.kind() {
            EnumType => Line,
            _ => SoftLine,
        };
        let mut depth = 0;
        let mut is_first = true;
        self.parts(node, |this, element| {
            let kind = element.kind();
            match kind {
                RParen | RBracket | RBrace if depth > 0 => {
                    this.push(Dedent);
                    this.push(inside);
                    this.push(Close);
                    depth -= 1;
                }
                Comma | Semi | RParen | RBracket | RBrace => {}
                _ if is_first => {}
                _ if matches!(this.previous(), Some(Comma | Semi)) => this.push(between),
                _ if matches!(this.previous(), Some(LParen | LBracket | LBrace)) => {}
                _ => this.push(Space),
            }
            is_first = false;
            this.element(element);
            if matches!(kind, LParen | LBracket | LBrace) && !is_plain {
                this.push(Open);
                this.push(Indent);
                this.push(inside);
                depth += 1;
            }
        });
    }
}

/// A list that is no group of its own: an empty one, and arguments that begin with a literal in
/// brackets and go on with names (`submit({a = 1}, Out)`), where the literal breaks instead.
fn is_plain(node: SyntaxNodeView) -> bool {
    let mut kinds = node.nodes().map(SyntaxNodeView::kind);
    match kinds.next() {
        None => true,
        Some(ListExpr | SetExpr | MapExpr | TupleExpr) => {
            node.kind() == ArgList && kinds.all(|kind| matches!(kind, QName | Literal))
        }
        Some(_) => false,
    }
}

/// Whether a node of this kind is laid out by [`super::expr`].
fn is_expr(kind: SyntaxKind) -> bool {
    matches!(
        kind,
        Literal
            | CallExpr
            | FieldExpr
            | IndexExpr
            | SliceExpr
            | PrefixExpr
            | PostfixExpr
            | BinaryExpr
            | AssignExpr
            | ConditionalExpr
            | CastExpr
            | ParenExpr
    )
}
