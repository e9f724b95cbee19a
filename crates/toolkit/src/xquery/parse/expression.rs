//! Expressions from `,` down to signs: FLWOR, quantifiers, `if`, operators.

use super::super::Outcome;
use super::super::atomic::Arithmetic;
use super::super::query::{Clause, Comparison, Expr, Key, Order, SetOp};
use super::Parser;

/// An operator between two operands, or one with a type behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Compare(Comparison),
    Concat,
    To,
    Arithmetic(Arithmetic),
    Set(SetOp),
    Instance,
    Treat,
    Castable,
    Cast,
}

/// All operators with how strongly they bind. The longer ones stand before those that they begin with.
const OPERATORS: &[(&str, Operator, u8)] = {
    use Arithmetic::{Add, Divide, DivideWhole, Multiply, Remainder, Subtract};
    use Comparison::{After, Before, General, Same, Value};
    use Operator::{
        And, Arithmetic as Calculate, Cast, Castable, Compare, Concat, Instance, Or, Set, To, Treat,
    };
    use Order::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    &[
        ("or", Or, 0),
        ("and", And, 1),
        ("eq", Compare(Value(Equal)), 2),
        ("ne", Compare(Value(NotEqual)), 2),
        ("lt", Compare(Value(Less)), 2),
        ("le", Compare(Value(LessEqual)), 2),
        ("gt", Compare(Value(Greater)), 2),
        ("ge", Compare(Value(GreaterEqual)), 2),
        ("is", Compare(Same), 2),
        ("<<", Compare(Before), 2),
        (">>", Compare(After), 2),
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
        ("idiv", Calculate(DivideWhole), 6),
        ("mod", Calculate(Remainder), 6),
        ("union", Set(SetOp::Union), 7),
        ("|", Set(SetOp::Union), 7),
        ("intersect", Set(SetOp::Intersect), 8),
        ("except", Set(SetOp::Except), 8),
        ("instance of", Instance, 9),
        ("treat as", Treat, 10),
        ("castable as", Castable, 11),
        ("cast as", Cast, 12),
    ]
};

impl Parser<'_> {
    /// Expressions with commas between them.
    pub(super) fn expression(&mut self) -> Outcome<Expr> {
        let first = self.single()?;
        if !self.cursor.take(",")? {
            return Ok(first);
        }
        let mut all = vec![first, self.single()?];
        while self.cursor.take(",")? {
            all.push(self.single()?);
        }
        Ok(Expr::Sequence(all))
    }

    /// An expression without a comma.
    pub(super) fn single(&mut self) -> Outcome<Expr> {
        self.nested(|parser| {
            parser.cursor.blanks()?;
            let cursor = parser.cursor;
            let is = |word, symbols| cursor.is_word_before(word, symbols);
            if is("for", &["$"]) || is("let", &["$"]) {
                parser.flwor()
            } else if is("some", &["$"]) || is("every", &["$"]) {
                parser.quantified()
            } else if is("if", &["("]) {
                parser.conditional()
            } else if is("typeswitch", &["("]) || is("switch", &["("]) {
                parser.refused("a switch")
            } else if is("try", &["{"]) {
                parser.refused("`try`")
            } else {
                parser.operators(0)
            }
        })
    }

    fn conditional(&mut self) -> Outcome<Expr> {
        self.cursor.expect_word("if")?;
        self.cursor.expect("(")?;
        let condition = self.expression()?;
        self.cursor.expect(")")?;
        self.cursor.expect_word("then")?;
        let then = self.single()?;
        self.cursor.expect_word("else")?;
        let otherwise = self.single()?;
        Ok(Expr::If(Box::new([condition, then, otherwise])))
    }

    fn quantified(&mut self) -> Outcome<Expr> {
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
            bindings.push(self.single()?);
            self.scope.push(name);
            if !self.cursor.take(",")? {
                break;
            }
        }
        self.cursor.expect_word("satisfies")?;
        let holds = self.single()?;
        self.scope.truncate(known);
        Ok(Expr::Quantified(is_every, bindings, Box::new(holds)))
    }

    fn flwor(&mut self) -> Outcome<Expr> {
        let known = self.scope.len();
        let mut clauses = Vec::new();
        loop {
            if self.cursor.take_words("for")? {
                self.bindings(&mut clauses, Self::for_binding)?;
            } else if self.cursor.take_words("let")? {
                self.bindings(&mut clauses, Self::let_binding)?;
            } else if self.cursor.take_words("where")? {
                self.clause()?;
                clauses.push(Clause::Where(self.single()?));
            } else if self.cursor.take_words("order by")?
                || self.cursor.take_words("stable order by")?
            {
                self.clause()?;
                clauses.push(Clause::OrderBy(self.keys()?));
            } else if self.cursor.take_words("group by")? || self.cursor.take_words("count")? {
                return self.refused("this clause");
            } else {
                break;
            }
        }
        self.cursor.expect_word("return")?;
        let result = self.single()?;
        self.scope.truncate(known);
        Ok(Expr::Flwor(clauses, Box::new(result)))
    }

    /// Bindings with commas between them.
    fn bindings(
        &mut self,
        clauses: &mut Vec<Clause>,
        read: impl Fn(&mut Self) -> Outcome<Clause>,
    ) -> Outcome<()> {
        loop {
            self.clause()?;
            clauses.push(read(self)?);
            if !self.cursor.take(",")? {
                return Ok(());
            }
        }
    }

    fn for_binding(&mut self) -> Outcome<Clause> {
        let name = self.variable()?;
        let ty = self.declared_type()?;
        let place = match self.cursor.take_words("at")? {
            true => Some(self.variable()?),
            false => None,
        };
        self.cursor.expect_word("in")?;
        let items = self.single()?;
        let has_place = place.is_some();
        self.scope.push(name);
        self.scope.extend(place);
        match ty {
            Some(_) => self.refused("a type of a variable of `for`"),
            None => Ok(Clause::For(items, has_place)),
        }
    }

    fn let_binding(&mut self) -> Outcome<Clause> {
        let name = self.variable()?;
        let ty = self.declared_type()?;
        self.cursor.expect(":=")?;
        let value = self.single()?;
        self.scope.push(name);
        Ok(Clause::Let(match ty {
            Some(ty) => Expr::Treat(Box::new(value), ty),
            None => value,
        }))
    }

    fn keys(&mut self) -> Outcome<Vec<Key>> {
        let mut keys = Vec::new();
        loop {
            let value = self.single()?;
            let is_descending = self.cursor.take_words("descending")?;
            if !is_descending {
                self.cursor.take_words("ascending")?;
            }
            let is_empty_greatest = self.cursor.take_words("empty greatest")?;
            if !is_empty_greatest {
                self.cursor.take_words("empty least")?;
            }
            keys.push(Key {
                value,
                is_descending,
                is_empty_greatest,
            });
            if !self.cursor.take(",")? {
                return Ok(keys);
            }
        }
    }

    /// Operands with operators between them that bind at least so strongly.
    fn operators(&mut self, weakest: u8) -> Outcome<Expr> {
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
            let is_comparison = matches!(operator, Operator::Compare(_));
            if is_comparison && std::mem::replace(&mut is_compared, true) {
                return Err(begin.wrong("what is compared is compared once more; put it in `()`"));
            }
            left = self.combine(left, operator, strength)?;
        }
    }

    fn operator(&mut self) -> Outcome<Option<(Operator, u8)>> {
        self.cursor.blanks()?;
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

    fn combine(&mut self, left: Expr, operator: Operator, strength: u8) -> Outcome<Expr> {
        let boxed = Box::new;
        match operator {
            Operator::Instance => return Ok(Expr::Instance(boxed(left), self.sequence_type()?)),
            Operator::Treat => return Ok(Expr::Treat(boxed(left), self.sequence_type()?)),
            Operator::Castable => {
                let (ty, may_be_empty) = self.single_type()?;
                return Ok(Expr::Castable(boxed(left), ty, may_be_empty));
            }
            Operator::Cast => {
                let (ty, may_be_empty) = self.single_type()?;
                return Ok(Expr::Cast(boxed(left), ty, may_be_empty));
            }
            _ => {}
        }
        let right = self.operators(strength + 1)?;
        Ok(match (operator, left) {
            (Operator::Or, Expr::Or(all)) => Expr::Or(with(all, right)),
            (Operator::Or, left) => Expr::Or(vec![left, right]),
            (Operator::And, Expr::And(all)) => Expr::And(with(all, right)),
            (Operator::And, left) => Expr::And(vec![left, right]),
            (Operator::Concat, Expr::Concat(all)) => Expr::Concat(with(all, right)),
            (Operator::Concat, left) => Expr::Concat(vec![left, right]),
            (Operator::To, left) => Expr::Range(boxed_pair(left, right)),
            (Operator::Compare(how), left) => Expr::Compare(how, boxed_pair(left, right)),
            (Operator::Arithmetic(op), Expr::Arithmetic(first, rest)) => {
                Expr::Arithmetic(first, with(rest, (op, right)))
            }
            (Operator::Arithmetic(op), left) => Expr::Arithmetic(boxed(left), vec![(op, right)]),
            (Operator::Set(op), Expr::Sets(first, rest)) => {
                Expr::Sets(first, with(rest, (op, right)))
            }
            (Operator::Set(op), left) => Expr::Sets(boxed(left), vec![(op, right)]),
            (_, left) => left,
        })
    }

    /// An operand with its signs.
    fn sign(&mut self) -> Outcome<Expr> {
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
            (_, true) => Expr::Negate(Box::new(operand)),
            // A sign wants a number behind it, even `+`.
            (_, false) => Expr::Negate(Box::new(Expr::Negate(Box::new(operand)))),
        })
    }
}

fn with<T>(mut all: Vec<T>, more: T) -> Vec<T> {
    all.push(more);
    all
}

fn boxed_pair(left: Expr, right: Expr) -> Box<[Expr; 2]> {
    Box::new([left, right])
}
