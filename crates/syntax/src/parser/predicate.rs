//! Looking ahead: what begins here, without taking it.
//!
//! Each predicate looks at a bounded number of tokens or jumps by the tables of
//! [`super::lookahead`], so that parsing stays linear.

use super::lookahead::{NO_TOKEN, STRAY_BRACKET};
use super::parser_state::Parser;
use crate::SyntaxKind::*;

impl Parser<'_> {
    /// The index after the bracket that closes the one at `index`.
    pub(super) fn after_group(&self, index: usize) -> Option<usize> {
        match self.lookahead.partners.get(index) {
            Some(&(NO_TOKEN | STRAY_BRACKET)) | None => None,
            Some(&partner) => Some(partner as usize + 1),
        }
    }

    /// A closing bracket that closes nothing.
    pub(super) fn is_stray(&self, index: usize) -> bool {
        self.lookahead.partners.get(index) == Some(&STRAY_BRACKET)
    }

    /// A word that begins a clause of a composite or an invocation, and is not meant as a name.
    pub(super) fn begins_clause(&self, index: usize) -> bool {
        match self.kind_at(index) {
            ParamKw | GraphKw | ConfigKw | LogicKw | WindowKw | OutputKw => !matches!(
                self.kind_at(index + 1),
                Eq | Colon | Comma | Semi | Dot | RParen
            ),
            TypeKw => self.begins_type_clause(index),
            _ => false,
        }
    }

    /// `type` as a clause: `type $T;` is a formal parameter, `type T = ...` a definition.
    pub(super) fn begins_type_clause(&self, index: usize) -> bool {
        match self.kind_at(index + 1) {
            StaticKw => true,
            Ident => self.kind_at(index + 2) == Eq && !self.token_text(index + 1).starts_with('$'),
            _ => false,
        }
    }

    /// A word that begins a definition of the unit, or an annotation.
    pub(super) fn begins_item(&self, index: usize) -> bool {
        match self.kind_at(index) {
            CompositeKw | NamespaceKw | UseKw | PublicKw | StatefulKw | At => true,
            TypeKw => self.begins_type_clause(index),
            _ => self.is_unindented(index) && self.begins_function(index),
        }
    }

    /// Whether a function definition begins here, `T name(...) {`.
    pub(super) fn begins_function(&self, index: usize) -> bool {
        let name = match self.kind_at(index) {
            Ident => self.after_type_name(index),
            kind if kind.is_type_keyword() || kind == VoidKw => self.after_type_word(index),
            _ => None,
        };
        let is_head = |&at: &usize| self.kind_at(at) == Ident && self.kind_at(at + 1) == LParen;
        let after = name
            .filter(is_head)
            .and_then(|name| self.after_group(name + 1));
        after.is_some_and(|after| self.kind_at(after) == LBrace)
    }

    /// Past `int32`, `list<T>` or `rstring[n]`; the word is at `index`.
    fn after_type_word(&self, index: usize) -> Option<usize> {
        let mut at = index + 1;
        loop {
            at = match self.kind_at(at) {
                Lt if self.lookahead.angles[at] == NO_TOKEN => return None,
                Lt => self.lookahead.angles[at] as usize + 1,
                LBracket => self.after_group(at)?,
                _ => return Some(at),
            };
        }
    }

    /// The token begins a line, without blanks before it.
    pub(super) fn is_unindented(&self, index: usize) -> bool {
        self.is_on_new_line(index) && self.indentation(index) == 0
    }

    /// The head of an operator invocation.
    pub(super) fn begins_invocation(&self, index: usize) -> bool {
        match self.kind_at(index) {
            StreamKw | At => true,
            LParen => match self.kind_at(index + 1) {
                StreamKw => true,
                RParen => match self.kind_at(index + 2) {
                    Ident => self.kind_at(index + 3) == Eq,
                    kind => matches!(kind, AsKw | Eq),
                },
                _ => false,
            },
            _ => false,
        }
    }

    /// Past a qualified name that begins at `index`: `a.b::c` or `c`.
    pub(super) fn after_qualified_name(&self, index: usize) -> Option<usize> {
        if self.kind_at(index) != Ident {
            return None;
        }
        let at = self.lookahead.dotted_ends[index] as usize;
        match self.kind_at(at) == ColonColon && self.kind_at(at + 1) == Ident {
            true => Some(at + 2),
            false => Some(index + 1),
        }
    }

    /// Past a type name that begins at `index`: a qualified name, and perhaps a type of that
    /// composite.
    pub(super) fn after_type_name(&self, index: usize) -> Option<usize> {
        let at = self.after_qualified_name(index)?;
        match self.kind_at(at) == Dot && self.kind_at(at + 1) == Ident {
            true => Some(at + 2),
            false => Some(at),
        }
    }

    /// A declaration of variables: a type and a name.
    pub(super) fn begins_declaration(&self) -> bool {
        if self.is_reserved_name(self.pos) {
            return false;
        }
        if self.at(MutableKw) || self.current().is_type_keyword() || self.at(VoidKw) {
            return true;
        }
        let Some(after) = self.after_type_name(self.pos) else {
            return false;
        };
        match self.kind_at(after) {
            Ident => true,
            Lt => self.kind_at(after + 1).is_type_keyword(),
            kind if kind.is_keyword() => matches!(self.kind_at(after + 1), Eq | Semi | Comma),
            _ => false,
        }
    }

    /// Whether a statement can begin here, and so may follow a broken one.
    pub(super) fn begins_statement(&self) -> bool {
        let kind = self.current();
        matches!(
            kind,
            Ident
                | Semi
                | LBrace
                | IfKw
                | WhileKw
                | ForKw
                | BreakKw
                | ContinueKw
                | ReturnKw
                | TypeKw
        ) || (kind.is_type_keyword() || kind == MutableKw)
    }

    /// The word of a type that was declared as a name, and does not begin a type here.
    pub(super) fn is_reserved_name(&self, index: usize) -> bool {
        let kind = self.kind_at(index);
        let begins_type = match self.kind_at(index + 1) {
            Ident | Lt => true,
            LBracket => kind == RstringKw,
            _ => false,
        };
        self.reserved_names.contains(&kind) && !begins_type
    }

    /// `(T) e` rather than `(e)`; the token here is `(`.
    ///
    /// A word that only begins a type makes a cast. A name in parentheses is a cast when what
    /// follows can only begin an operand: a name, a literal, `(`, `{`, `~`. Of what may also go on
    /// with the parenthesised value,
    /// - `!`, `++`, `--` make a cast if an operand follows them: `(T) !x`, but `(x)! + 1`;
    /// - `[` makes a cast if the brackets are empty or hold a comma: `(T) [1, 2]`, but `(x)[1]`;
    /// - `-` never does: `(a) - b` is a difference, and `(T) (-b)` the way to cast.
    pub(super) fn begins_cast(&self) -> bool {
        let inner = self.pos + 1;
        if self.is_reserved_name(inner) {
            return self.kind_at(inner + 1) == RParen && self.begins_operand(inner + 2);
        }
        if self.kind_at(inner).is_type_keyword() || self.kind_at(inner) == VoidKw {
            return true;
        }
        let Some(close) = self.after_type_name(inner) else {
            return false;
        };
        if self.kind_at(close) != RParen {
            return false;
        }
        let next = close + 1;
        match self.kind_at(next) {
            LBrace | Tilde => true,
            Bang | PlusPlus | MinusMinus => self.begins_operand(next + 1),
            LBracket => self.is_list_literal(next),
            _ => self.begins_operand(next),
        }
    }

    fn begins_operand(&self, index: usize) -> bool {
        matches!(
            self.kind_at(index),
            Ident | Number | StringToken | TrueKw | FalseKw | NullKw | LParen
        )
    }

    /// The brackets at `open` hold nothing, or a comma that is not inside further brackets.
    fn is_list_literal(&self, open: usize) -> bool {
        let Some(after) = self.after_group(open) else {
            return false;
        };
        let close = after - 1;
        let mut at = open + 1;
        while at < close {
            if self.kind_at(at) == Comma {
                return true;
            }
            at = self.after_group(at).unwrap_or(at + 1);
        }
        close == open + 1
    }
}
