//! Rules that tell the place of the cursor from what is open before it.

use syntax::SyntaxKind;

use super::cursor_place::CursorPlace;
use super::cursor_scan::{CursorScan, OpenConstruct};
use super::head_names::depths;

impl CursorScan<'_> {
    /// The place behind all tokens of the scan.
    pub fn place(&self) -> CursorPlace {
        let last = self.tokens.len().wrapping_sub(1);
        if self.kind(last) == SyntaxKind::Dot {
            return self.member(last);
        }
        if self.is_in_type_arguments() {
            return CursorPlace::Type;
        }
        let is_bracket = self.top().construct == OpenConstruct::Brackets;
        match self.base().construct {
            OpenConstruct::File => self.file_place(is_bracket),
            OpenConstruct::Composite => self.composite_place(is_bracket),
            OpenConstruct::Invocation => self.invocation_place(is_bracket),
            OpenConstruct::Block => self.block_place(is_bracket),
            OpenConstruct::Brackets => CursorPlace::Expression,
        }
    }

    /// Kinds of the tokens of the current entry of the innermost construct that is no bracket.
    fn entry(&self) -> std::ops::Range<usize> {
        self.base().entry.min(self.tokens.len())..self.tokens.len()
    }

    /// Whether the entry has a token of a kind outside of brackets.
    fn entry_has(&self, kind: SyntaxKind) -> bool {
        depths(self, self.entry()).any(|(at, depth)| depth == 0 && self.kind(at) == kind)
    }

    /// `a.b.` with the cursor behind it: the names before the dots.
    fn member(&self, dot: usize) -> CursorPlace {
        let mut names = Vec::new();
        let mut at = dot;
        while self.kind(at) == SyntaxKind::Dot && at > 0 {
            if self.kind(at - 1) != SyntaxKind::Ident {
                return CursorPlace::Nothing;
            }
            names.push(self.word(at - 1).to_owned());
            at = at.wrapping_sub(2);
        }
        names.reverse();
        CursorPlace::Member(names)
    }

    /// Whether a `<` of a type is open in the current entry: `stream<`, `list<int32, `.
    fn is_in_type_arguments(&self) -> bool {
        use SyntaxKind::*;
        let mut open = 0usize;
        for at in self.entry().rev() {
            match self.kind(at) {
                Gt => open += 1,
                Lt if open > 0 => open -= 1,
                Lt => {
                    let before = self.kind(at.wrapping_sub(1));
                    let is_type = matches!(
                        before,
                        StreamKw | TupleKw | ListKw | SetKw | MapKw | OptionalKw | ExpressionKw
                    );
                    // Behind a type comes the name of an attribute.
                    let last = self.kind(self.tokens.len() - 1);
                    return is_type && matches!(last, Lt | Comma);
                }
                Semi | LBrace | RBrace => return false,
                _ => {}
            }
        }
        false
    }

    fn file_place(&self, is_bracket: bool) -> CursorPlace {
        use SyntaxKind::*;
        let entry = self.entry();
        let first = self.kind(entry.start);
        if self.top().construct == OpenConstruct::File && entry.is_empty() {
            return CursorPlace::Definition;
        }
        let last = self.kind(entry.end - 1);
        match (self.base().clause, first) {
            (Some(CompositeKw), _) if is_bracket => CursorPlace::CompositePorts,
            (Some(CompositeKw), _) => CursorPlace::Nothing,
            (_, UseKw) => CursorPlace::Import,
            (_, TypeKw | StaticKw) if self.entry_has(Eq) => CursorPlace::Type,
            (_, NamespaceKw | TypeKw | StaticKw) => CursorPlace::Nothing,
            // Formals of a function.
            _ if is_bracket && matches!(last, LParen | Comma | MutableKw) => CursorPlace::Type,
            (_, PublicKw | StatefulKw) if entry.len() == 1 => CursorPlace::Definition,
            _ => CursorPlace::Nothing,
        }
    }

    fn composite_place(&self, is_bracket: bool) -> CursorPlace {
        use SyntaxKind::*;
        let entry = self.entry();
        match self.base().clause {
            None => CursorPlace::CompositeClause,
            Some(GraphKw) => self.head_place(is_bracket),
            Some(TypeKw) if entry.is_empty() => CursorPlace::CompositeClause,
            Some(TypeKw) if self.entry_has(Eq) => CursorPlace::Type,
            Some(ParamKw) if entry.is_empty() => CursorPlace::Formal,
            Some(ParamKw | ConfigKw) if self.entry_has(Colon) => CursorPlace::Expression,
            Some(ConfigKw) if entry.is_empty() => CursorPlace::ConfigName,
            _ => CursorPlace::Nothing,
        }
    }

    /// In the head of an invocation, or before one.
    fn head_place(&self, is_bracket: bool) -> CursorPlace {
        use SyntaxKind::*;
        let entry = self.entry();
        let last = self.kind(entry.end.wrapping_sub(1));
        let has_equals = self.entry_has(Eq);
        match (has_equals, is_bracket) {
            _ if entry.is_empty() => CursorPlace::Invocation,
            (true, true) if matches!(last, LParen | Comma | Semi) => CursorPlace::InputStream,
            (true, false) if matches!(last, Eq | ColonColon) => CursorPlace::Operator,
            (false, true) if matches!(last, LParen | Semi) => CursorPlace::Invocation,
            _ => CursorPlace::Nothing,
        }
    }

    fn invocation_place(&self, is_bracket: bool) -> CursorPlace {
        use SyntaxKind::*;
        let entry = self.entry();
        let first = self.word(entry.start).to_owned();
        let has_colon = self.entry_has(Colon);
        let last = self.kind(entry.end.wrapping_sub(1));
        match self.base().clause {
            None => CursorPlace::InvocationClause,
            Some(ParamKw) if entry.is_empty() => CursorPlace::Parameter,
            Some(ParamKw) if has_colon && is_bracket => CursorPlace::Expression,
            Some(ParamKw) if has_colon => CursorPlace::ParameterValue(first),
            Some(OutputKw) if entry.is_empty() => CursorPlace::OutputPort,
            Some(OutputKw) if has_colon && !is_bracket && matches!(last, Colon | Comma) => {
                CursorPlace::OutputAttribute(first)
            }
            Some(OutputKw) if has_colon => CursorPlace::OutputValue,
            Some(WindowKw) if entry.is_empty() => CursorPlace::InputPort,
            Some(WindowKw) if has_colon => CursorPlace::Window,
            Some(LogicKw) if entry.is_empty() => CursorPlace::Logic,
            Some(LogicKw) if matches!(last, OnTupleKw | OnPunctKw) => CursorPlace::InputPort,
            Some(ConfigKw) if entry.is_empty() => CursorPlace::ConfigName,
            Some(ConfigKw) if has_colon => CursorPlace::Expression,
            _ => CursorPlace::Nothing,
        }
    }

    fn block_place(&self, is_bracket: bool) -> CursorPlace {
        use SyntaxKind::*;
        let entry = self.entry();
        if entry.is_empty() {
            return CursorPlace::Statement;
        }
        let last = self.kind(entry.end - 1);
        let is_name = matches!(last, Ident | Gt) || last.is_keyword();
        match last {
            ElseKw | MutableKw => CursorPlace::Statement,
            ReturnKw | InKw => CursorPlace::Expression,
            // The statement behind `if (c)` or `while (c)`.
            RParen if !is_bracket => CursorPlace::Statement,
            // Behind a type comes a new name.
            _ if is_name => CursorPlace::Nothing,
            LParen if self.kind(entry.end.wrapping_sub(2)) == ForKw => CursorPlace::Type,
            _ => CursorPlace::Expression,
        }
    }
}
