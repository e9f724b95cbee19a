//! Library functions that compiled code does itself: those of the standard library that programs
//! call for every tuple. Each gives what the function in the table gives; the rest is called.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, InstBuilder, types};
use eval::NativeFn;
use graph::{Arg, BinaryOp, Expr, Pos};
use tuple::Type;

use super::index::is_searched;
use super::place::PlaceLocation;
use crate::code::{FallbackOp, ImportedFunction};
use crate::lower::context::FunctionLowering;
use crate::lower::values::AccessRegion;
use crate::lowered_value::{LoweredValue, ValueForm, ValueParts};
use crate::type_parts;

impl FunctionLowering<'_, '_> {
    /// Lowers a call of a library function, if there is code for it.
    pub fn intrinsic(
        &mut self,
        e: &Expr,
        function: &NativeFn,
        args: &[Arg],
    ) -> Option<LoweredValue> {
        if !function.namespace.starts_with("spl.") {
            return None;
        }
        let name = prototype_name(function.prototype);
        if let [Arg::Place(_), ..] = args {
            return self.change_in_place(function, name, (args, e.pos));
        }
        let args: Option<Vec<&Expr>> = args
            .iter()
            .map(|arg| match arg {
                Arg::Value(e) => Some(e),
                Arg::Place(_) => None,
            })
            .collect();
        let args = args?;
        match (function.namespace, &args[..]) {
            ("spl.math", [x]) => self.numeric_intrinsic(name, x),
            ("spl.math", [a, b]) => self.min_or_max(name, a, b, e),
            ("spl.string", args) => self.string_intrinsic(e, function, name, args),
            ("spl.collection", [c]) => self.size_intrinsic(name, c),
            ("spl.collection", [c, item]) if name == "has" => self.contains_intrinsic(e, c, item),
            ("spl.time", args) => self.time_intrinsic(name, args),
            ("spl.utility", []) if name == "isShutdown" => {
                Some(LoweredValue::from_part(self.is_shutdown()))
            }
            _ => None,
        }
    }

    /// Lowers functions of one number.
    fn numeric_intrinsic(&mut self, name: &str, x: &Expr) -> Option<LoweredValue> {
        let ty = &x.ty;
        let is_known = match name {
            "abs" => ty.is_integral() || ty.is_float(),
            "floor" | "ceil" | "round" => ty.is_float(),
            "sqrt" => *ty == Type::Float64,
            _ => false,
        };
        if !is_known {
            return None;
        }
        let x = self.expr_single_part(x);
        Some(LoweredValue::from_part(match name {
            "abs" if ty.is_unsigned() => x,
            "abs" if ty.is_signed() => {
                let negated = self.builder.ins().ineg(x);
                let is_negative = self.icmp_const(IntCC::SignedLessThan, x, 0);
                self.builder.ins().select(is_negative, negated, x)
            }
            "abs" => self.builder.ins().fabs(x),
            "floor" => self.builder.ins().floor(x),
            "ceil" => self.builder.ins().ceil(x),
            "sqrt" => self.builder.ins().sqrt(x),
            _ => self.round(x, ty),
        }))
    }

    /// The nearest whole number, halves away from zero.
    fn round(&mut self, x: ir::Value, ty: &Type) -> ir::Value {
        let (half, one) = match ty {
            Type::Float32 => (
                self.builder.ins().f32const(0.5),
                self.builder.ins().f32const(1.0),
            ),
            _ => (
                self.builder.ins().f64const(0.5),
                self.builder.ins().f64const(1.0),
            ),
        };
        let whole = self.builder.ins().trunc(x);
        // Exact: the two are close together, or the same.
        let rest = self.builder.ins().fsub(x, whole);
        let rest = self.builder.ins().fabs(rest);
        let is_half = self
            .builder
            .ins()
            .fcmp(FloatCC::GreaterThanOrEqual, rest, half);
        let step = self.builder.ins().fcopysign(one, x);
        let next = self.builder.ins().fadd(whole, step);
        self.builder.ins().select(is_half, next, whole)
    }

    /// `max` and `min` of two values: the first one, unless the second surpasses it or one of them
    /// is not a number.
    fn min_or_max(&mut self, name: &str, a: &Expr, b: &Expr, e: &Expr) -> Option<LoweredValue> {
        let op = match name {
            "max" => BinaryOp::Ge,
            "min" => BinaryOp::Le,
            _ => return None,
        };
        if !type_parts::is_scalar(&a.ty) || a.ty != b.ty {
            return None;
        }
        let (x, y) = (self.expr(a), self.expr(b));
        let first = self.compare(op, &x, &y, &a.ty, e.pos);
        let (x, y) = (self.parts(&x, &a.ty), self.parts(&y, &a.ty));
        let each = x.iter().zip(&y);
        Some(LoweredValue::from_parts(
            each.map(|(&x, &y)| self.builder.ins().select(first, x, y)),
        ))
    }

    fn string_intrinsic(
        &mut self,
        e: &Expr,
        function: &NativeFn,
        name: &str,
        args: &[&Expr],
    ) -> Option<LoweredValue> {
        match (name, args) {
            ("length", [s]) if s.ty.is_string() => {
                let parts = self.expr_parts(s);
                let len = if s.ty == Type::UString {
                    self.call_for_word(ImportedFunction::CountCodePoints, &parts)
                } else {
                    parts[1]
                };
                Some(LoweredValue::from_part(
                    self.builder.ins().ireduce(types::I32, len),
                ))
            }
            ("substring", [s, from, count]) if s.ty.is_rstring() => {
                Some(self.substring(e, function, s, from, count))
            }
            ("findFirst", [s, pattern, rest @ ..]) if s.ty.is_rstring() => {
                let text = self.expr_parts(s);
                let pattern = self.expr_parts(pattern);
                let from = match rest {
                    [from] => {
                        let from = self.expr_single_part(from);
                        let zero = self.int(types::I32, 0);
                        let from = self.builder.ins().smax(from, zero);
                        self.builder.ins().uextend(types::I64, from)
                    }
                    _ => self.word(0),
                };
                let args = [text[0], text[1], pattern[0], pattern[1], from];
                let at = self.call_for_word(ImportedFunction::FindBytes, &args);
                Some(LoweredValue::from_part(
                    self.builder.ins().ireduce(types::I32, at),
                ))
            }
            _ => None,
        }
    }

    fn expr_parts(&mut self, e: &Expr) -> ValueParts {
        let value = self.expr(e);
        self.parts(&value, &e.ty)
    }

    /// Lowers `substring`: at most `count` bytes from index `from` on. If `from` is below 0, its
    /// distance to 0 is taken off `count`.
    fn substring(
        &mut self,
        e: &Expr,
        function: &NativeFn,
        s: &Expr,
        from: &Expr,
        count: &Expr,
    ) -> LoweredValue {
        let values = [s, from, count].map(|e| (self.expr(e), &e.ty));
        let text = self.parts(&values[0].0, values[0].1);
        let from = self.index_word(&values[1].0, values[1].1);
        let count = self.index_word(&values[2].0, values[2].1);
        let zero = self.word(0);
        let below = self.builder.ins().smin(from, zero);
        let count = self.builder.ins().iadd(count, below);
        let start = self.builder.ins().smax(from, zero);
        let is_empty = self.icmp_const(IntCC::SignedLessThanOrEqual, count, 0);
        let is_beyond = self.icmp(IntCC::UnsignedGreaterThan, start, text[1]);
        let operands = values
            .each_ref()
            .map(|(value, ty)| FunctionLowering::value_operand(value, ty));
        self.fault_if(is_beyond, FallbackOp::Native(*function), &operands, e.pos);
        let rest = self.builder.ins().isub(text[1], start);
        let len = self.builder.ins().umin(count, rest);
        let len = self.builder.ins().select(is_empty, zero, len);
        let data = self.builder.ins().iadd(text[0], start);
        let value =
            LoweredValue::from_parts([data, len]).with_volatility(values[0].0.is_volatile());
        self.fit_to_bound(value, &s.ty, &e.ty)
    }

    /// How many elements a collection or blob has.
    fn size_intrinsic(&mut self, name: &str, c: &Expr) -> Option<LoweredValue> {
        let result = match name {
            "size" => types::I32,
            "blobSize" => types::I64,
            _ => return None,
        };
        let value = self.expr(c);
        let len = match (&c.ty, &value.form) {
            (Type::List(..), _) => self.elements(&value, &c.ty).len,
            (Type::Blob, _) => self.parts(&value, &c.ty)[1],
            (Type::Set(..) | Type::Map(..), ValueForm::Flat(base, offset)) => {
                self.flat_elements((*base, *offset), &c.ty, AccessRegion::of_flat_value(&value))
                    .1
            }
            (Type::Set(..) | Type::Map(..), _) => {
                let table = self.lowered_table(&value, &c.ty);
                self.table_entries(&table).len
            }
            _ => return None,
        };
        Some(LoweredValue::from_part(if result == types::I32 {
            self.builder.ins().ireduce(types::I32, len)
        } else {
            len
        }))
    }

    /// Whether a collection has an element, or a map a key.
    fn contains_intrinsic(&mut self, e: &Expr, c: &Expr, item: &Expr) -> Option<LoweredValue> {
        if !is_searched(&item.ty, &c.ty) {
            return None;
        }
        let container = self.expr(c);
        let value = self.expr(item);
        self.has_item(&value, &item.ty, &container, &c.ty, e.pos)
    }

    fn time_intrinsic(&mut self, name: &str, args: &[&Expr]) -> Option<LoweredValue> {
        let part = match (name, args) {
            ("getSeconds", [_]) => 0,
            ("getNanoseconds", [_]) => 1,
            ("getMachineId", [_]) => 2,
            ("createTimestamp", [seconds, nanos, rest @ ..]) => {
                let seconds = self.expr_single_part(seconds);
                let nanos = self.expr_single_part(nanos);
                let nanos = self.builder.ins().uextend(types::I64, nanos);
                let machine = match rest {
                    [machine] => self.expr_single_part(machine),
                    _ => self.int(types::I32, 0),
                };
                return Some(self.normalized_timestamp(seconds, nanos, machine));
            }
            _ => return None,
        };
        Some(LoweredValue::from_part(self.expr_parts(args[0])[part]))
    }

    /// Lowers functions that change their first argument.
    fn change_in_place(
        &mut self,
        function: &NativeFn,
        name: &str,
        (args, pos): (&[Arg], Pos),
    ) -> Option<LoweredValue> {
        match (function.namespace, name, args) {
            ("spl.collection", "appendM", [Arg::Place(list), Arg::Value(item)]) => {
                let Type::List(element, _) = &list.ty else {
                    return None;
                };
                if **element != item.ty {
                    return None;
                }
                let keys = self.place_indices(list);
                let value = self.expr(item);
                // What the value points to may be in the list, whose elements move.
                let value = self.stable(value, &item.ty);
                let PlaceLocation::Value(at) = self.locate(list, &keys) else {
                    unreachable!("a list that is changed in place is a value")
                };
                let words = self.parts_as_words(&value, &item.ty);
                let ty = self.type_address(&list.ty);
                let fits = self.call_for_word(ImportedFunction::ListAppend, &[at, ty, words]);
                self.fault_if_zero(fits, FallbackOp::TooLong("list"), &[], pos);
                Some(LoweredValue::from_parts([]))
            }
            ("spl.collection", "insertM", [Arg::Place(map), Arg::Value(key), Arg::Value(item)]) => {
                let Type::Map(entry, None) = &map.ty else {
                    return None;
                };
                if entry.0 != key.ty || entry.1 != item.ty {
                    return None;
                }
                let keys = self.place_indices(map);
                let key_value = self.expr(key);
                let key_value = self.stable(key_value, &key.ty);
                let value = self.expr(item);
                let value = self.stable(value, &item.ty);
                let PlaceLocation::Value(at) = self.locate(map, &keys) else {
                    unreachable!("a map that is changed in place is a value")
                };
                self.insert(at, &map.ty, &key_value, &value, &item.ty);
                Some(LoweredValue::from_parts([]))
            }
            ("spl.string", "appendM", [Arg::Place(s), Arg::Value(more)])
                if s.ty == Type::RString && more.ty.is_rstring() =>
            {
                let keys = self.place_indices(s);
                let more = self.expr_parts(more);
                let PlaceLocation::Value(at) = self.locate(s, &keys) else {
                    unreachable!("a string that is changed in place is a value")
                };
                self.append_bytes(at, &more, pos);
                Some(LoweredValue::from_parts([]))
            }
            _ => None,
        }
    }
}

/// The name of a function in its prototype: `<numeric T> T sqrt(T f)`.
fn prototype_name(prototype: &str) -> &str {
    let head = prototype.split('(').next().unwrap_or_default();
    head.rsplit(' ').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_found_in_prototypes() {
        assert_eq!(super::prototype_name("<numeric T> T sqrt(T f)"), "sqrt");
        assert_eq!(super::prototype_name("int32 length(rstring s)"), "length");
    }
}
