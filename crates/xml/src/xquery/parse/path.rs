//! Reading of paths: steps, node tests, predicates, primary expressions.

use super::super::atomic_value::{AtomicType, AtomicValue};
use super::super::failure::QueryResult;
use super::super::function;
use super::super::query::{NodeTest, PathStart, QueryExpr, XPathStep};
use super::namespace_scope::{FUNCTIONS, TYPES};
use super::query_parser::QueryParser;
use crate::step::XPathAxis;
use crate::tree::XmlNodeKind;

const AXES: [(&str, XPathAxis); 12] = [
    ("child", XPathAxis::Child),
    ("descendant", XPathAxis::Descendant),
    ("attribute", XPathAxis::Attribute),
    ("self", XPathAxis::Itself),
    ("descendant-or-self", XPathAxis::DescendantOrSelf),
    ("following-sibling", XPathAxis::FollowingSibling),
    ("following", XPathAxis::Following),
    ("parent", XPathAxis::Parent),
    ("ancestor", XPathAxis::Ancestor),
    ("preceding-sibling", XPathAxis::PrecedingSibling),
    ("preceding", XPathAxis::Preceding),
    ("ancestor-or-self", XPathAxis::AncestorOrSelf),
];

/// Kind tests without a name; those of elements and attributes may have one.
const KINDS: [(&str, Option<XmlNodeKind>); 5] = [
    ("node", None),
    ("text", Some(XmlNodeKind::Text)),
    ("comment", Some(XmlNodeKind::Comment)),
    ("processing-instruction", Some(XmlNodeKind::Instruction)),
    ("document-node", Some(XmlNodeKind::Document)),
];

impl QueryParser<'_> {
    pub(super) fn path(&mut self) -> QueryResult<QueryExpr> {
        self.cursor.skip_blanks()?;
        let (mut steps, mut start) = (Vec::new(), PathStart::Root);
        if self.cursor.take_exact("//") {
            steps.push(descendant_or_self_step());
        } else if self.cursor.take_exact("/") {
            self.cursor.skip_blanks()?;
            if !self.begins_step() {
                return Ok(QueryExpr::Path(start, steps));
            }
        } else {
            start = PathStart::Context;
        }
        let first = self.step()?;
        self.cursor.skip_blanks()?;
        match first {
            XPathStep::Expr(alone)
                if start == PathStart::Context && !self.cursor.rest.starts_with('/') =>
            {
                return Ok(alone);
            }
            first => steps.push(first),
        }
        loop {
            if self.cursor.take("//")? {
                steps.push(descendant_or_self_step());
            } else if !self.cursor.take("/")? {
                return Ok(QueryExpr::Path(start, steps));
            }
            steps.push(self.step()?);
        }
    }

    /// Whether a step can begin here; otherwise `/` alone means the document.
    fn begins_step(&self) -> bool {
        let mut ahead = self.cursor;
        match ahead.peek() {
            Some(c) => "@.*$('\"<".contains(c) || c.is_ascii_digit() || ahead.word().is_some(),
            None => false,
        }
    }

    fn step(&mut self) -> QueryResult<XPathStep> {
        self.cursor.skip_blanks()?;
        if self.cursor.take_exact("..") {
            return self.axis_step(XPathAxis::Parent, NodeTest::Any);
        }
        if self.cursor.take_exact("@") {
            let test = self.test(XPathAxis::Attribute)?;
            return self.axis_step(XPathAxis::Attribute, test);
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
            Some(expr) => self.filter(expr).map(XPathStep::Expr),
            None => {
                let test = self.test(XPathAxis::Child)?;
                let axis = match test {
                    NodeTest::Kind(XmlNodeKind::Attribute, _) => XPathAxis::Attribute,
                    _ => XPathAxis::Child,
                };
                self.axis_step(axis, test)
            }
        }
    }

    fn axis_step(&mut self, axis: XPathAxis, test: NodeTest) -> QueryResult<XPathStep> {
        Ok(XPathStep::Axis(axis, test, self.predicates()?))
    }

    fn filter(&mut self, expr: QueryExpr) -> QueryResult<QueryExpr> {
        let predicates = self.predicates()?;
        Ok(match predicates.is_empty() {
            true => expr,
            false => QueryExpr::Filter(Box::new(expr), predicates),
        })
    }

    fn predicates(&mut self) -> QueryResult<Vec<QueryExpr>> {
        let mut predicates = Vec::new();
        while self.cursor.take("[")? {
            predicates.push(self.expression()?);
            self.cursor.expect("]")?;
        }
        Ok(predicates)
    }

    fn test(&mut self, axis: XPathAxis) -> QueryResult<NodeTest> {
        self.cursor.skip_blanks()?;
        if let Some(test) = self.kind_test()? {
            return Ok(test);
        }
        if self.cursor.take_exact("*") {
            let local = match self.cursor.take_exact(":") {
                true => self.cursor.word().map(str::to_owned),
                false => None,
            };
            return Ok(NodeTest::Name { uri: None, local });
        }
        let begin = self.cursor;
        if let Some(prefix) = self.cursor.word()
            && self.cursor.take_exact(":*")
        {
            let uri = Some(self.namespaces.uri(prefix)?.to_string());
            return Ok(NodeTest::Name { uri, local: None });
        }
        self.cursor = begin;
        let Some(name) = self.cursor.prefixed() else {
            return Err(begin.failure_at("an expression is missing"));
        };
        let name = match axis {
            XPathAxis::Attribute => self.namespaces.attribute(name)?,
            _ => self.namespaces.element(name)?,
        };
        Ok(NodeTest::Name {
            uri: Some(name.uri().to_owned()),
            local: Some(name.local().to_owned()),
        })
    }

    /// Reads a kind test, as `text()`, if there is one.
    pub(super) fn kind_test(&mut self) -> QueryResult<Option<NodeTest>> {
        for (word, kind) in KINDS {
            if self.cursor.is_word_before(word, &["("]) {
                self.cursor.take_words(word)?;
                self.cursor.expect("(")?;
                self.cursor.expect(")")?;
                return Ok(Some(
                    kind.map_or(NodeTest::Any, |kind| NodeTest::Kind(kind, None)),
                ));
            }
        }
        for (word, kind) in [
            ("element", XmlNodeKind::Element),
            ("attribute", XmlNodeKind::Attribute),
        ] {
            if self.cursor.is_word_before(word, &["("]) {
                self.cursor.take_words(word)?;
                self.cursor.expect("(")?;
                self.cursor.skip_blanks()?;
                let name = match self.cursor.prefixed() {
                    Some(name) if kind == XmlNodeKind::Element => {
                        Some(self.namespaces.element(name)?)
                    }
                    Some(name) => Some(self.namespaces.attribute(name)?),
                    None => {
                        self.cursor.take("*")?;
                        None
                    }
                };
                self.cursor.expect(")")?;
                return Ok(Some(NodeTest::Kind(kind, name)));
            }
        }
        Ok(None)
    }

    /// Reads a primary expression, if there is one: a literal, variable, call, constructor, or an
    /// expression in parentheses.
    fn primary(&mut self) -> QueryResult<Option<QueryExpr>> {
        let mut ahead = self.cursor;
        let first = ahead.peek();
        ahead.skip();
        let has_digit = ahead.peek().is_some_and(|c| c.is_ascii_digit());
        Ok(Some(match first {
            Some('"' | '\'') => QueryExpr::Literal(AtomicValue::text(&self.cursor.string()?)),
            Some('0'..='9') => self.number()?,
            Some('.') if has_digit => self.number()?,
            Some('.') => {
                self.cursor.skip();
                QueryExpr::Context
            }
            Some('$') => {
                let name = self.variable()?;
                let bound = self.scope.iter().rposition(|known| *known == name);
                bound.map_or(QueryExpr::External(name), QueryExpr::Variable)
            }
            Some('(') => self.parenthesized()?,
            Some('<') => self.nested(QueryParser::direct_constructor)?,
            Some('{' | '%' | '?' | '#') => return self.unsupported("this expression"),
            _ => return self.call_or_constructor(),
        }))
    }

    fn parenthesized(&mut self) -> QueryResult<QueryExpr> {
        self.cursor.expect("(")?;
        if self.cursor.take(")")? {
            return Ok(QueryExpr::Sequence(Vec::new()));
        }
        let inside = self.expression()?;
        self.cursor.expect(")")?;
        Ok(inside)
    }

    fn number(&mut self) -> QueryResult<QueryExpr> {
        let begin = self.cursor;
        let is_digit = |c: char| c.is_ascii_digit();
        let mut rest = begin.rest.trim_start_matches(is_digit);
        let mut ty = AtomicType::Integer;
        if let Some(behind) = rest.strip_prefix('.') {
            rest = behind.trim_start_matches(is_digit);
            ty = AtomicType::Decimal;
        }
        if let Some(behind) = rest.strip_prefix(['e', 'E']) {
            let behind = behind.strip_prefix(['+', '-']).unwrap_or(behind);
            rest = behind.trim_start_matches(is_digit);
            ty = AtomicType::Double;
        }
        let text = &begin.rest[..begin.rest.len() - rest.len()];
        self.cursor.rest = rest;
        match AtomicValue::text(text).cast(ty) {
            Ok(number) => Ok(QueryExpr::Literal(number)),
            Err(_) => Err(begin.failure_at("this number is too large, or none")),
        }
    }

    /// Reads a call, or a constructor that begins with a word.
    fn call_or_constructor(&mut self) -> QueryResult<Option<QueryExpr>> {
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
        if let Some(made) = self.computed_constructor()? {
            return Ok(Some(made));
        }
        let Some((prefix, local)) = self.cursor.prefixed() else {
            return Ok(None);
        };
        self.cursor.skip_blanks()?;
        if self.cursor.rest.starts_with("#") {
            return self.unsupported("a function as a value");
        }
        if !self.cursor.rest.starts_with('(') || self.cursor.rest.starts_with("(:") {
            self.cursor = begin;
            return Ok(None);
        }
        let arguments = self.arguments()?;
        let uri = match prefix {
            "" => FUNCTIONS.into(),
            _ => self.namespaces.uri(prefix)?,
        };
        let count = arguments.len();
        let mut arguments = arguments.into_iter();
        if *uri == *TYPES
            && let (Some(ty), Some(argument), None) = (
                AtomicType::from_name(local),
                arguments.next(),
                arguments.next(),
            )
        {
            return Ok(Some(QueryExpr::Cast(Box::new(argument), ty, true)));
        }
        if *uri != *FUNCTIONS {
            return Err(begin.failure_at("there is no such function"));
        }
        match function::find(local, count) {
            Ok(function) => Ok(Some(QueryExpr::Call(function, arguments.collect()))),
            Err(why) => Err(begin.failure_at(&why)),
        }
    }

    fn arguments(&mut self) -> QueryResult<Vec<QueryExpr>> {
        self.cursor.expect("(")?;
        let mut arguments = Vec::new();
        if self.cursor.take(")")? {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expr_single()?);
            if !self.cursor.take(",")? {
                self.cursor.expect(")")?;
                return Ok(arguments);
            }
        }
    }
}

/// The step that `//` is short for.
fn descendant_or_self_step() -> XPathStep {
    XPathStep::Axis(XPathAxis::DescendantOrSelf, NodeTest::Any, Vec::new())
}
