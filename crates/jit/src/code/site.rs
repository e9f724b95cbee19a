//! A place in the program where compiled code leaves the work to a function on [`Value`]s: a library
//! function, or an operation without native code, which then is done by [`graph::ops`].
//!
//! The operands come as words (see [`super::words`]); the result goes back as the address of a
//! value. A fault of the operation is that of the interpreter, because both call the same function.

use graph::{BinaryOp, Call, Fault, MappedForm, NativeFn, Pos, Services, UnaryOp, ops};
use smallvec::SmallVec;
use tuple::{List, Map, Set, Type, Value};

use super::env::Env;
use super::slot;
use super::words::Words;

/// What is done, and with what.
#[derive(Debug)]
pub struct Site {
    /// Its number, for [`super::scratch`].
    pub id: u32,
    /// What is done.
    pub op: Op,
    /// How each operand comes.
    pub operands: Vec<Operand>,
    /// The types of the operands.
    pub types: Vec<Type>,
    /// The type of the result.
    pub result: Type,
    /// Where it stands.
    pub pos: Pos,
}

/// What is done at a site. The operands are in the order of the expression's.
#[derive(Clone, Debug)]
pub enum Op {
    /// A library function is called.
    Native(NativeFn),
    /// A prefix operator.
    Unary(UnaryOp),
    /// An infix operator.
    Binary(BinaryOp),
    /// An infix operator over collections.
    Mapped(BinaryOp, MappedForm),
    /// A conversion from the operand's type to the result's.
    Cast,
    /// `[ ]`.
    Index,
    /// `[lower:upper]`: which of the two are given.
    Slice(bool, bool),
    /// Element `in` collection.
    In,
    /// A list of the operands.
    List,
    /// A set of the operands.
    Set,
    /// A map of the operands, key and value by turns.
    Map,
    /// The value itself: parts become one value.
    Same,
    /// `!` on null.
    Null,
    /// A submission to a port beyond so many.
    PortRange(u32),
    /// Too many calls within calls.
    Recursion,
    /// The characters of a ustring, one by one.
    Spell,
}

/// How an operand comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// By its parts.
    Parts,
    /// By the address of a value that is not changed.
    Boxed,
    /// By the address of a value that is changed in place.
    Place,
    /// A scalar by the address of its flat slot, changed in place.
    Slot,
}

/// Where the operands are that are passed by address.
type Addresses = SmallVec<[*mut Value; 4]>;

impl Site {
    /// Does it. `words` are the operands'.
    pub fn run(&self, env: &mut Env, words: Words) -> Result<Value, Fault> {
        let mut kept = env.scratch.take(self.id);
        let addresses = self.load(words, &mut kept);
        let result = match &self.op {
            Op::Native(function) => env.with_outlet(|outlet| {
                let mut args = self.arguments(&mut kept, &addresses);
                self.call(function, &mut args, outlet.services())
            }),
            _ => self.apply(&self.arguments(&mut kept, &addresses)),
        };
        self.store(&kept, &addresses);
        env.scratch.put(self.id, kept);
        let result = result.map_err(|fault| fault.at(self.pos))?;
        Ok(ops::fit(result, &self.result))
    }

    /// Calls a library function.
    fn call(
        &self,
        function: &NativeFn,
        args: &mut [&mut Value],
        services: &mut dyn Services,
    ) -> Result<Value, Fault> {
        macro_rules! call {
            ($args:expr) => {
                (function.eval)(&mut Call {
                    args: $args,
                    types: &self.types,
                    result: &self.result,
                    services,
                    pos: self.pos,
                })
            };
        }
        // Arrays for the usual counts: a call should not allocate for its arguments.
        match args {
            [] => call!(&mut []),
            [a] => call!(&mut [a]),
            [a, b] => call!(&mut [a, b]),
            [a, b, c] => call!(&mut [a, b, c]),
            [a, b, c, d] => call!(&mut [a, b, c, d]),
            many => call!(&mut many.iter_mut().map(|arg| &mut **arg).collect::<Vec<_>>()),
        }
    }

    /// Makes values of the operands that come by their parts or slots; the addresses of all others.
    fn load(&self, mut words: Words, kept: &mut Vec<Value>) -> Addresses {
        kept.resize(self.operands.len(), Value::Boolean(false));
        let operands = self.operands.iter().zip(&self.types).zip(kept);
        let address = |((operand, ty), kept): ((&Operand, &Type), &mut Value)| match operand {
            Operand::Parts => {
                words.assign(ty, kept);
                std::ptr::null_mut()
            }
            Operand::Slot => {
                let at = words.address::<Value>();
                *kept = slot::load(ty, at.cast());
                at
            }
            Operand::Boxed | Operand::Place => words.address(),
        };
        operands.map(address).collect()
    }

    fn arguments<'a>(
        &self,
        kept: &'a mut [Value],
        addresses: &[*mut Value],
    ) -> SmallVec<[&'a mut Value; 4]> {
        let operands = self.operands.iter().zip(kept).zip(addresses);
        let argument = |((operand, kept), &address): ((&Operand, &'a mut Value), &*mut Value)| {
            match operand {
                Operand::Parts | Operand::Slot => kept,
                // SAFETY: compiled code passed the address of a live value. Those of `Place` are of
                // different variables; those of `Boxed` may coincide, but are only read.
                Operand::Boxed | Operand::Place => unsafe { &mut *address },
            }
        };
        operands.map(argument).collect()
    }

    /// Writes back what was changed in place.
    fn store(&self, kept: &[Value], addresses: &[*mut Value]) {
        let operands = self
            .operands
            .iter()
            .zip(&self.types)
            .zip(kept)
            .zip(addresses);
        for (((operand, ty), value), &address) in operands {
            match operand {
                Operand::Slot => slot::store(value, address.cast()),
                Operand::Place if is_bounded(ty) => {
                    // SAFETY: compiled code passed the address of a live variable.
                    let place = unsafe { &mut *address };
                    let value = std::mem::replace(place, Value::Boolean(false));
                    *place = ops::fit(value, ty);
                }
                _ => {}
            }
        }
    }

    fn apply(&self, args: &[&mut Value]) -> Result<Value, Fault> {
        let args: SmallVec<[&Value; 4]> = args.iter().map(|arg| &**arg).collect();
        match (&self.op, &args[..]) {
            (Op::Unary(op), [a]) => ops::unary(*op, a),
            (Op::Binary(op), [a, b]) => ops::binary(*op, a, b),
            (Op::Mapped(op, form), [a, b]) => ops::mapped(*op, *form, a, b, &self.result),
            (Op::Cast, [a]) => ops::cast(a, &self.types[0], &self.result),
            (Op::Index, [a, b]) => ops::index(a, b),
            (Op::Slice(lower, upper), [base, rest @ ..]) => {
                let mut rest = rest.iter().copied();
                let lower = if *lower { rest.next() } else { None };
                ops::slice(base, lower, if *upper { rest.next() } else { None })
            }
            (Op::In, [item, collection]) => ops::contains(collection, item).map(Value::Boolean),
            (Op::Spell, [Value::UString(s)]) => {
                let one = |at| Value::UString(s.slice(at, at + 1));
                let letters = (0..s.len()).map(one);
                Ok(Value::List(List::from_values(&Type::UString, letters)))
            }
            (Op::Same, [value]) => Ok((*value).clone()),
            (Op::Null, _) => Err(ops::sentence::null()),
            (Op::Recursion, _) => Err(ops::sentence::recursion()),
            (Op::PortRange(ports), [Value::Uint32(port)]) => {
                Err(ops::sentence::port_range(u64::from(*port), *ports as usize))
            }
            _ => Ok(self.collect(&args)),
        }
    }

    /// A collection of the operands.
    fn collect(&self, args: &[&Value]) -> Value {
        let copies = args.iter().map(|&arg| arg.clone());
        match &self.result {
            Type::List(element, _) => Value::List(List::from_values(element, copies)),
            Type::Set(..) => Value::Set(copies.collect::<Set>()),
            _ => {
                let entries = args.chunks_exact(2).map(|e| (e[0].clone(), e[1].clone()));
                Value::Map(entries.collect::<Map>())
            }
        }
    }
}

/// Whether a value of this type may have to be cut.
fn is_bounded(ty: &Type) -> bool {
    matches!(
        ty,
        Type::BoundedRString(_)
            | Type::List(_, Some(_))
            | Type::Set(_, Some(_))
            | Type::Map(_, Some(_))
    )
}
