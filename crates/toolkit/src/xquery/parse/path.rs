//! Paths: steps, tests, predicates, and what a step may be besides an axis.

use super::super::Outcome;
use super::super::atomic::{Atomic, Type};
use super::super::function;
use super::super::query::{Axis, Expr, Start, Step, Test};
use super::super::tree::Kind;
use super::Parser;
use super::names::{FUNCTIONS, TYPES};

const AXES: [(&str, Axis); 12] = [
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("attribute", Axis::Attribute),
    ("self", Axis::Itself),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("following-sibling", Axis::FollowingSibling),
    ("following", Axis::Following),
    ("parent", Axis::Parent),
    ("ancestor", Axis::Ancestor),
    ("preceding-sibling", Axis::PrecedingSibling),
    ("preceding", Axis::Preceding),
    ("ancestor-or-self", Axis::AncestorOrSelf),
];

/// Tests of kinds, but for those of elements and attributes, which may have a name in them.
const KINDS: [(&str, Option<Kind>); 5] = [
    ("node", None),
    ("text", Some(Kind::Text)),
    ("comment", Some(Kind::Comment)),
    ("processing-instruction", Some(Kind::Instruction)),
    ("document-node", Some(Kind::Document)),
];

impl Parser<'_> {
    pub(super) fn path(&mut self) -> Outcome<Expr> {
        self.cursor.blanks()?;
        let (mut steps, mut start) = (Vec::new(), Start::Root);
        if self.cursor.take_exact("//") {
            steps.push(anything_below());
        } else if self.cursor.take_exact("/") {
            self.cursor.blanks()?;
            if !self.begins_step() {
                return Ok(Expr::Path(start, steps));
            }
        } else {
            start = Start::Context;
        }
        let first = self.step()?;
        self.cursor.blanks()?;
        match first {
            Step::Expr(alone) if start == Start::Context && !self.cursor.rest.starts_with('/') => {
                return Ok(alone);
            }
            first => steps.push(first),
        }
        loop {
            if self.cursor.take("//")? {
                steps.push(anything_below());
            } else if !self.cursor.take("/")? {
                return Ok(Expr::Path(start, steps));
            }
            steps.push(self.step()?);
        }
    }

    /// Whether a step can begin here; `/` stands for the document otherwise.
    fn begins_step(&self) -> bool {
        let mut ahead = self.cursor;
        match ahead.peek() {
            Some(c) => "@.*$('\"<".contains(c) || c.is_ascii_digit() || ahead.word().is_some(),
            None => false,
        }
    }

    fn step(&mut self) -> Outcome<Step> {
        self.cursor.blanks()?;
        if self.cursor.take_exact("..") {
            return self.axis_step(Axis::Parent, Test::Any);
        }
        if self.cursor.take_exact("@") {
            let test = self.test(Axis::Attribute)?;
            return self.axis_step(Axis::Attribute, test);
        }
        for (name, axis) in AXES {
            if self.cursor.is_word_before(name, &["::"]) {
                self.cursor.take_words(name)?;
                self.cursor.expect("::")?;
                let test = self.test(axis)?;
                return self.axis_step(axis, test);
            }
        }
        match self.primary()? {
            Some(expr) => self.filter(expr).map(Step::Expr),
            None => {
                let test = self.test(Axis::Child)?;
                let axis = match test {
                    Test::Kind(Kind::Attribute, _) => Axis::Attribute,
                    _ => Axis::Child,
                };
                self.axis_step(axis, test)
            }
        }
    }

    fn axis_step(&mut self, axis: Axis, test: Test) -> Outcome<Step> {
        Ok(Step::Axis(axis, test, self.predicates()?))
    }

    fn filter(&mut self, expr: Expr) -> Outcome<Expr> {
        let predicates = self.predicates()?;
        Ok(match predicates.is_empty() {
            true => expr,
            false => Expr::Filter(Box::new(expr), predicates),
        })
    }

    fn predicates(&mut self) -> Outcome<Vec<Expr>> {
        let mut predicates = Vec::new();
        while self.cursor.take("[")? {
            predicates.push(self.expression()?);
            self.cursor.expect("]")?;
        }
        Ok(predicates)
    }

    fn test(&mut self, axis: Axis) -> Outcome<Test> {
        self.cursor.blanks()?;
        if let Some(test) = self.kind_test()? {
            return Ok(test);
        }
        if self.cursor.take_exact("*") {
            let local = match self.cursor.take_exact(":") {
                true => self.cursor.word().map(str::to_owned),
                false => None,
            };
            return Ok(Test::Name { uri: None, local });
        }
        let begin = self.cursor;
        if let Some(prefix) = self.cursor.word()
            && self.cursor.take_exact(":*")
        {
            let uri = Some(self.names.uri(prefix)?.to_string());
            return Ok(Test::Name { uri, local: None });
        }
        self.cursor = begin;
        let Some(name) = self.cursor.prefixed() else {
            return Err(begin.wrong("an expression is missing"));
        };
        let name = match axis {
            Axis::Attribute => self.names.attribute(name)?,
            _ => self.names.element(name)?,
        };
        Ok(Test::Name {
            uri: Some(name.uri.to_string()),
            local: Some(name.local.to_string()),
        })
    }

    /// `text()` and its like, if one stands here.
    pub(super) fn kind_test(&mut self) -> Outcome<Option<Test>> {
        for (word, kind) in KINDS {
            if self.cursor.is_word_before(word, &["("]) {
                self.cursor.take_words(word)?;
                self.cursor.expect("(")?;
                self.cursor.expect(")")?;
                return Ok(Some(kind.map_or(Test::Any, |kind| Test::Kind(kind, None))));
            }
        }
        for (word, kind) in [("element", Kind::Element), ("attribute", Kind::Attribute)] {
            if self.cursor.is_word_before(word, &["("]) {
                self.cursor.take_words(word)?;
                self.cursor.expect("(")?;
                self.cursor.blanks()?;
                let name = match self.cursor.prefixed() {
                    Some(name) if kind == Kind::Element => Some(self.names.element(name)?),
                    Some(name) => Some(self.names.attribute(name)?),
                    None => {
                        self.cursor.take("*")?;
                        None
                    }
                };
                self.cursor.expect(")")?;
                return Ok(Some(Test::Kind(kind, name)));
            }
        }
        Ok(None)
    }

    /// What is no step along an axis: literals, variables, calls, constructors, parentheses.
    fn primary(&mut self) -> Outcome<Option<Expr>> {
        let mut ahead = self.cursor;
        let first = ahead.peek();
        ahead.skip();
        let has_digit = ahead.peek().is_some_and(|c| c.is_ascii_digit());
        Ok(Some(match first {
            Some('"' | '\'') => Expr::Literal(Atomic::text(&self.cursor.string()?)),
            Some('0'..='9') => self.number()?,
            Some('.') if has_digit => self.number()?,
            Some('.') => {
                self.cursor.skip();
                Expr::Context
            }
            Some('$') => {
                let name = self.variable()?;
                let bound = self.scope.iter().rposition(|known| *known == name);
                bound.map_or(Expr::External(name), Expr::Variable)
            }
            Some('(') => self.parenthesized()?,
            Some('<') => self.nested(Parser::direct)?,
            Some('{' | '%' | '?' | '#') => return self.refused("this expression"),
            _ => return self.named(),
        }))
    }

    fn parenthesized(&mut self) -> Outcome<Expr> {
        self.cursor.expect("(")?;
        if self.cursor.take(")")? {
            return Ok(Expr::Sequence(Vec::new()));
        }
        let inside = self.expression()?;
        self.cursor.expect(")")?;
        Ok(inside)
    }

    fn number(&mut self) -> Outcome<Expr> {
        let begin = self.cursor;
        let is_digit = |c: char| c.is_ascii_digit();
        let mut rest = begin.rest.trim_start_matches(is_digit);
        let mut ty = Type::Integer;
        if let Some(behind) = rest.strip_prefix('.') {
            rest = behind.trim_start_matches(is_digit);
            ty = Type::Decimal;
        }
        if let Some(behind) = rest.strip_prefix(['e', 'E']) {
            let behind = behind.strip_prefix(['+', '-']).unwrap_or(behind);
            rest = behind.trim_start_matches(is_digit);
            ty = Type::Double;
        }
        let text = &begin.rest[..begin.rest.len() - rest.len()];
        self.cursor.rest = rest;
        match Atomic::text(text).cast(ty) {
            Ok(number) => Ok(Expr::Literal(number)),
            Err(_) => Err(begin.wrong("this number is too large, or none")),
        }
    }

    /// A call, or a constructor that begins with a word.
    fn named(&mut self) -> Outcome<Option<Expr>> {
        let begin = self.cursor;
        for kind in ["node", "text", "comment", "element", "attribute"] {
            if self.cursor.is_word_before(kind, &["("]) {
                return Ok(None);
            }
        }
        if ["processing-instruction", "document-node"]
            .iter()
            .any(|kind| begin.is_word_before(kind, &["("]))
        {
            return Ok(None);
        }
        if let Some(made) = self.computed()? {
            return Ok(Some(made));
        }
        let Some((prefix, local)) = self.cursor.prefixed() else {
            return Ok(None);
        };
        self.cursor.blanks()?;
        if self.cursor.rest.starts_with("#") {
            return self.refused("a function as a value");
        }
        if !self.cursor.rest.starts_with('(') || self.cursor.rest.starts_with("(:") {
            self.cursor = begin;
            return Ok(None);
        }
        let arguments = self.arguments()?;
        let uri = match prefix {
            "" => FUNCTIONS.into(),
            _ => self.names.uri(prefix)?,
        };
        let count = arguments.len();
        let mut arguments = arguments.into_iter();
        if *uri == *TYPES
            && let (Some(ty), Some(argument), None) =
                (Type::named(local), arguments.next(), arguments.next())
        {
            return Ok(Some(Expr::Cast(Box::new(argument), ty, true)));
        }
        if *uri != *FUNCTIONS {
            return Err(begin.wrong("there is no such function"));
        }
        match function::find(local, count) {
            Ok(function) => Ok(Some(Expr::Call(function, arguments.collect()))),
            Err(why) => Err(begin.wrong(&why)),
        }
    }

    fn arguments(&mut self) -> Outcome<Vec<Expr>> {
        self.cursor.expect("(")?;
        let mut arguments = Vec::new();
        if self.cursor.take(")")? {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.single()?);
            if !self.cursor.take(",")? {
                self.cursor.expect(")")?;
                return Ok(arguments);
            }
        }
    }
}

/// What `//` stands for.
fn anything_below() -> Step {
    Step::Axis(Axis::DescendantOrSelf, Test::Any, Vec::new())
}
