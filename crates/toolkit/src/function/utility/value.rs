//! Functions that hash, swap and assign values.

use std::hash::{Hash, Hasher};

use eval::NativeFn;
use tuple::{List, Value};

use crate::function::arguments::{NativeArguments, VOID};
use crate::function::entry::utility;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    utility(
        "<any T> uint64 hashCode(T v)",
        "A number that is the same for equal values, in every run. Of an integer, boolean or enum \
         it is the number itself.",
        |c| Ok(Value::Uint64(hash_code(c.arg(0)))),
    ),
    utility(
        "<list L> list<uint64> hashCodeForEach(L l)",
        "The hash codes of the elements.",
        |c| {
            c.bounded_list(List::Uint64(
                c.list(0).iter().map(|x| hash_code(&x)).collect(),
            ))
        },
    ),
    utility(
        "<any T> void swap(mutable T s1, mutable T s2)",
        "Exchanges two values.",
        |c| {
            let (first, rest) = c.args.split_at_mut(1);
            std::mem::swap(&mut *first[0], &mut *rest[0]);
            Ok(VOID)
        },
    ),
    utility(
        "<tuple T1, tuple T2> void assignFrom(mutable T1 lhs, T2 rhs)",
        "Assigns to the attributes of `lhs` those of `rhs` that have the same name and type.",
        |c| {
            let targets = c.attributes(0).attributes.iter().enumerate();
            let pairs: Vec<(usize, usize)> = targets
                .filter_map(|(to, target)| {
                    let (from, source) = c.attributes(1).find(&target.name)?;
                    (source.ty == target.ty).then_some((to, from))
                })
                .collect();
            let values: Vec<Value> = pairs
                .iter()
                .map(|&(_, from)| c.tuple(1)[from].clone())
                .collect();
            for ((to, _), value) in pairs.into_iter().zip(values) {
                c.tuple_mut(0)[to] = value;
            }
            Ok(VOID)
        },
    ),
];

/// The hash of a value. Composites start with 17 and go on with 37 times the hash plus that of the
/// next part; sets and maps add up their elements, for their order does not count.
pub(in crate::function) fn hash_code(value: &Value) -> u64 {
    match value {
        Value::Boolean(x) => (*x).into(),
        Value::Int8(x) => *x as u64,
        Value::Int16(x) => *x as u64,
        Value::Int32(x) => *x as u64,
        Value::Int64(x) => *x as u64,
        Value::Uint8(x) => (*x).into(),
        Value::Uint16(x) => (*x).into(),
        Value::Uint32(x) | Value::Enum(x) => (*x).into(),
        Value::Uint64(x) => *x,
        Value::RString(x) => bytes_hash(x.as_bytes()),
        Value::Blob(x) => bytes_hash(x),
        Value::UString(x) => x
            .as_units()
            .iter()
            .fold(17, |hash, &u| combine(hash, u.into())),
        Value::List(x) => x.iter().fold(17, |hash, x| combine(hash, hash_code(&x))),
        Value::Tuple(x) => x.iter().fold(17, |hash, x| combine(hash, hash_code(x))),
        Value::Set(x) => x.iter().fold(17, |hash, x| hash.wrapping_add(hash_code(x))),
        Value::Map(x) => x.iter().fold(17, |hash, (key, value)| {
            hash.wrapping_add(combine(hash_code(key), hash_code(value)))
        }),
        Value::Optional(x) => x.as_ref().map_or(0, |x| hash_code(x)),
        other => {
            // Numbers that are equal in several forms (0.0 and -0.0, 1.0d and 1.00d) hash as keys
            // do.
            let mut hasher = FnvHasher(FNV_START);
            other.hash(&mut hasher);
            hasher.finish()
        }
    }
}

fn combine(hash: u64, part: u64) -> u64 {
    hash.wrapping_mul(37).wrapping_add(part)
}

const FNV_START: u64 = 14_695_981_039_346_656_037;
const FNV_PRIME: u64 = 1_099_511_628_211;

fn bytes_hash(bytes: &[u8]) -> u64 {
    let mut hasher = FnvHasher(FNV_START);
    hasher.write(bytes);
    hasher.finish()
}

/// FNV-1a with 64 bits.
struct FnvHasher(u64);

impl Hasher for FnvHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
