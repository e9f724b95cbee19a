//! Reading of expressions, from `,` down to signs: FLWOR, quantifiers, `if`, operators.

use super::super::atomic_value::ArithmeticOp;
use super::super::failure::QueryResult;
use super::super::query::{
    ComparisonOp, FlworClause, NodeSetOp, OrderSpec, QueryComparison, QueryExpr,
};
use super::query_parser::QueryParser;

/// An operator between two operands, or one with a type behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueryOperator {
    Or,
    And,
    Compare(QueryComparison),
    Concat,
    To,
    Arithmetic(ArithmeticOp),
    Set(NodeSetOp),
    Instance,
    Treat,
    Castable,
    Cast,
}

/// All operators with their precedence. An operator comes before those that are a prefix of it.
const OPERATORS: &[(&str, QueryOperator, u8)] = {
    use ArithmeticOp::{Add, Divide, IntegerDivide, Multiply, Remainder, Subtract};
    use ComparisonOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    use QueryComparison::{Follows, General, IsSameNode, Precedes, Value};
    use QueryOperator::{
        And, Arithmetic as Calculate, Cast, Castable, Compare, Concat, Instance, Or, Set, To, Treat,
    };
    &[
        ("or", Or, 0),
        ("and", And, 1),
        ("eq", Compare(Value(Equal)), 2),
        ("ne", Compare(Value(NotEqual)), 2),
        ("lt", Compare(Value(Less)), 2),
        ("le", Compare(Value(LessEqual)), 2),
        ("gt", Compare(Value(Greater)), 2),
        ("ge", Compare(Value(GreaterEqual)), 2),
        ("is", Compare(IsSameNode), 2),
        ("<<", Compare(Precedes), 2),
        (">>", Compare(Follows), 2),
        ("!=", Compare(General(NotEqual)), 2),
        ("<=", Compare(General(LessEqual)), 2),
        (">=", Compare(General(GreaterEqual)), 2),
        ("=", Compare(General(Equal)), 2),
        ("<", Compare(General(Less)), 2),
        (">", Compare(General(Greater)), 2),
        ("||", Concat, 3),
        ("to", To, 4),
        ("+", Calculate(Add), 5),
        ("-", Calculate(Subtract), 5),
        ("*", Calculate(Multiply), 6),
        ("div", Calculate(Divide), 6),
        ("idiv", Calculate(IntegerDivide), 6),
        ("mod", Calculate(Remainder), 6),
        ("union", Set(NodeSetOp::Union), 7),
        ("|", Set(NodeSetOp::Union), 7),
        ("intersect", Set(NodeSetOp::Intersect), 8),
        ("except", Set(NodeSetOp::Except), 8),
        ("instance of", Instance, 9),
        ("treat as", Treat, 10),
        ("castable as", Castable, 11),
        ("cast as", Cast, 12),
    ]
};

impl QueryParser<'_> {
    /// Reads expressions with commas between them.
    pub(super) fn expression(&mut self) -> QueryResult<QueryExpr> {
        let first = self.expr_single()?;
        if !self.cursor.take(",")? {
            return Ok(first);
        }
        let mut all = vec![first, self.expr_single()?];
        while self.cursor.take(",")? {
            all.push(self.expr_single()?);
        }
        Ok(QueryExpr::Sequence(all))
    }

    /// Reads an expression without a comma.
    pub(super) fn expr_single(&mut self) -> QueryResult<QueryExpr> {
        self.nested(|parser| {
            parser.cursor.skip_blanks()?;
            let cursor = parser.cursor;
            let is = |word, symbols| cursor.is_word_before(word, symbols);
            if is("for", &["$"]) || is("let", &["$"]) {
                parser.flwor()
            } else if is("some", &["$"]) || is("every", &["$"]) {
                parser.quantified()
            } else if is("if", &["("]) {
                parser.conditional()
            } else if is("typeswitch", &["("]) || is("switch", &["("]) {
                parser.unsupported("a switch")
            } else if is("try", &["{"]) {
                parser.unsupported("`try`")
            } else {
                parser.operators(0)
            }
        })
    }

    fn conditional(&mut self) -> QueryResult<QueryExpr> {
        self.cursor.expect_word("if")?;
        self.cursor.expect("(")?;
        let condition = self.expression()?;
        self.cursor.expect(")")?;
        self.cursor.expect_word("then")?;
        let then = self.expr_single()?;
        self.cursor.expect_word("else")?;
        let otherwise = self.expr_single()?;
        Ok(QueryExpr::If(Box::new([condition, then, otherwise])))
    }

    fn quantified(&mut self) -> QueryResult<QueryExpr> {
        let known = self.scope.len();
        let is_every = self.cursor.take_words("every")?;
        if !is_every {
            self.cursor.expect_word("some")?;
        }
        let mut bindings = Vec::new();
        loop {
            self.clause()?;
            let name = self.variable()?;
            self.cursor.expect_word("in")?;
            bindings.push(self.expr_single()?);
            self.scope.push(name);
            if !self.cursor.take(",")? {
                break;
            }
        }
        self.cursor.expect_word("satisfies")?;
        let holds = self.expr_single()?;
        self.scope.truncate(known);
        Ok(QueryExpr::Quantified(is_every, bindings, Box::new(holds)))
    }

    fn flwor(&mut self) -> QueryResult<QueryExpr> {
        let known = self.scope.len();
        let mut clauses = Vec::new();
        loop {
            if self.cursor.take_words("for")? {
                self.bindings(&mut clauses, Self::for_binding)?;
            } else if self.cursor.take_words("let")? {
                self.bindings(&mut clauses, Self::let_binding)?;
            } else if self.cursor.take_words("where")? {
                self.clause()?;
                clauses.push(FlworClause::Where(self.expr_single()?));
            } else if self.cursor.take_words("order by")?
                || self.cursor.take_words("stable order by")?
            {
                self.clause()?;
                clauses.push(FlworClause::OrderBy(self.keys()?));
            } else if self.cursor.take_words("group by")? || self.cursor.take_words("count")? {
                return self.unsupported("this clause");
            } else {
                break;
            }
        }
        self.cursor.expect_word("return")?;
        let result = self.expr_single()?;
        self.scope.truncate(known);
        Ok(QueryExpr::Flwor(clauses, Box::new(result)))
    }

    /// Reads bindings with commas between them.
    fn bindings(
        &mut self,
        clauses: &mut Vec<FlworClause>,
        read: impl Fn(&mut Self) -> QueryResult<FlworClause>,
    ) -> QueryResult<()> {
        loop {
            self.clause()?;
            clauses.push(read(self)?);
            if !self.cursor.take(",")? {
                return Ok(());
            }
        }
    }

    fn for_binding(&mut self) -> QueryResult<FlworClause> {
        let name = self.variable()?;
        let ty = self.declared_type()?;
        let place = match self.cursor.take_words("at")? {
            true => Some(self.variable()?),
            false => None,
        };
        self.cursor.expect_word("in")?;
        let items = self.expr_single()?;
        let has_place = place.is_some();
        self.scope.push(name);
        self.scope.extend(place);
        match ty {
            Some(_) => self.unsupported("a type of a variable of `for`"),
            None => Ok(FlworClause::For(items, has_place)),
        }
    }

    fn let_binding(&mut self) -> QueryResult<FlworClause> {
        let name = self.variable()?;
        let ty = self.declared_type()?;
        self.cursor.expect(":=")?;
        let value = self.expr_single()?;
        self.scope.push(name);
        Ok(FlworClause::Let(match ty {
            Some(ty) => QueryExpr::Treat(Box::new(value), ty),
            None => value,
        }))
    }

    fn keys(&mut self) -> QueryResult<Vec<OrderSpec>> {
        let mut keys = Vec::new();
        loop {
            let value = self.expr_single()?;
            let is_descending = self.cursor.take_words("descending")?;
            if !is_descending {
                self.cursor.take_words("ascending")?;
            }
            let is_empty_greatest = self.cursor.take_words("empty greatest")?;
            if !is_empty_greatest {
                self.cursor.take_words("empty least")?;
            }
            keys.push(OrderSpec {
                value,
                is_descending,
                is_empty_greatest,
            });
            if !self.cursor.take(",")? {
                return Ok(keys);
            }
        }
    }

    /// Reads operands and operators whose precedence is at least `weakest`.
    fn operators(&mut self, weakest: u8) -> QueryResult<QueryExpr> {
        let mut left = self.sign()?;
        let mut is_compared = false;
        loop {
            let begin = self.cursor;
            let Some((operator, strength)) = self.operator()? else {
                return Ok(left);
            };
            if strength < weakest {
                self.cursor = begin;
                return Ok(left);
            }
            let is_comparison = matches!(operator, QueryOperator::Compare(_));
            if is_comparison && std::mem::replace(&mut is_compared, true) {
                return Err(
                    begin.failure_at("what is compared is compared once more; put it in `()`")
                );
            }
            left = self.combine(left, operator, strength)?;
        }
    }

    fn operator(&mut self) -> QueryResult<Option<(QueryOperator, u8)>> {
        self.cursor.skip_blanks()?;
        for &(text, operator, strength) in OPERATORS {
            let is_there = match text.as_bytes()[0].is_ascii_alphabetic() {
                true => self.cursor.take_words(text)?,
                false => self.cursor.take_exact(text),
            };
            if is_there {
                return Ok(Some((operator, strength)));
            }
        }
        Ok(None)
    }

    fn combine(
        &mut self,
        left: QueryExpr,
        operator: QueryOperator,
        strength: u8,
    ) -> QueryResult<QueryExpr> {
        let boxed = Box::new;
        match operator {
            QueryOperator::Instance => {
                return Ok(QueryExpr::Instance(boxed(left), self.sequence_type()?));
            }
            QueryOperator::Treat => {
                return Ok(QueryExpr::Treat(boxed(left), self.sequence_type()?));
            }
            QueryOperator::Castable => {
                let (ty, may_be_empty) = self.single_type()?;
                return Ok(QueryExpr::Castable(boxed(left), ty, may_be_empty));
            }
            QueryOperator::Cast => {
                let (ty, may_be_empty) = self.single_type()?;
                return Ok(QueryExpr::Cast(boxed(left), ty, may_be_empty));
            }
            _ => {}
        }
        let right = self.operators(strength + 1)?;
        Ok(match (operator, left) {
            (QueryOperator::Or, QueryExpr::Or(all)) => QueryExpr::Or(appended(all, right)),
            (QueryOperator::Or, left) => QueryExpr::Or(vec![left, right]),
            (QueryOperator::And, QueryExpr::And(all)) => QueryExpr::And(appended(all, right)),
            (QueryOperator::And, left) => QueryExpr::And(vec![left, right]),
            (QueryOperator::Concat, QueryExpr::Concat(all)) => {
                QueryExpr::Concat(appended(all, right))
            }
            (QueryOperator::Concat, left) => QueryExpr::Concat(vec![left, right]),
            (QueryOperator::To, left) => QueryExpr::Range(boxed_pair(left, right)),
            (QueryOperator::Compare(how), left) => QueryExpr::Compare(how, boxed_pair(left, right)),
            (QueryOperator::Arithmetic(op), QueryExpr::Arithmetic(first, rest)) => {
                QueryExpr::Arithmetic(first, appended(rest, (op, right)))
            }
            (QueryOperator::Arithmetic(op), left) => {
                QueryExpr::Arithmetic(boxed(left), vec![(op, right)])
            }
            (QueryOperator::Set(op), QueryExpr::Sets(first, rest)) => {
                QueryExpr::Sets(first, appended(rest, (op, right)))
            }
            (QueryOperator::Set(op), left) => QueryExpr::Sets(boxed(left), vec![(op, right)]),
            (_, left) => left,
        })
    }

    /// Reads an operand with its signs.
    fn sign(&mut self) -> QueryResult<QueryExpr> {
        let (mut is_negative, mut has_sign) = (false, false);
        loop {
            if self.cursor.take("-")? {
                is_negative = !is_negative;
            } else if !self.cursor.take("+")? {
                break;
            }
            has_sign = true;
        }
        let operand = self.path()?;
        Ok(match (has_sign, is_negative) {
            (false, _) => operand,
            (_, true) => QueryExpr::Negate(Box::new(operand)),
            // A sign needs a number after it, even `+`.
            (_, false) => QueryExpr::Negate(Box::new(QueryExpr::Negate(Box::new(operand)))),
        })
    }
}

fn appended<T>(mut all: Vec<T>, more: T) -> Vec<T> {
    all.push(more);
    all
}

fn boxed_pair(left: QueryExpr, right: QueryExpr) -> Box<[QueryExpr; 2]> {
    Box::new([left, right])
}
