//! Running a [`FallbackSite`]: a library function is called, or [`eval::ops`] does an operation
//! that has no native code.
//!
//! The operands come as words (see [`super::parts_reader`]); the result goes back as the address of
//! a value. A fault of the operation is that of the interpreter, because both call the same
//! function.

use eval::{Fault, NativeCall, NativeFn, Services, ops};
use graph::Pos;
use smallvec::SmallVec;
use tuple::{List, Map, Set, Type, Value};

use super::env::Env;
use super::fallback_site::{FallbackOp, FallbackSite, OperandPassing};
use super::flat_scalar;
use super::parts_reader::PartsReader;

/// Addresses of the operands that are passed by address.
type OperandAddresses = SmallVec<[*mut Value; 4]>;

impl FallbackSite {
    /// Runs the operation. The operands are read from `words`.
    ///
    /// # Errors
    /// The fault of the operation, at the site's position.
    pub fn run(&self, env: &mut Env, words: PartsReader) -> Result<Value, Fault> {
        let mut kept = env.operand_scratch.take(self.id);
        let addresses = self.load_operands(words, &mut kept);
        let result = match &self.op {
            FallbackOp::Native(function) => env.with_outlet(|outlet| {
                let mut args = self.arguments(&mut kept, &addresses);
                self.call(function, &mut args, outlet.services())
            }),
            _ => self.apply(&self.arguments(&mut kept, &addresses)),
        };
        self.store_operands(&kept, &addresses);
        env.operand_scratch.put(self.id, kept);
        let result = result.map_err(|fault| fault.with_pos(self.pos))?;
        Ok(ops::truncate_to_bound(result, &self.result))
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
                (function.eval)(&mut NativeCall {
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

    /// Makes values of the operands that are passed by parts or slots, and collects the addresses
    /// of all others.
    fn load_operands(&self, mut words: PartsReader, kept: &mut Vec<Value>) -> OperandAddresses {
        kept.resize(self.operands.len(), Value::Boolean(false));
        let operands = self.operands.iter().zip(&self.types).zip(kept);
        let address = |((operand, ty), kept): ((&OperandPassing, &Type), &mut Value)| match operand
        {
            OperandPassing::Parts => {
                words.assign(ty, kept);
                std::ptr::null_mut()
            }
            OperandPassing::Slot => {
                let at = words.next_address::<Value>();
                *kept = flat_scalar::load(ty, at.cast());
                at
            }
            OperandPassing::Boxed | OperandPassing::Place => words.next_address(),
        };
        operands.map(address).collect()
    }

    fn arguments<'a>(
        &self,
        kept: &'a mut [Value],
        addresses: &[*mut Value],
    ) -> SmallVec<[&'a mut Value; 4]> {
        let operands = self.operands.iter().zip(kept).zip(addresses);
        let argument =
            |((operand, kept), &address): ((&OperandPassing, &'a mut Value), &*mut Value)| {
                match operand {
                    OperandPassing::Parts | OperandPassing::Slot => kept,
                    // SAFETY: compiled code passed the address of a live value. Those of `Place`
                    // are of different variables; those of `Boxed` may coincide, but are only read.
                    OperandPassing::Boxed | OperandPassing::Place => unsafe { &mut *address },
                }
            };
        operands.map(argument).collect()
    }

    /// Writes back the operands that were changed in place.
    fn store_operands(&self, kept: &[Value], addresses: &[*mut Value]) {
        let operands = self
            .operands
            .iter()
            .zip(&self.types)
            .zip(kept)
            .zip(addresses);
        for (((operand, ty), value), &address) in operands {
            match operand {
                OperandPassing::Slot => flat_scalar::store(value, address.cast()),
                OperandPassing::Place if ops::is_bounded(ty) => {
                    // SAFETY: compiled code passed the address of a live variable.
                    let place = unsafe { &mut *address };
                    let value = std::mem::replace(place, Value::Boolean(false));
                    *place = ops::truncate_to_bound(value, ty);
                }
                _ => {}
            }
        }
    }

    fn apply(&self, args: &[&mut Value]) -> Result<Value, Fault> {
        let args: SmallVec<[&Value; 4]> = args.iter().map(|arg| &**arg).collect();
        match (&self.op, &args[..]) {
            (FallbackOp::Unary(op), [a]) => ops::unary(*op, a),
            (FallbackOp::Binary(op), [a, b]) => ops::binary(*op, a, b),
            (FallbackOp::Mapped(op, form), [a, b]) => {
                ops::binary_mapped(*op, *form, a, b, &self.result)
            }
            (FallbackOp::Cast, [a]) => ops::cast(a, &self.types[0], &self.result),
            (FallbackOp::Index, [a, b]) => ops::index(a, b),
            (FallbackOp::Slice(lower, upper), [base, rest @ ..]) => {
                let mut rest = rest.iter().copied();
                let lower = if *lower { rest.next() } else { None };
                ops::slice(base, lower, if *upper { rest.next() } else { None })
            }
            (FallbackOp::In, [item, collection]) => {
                ops::contains(collection, item).map(Value::Boolean)
            }
            (FallbackOp::CodePoints, [Value::UString(s)]) => {
                let one = |at| Value::UString(s.slice(at, at + 1));
                let letters = (0..s.len()).map(one);
                Ok(Value::List(List::from_values(&Type::UString, letters)))
            }
            (FallbackOp::Identity, [value]) => Ok((*value).clone()),
            (FallbackOp::UnwrapNull, _) => Err(ops::faults::null_unwrapped()),
            (FallbackOp::TooLong(noun), _) => Err(ops::faults::too_long(noun)),
            (FallbackOp::JoinTooLong(positions), lens) => Err(join_too_long(positions, lens)),
            (FallbackOp::Recursion, _) => Err(ops::faults::recursion_too_deep()),
            (FallbackOp::PortRange(ports), [Value::Uint32(port)]) => Err(
                ops::faults::port_out_of_range(u64::from(*port), *ports as usize),
            ),
            _ => Ok(self.collect(&args)),
        }
    }

    /// Makes a collection of the operands.
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

/// The fault of strings of these lengths, each but the first appended at a position.
fn join_too_long(positions: &[Pos], lens: &[&Value]) -> Fault {
    let lens = lens.iter().map(|len| match len {
        Value::Uint64(len) => *len as usize,
        _ => 0,
    });
    let ends = lens.scan(0, |end, len| {
        *end += len;
        Some(*end)
    });
    let is_long = |(end, _): &(usize, &Pos)| *end > ops::len_max();
    let first = ends.skip(1).zip(positions).find(is_long);
    let fault = ops::faults::too_long("string");
    match first {
        Some((_, &pos)) => fault.with_pos(pos),
        None => fault,
    }
}
