//! `evalPredicate` without a PE that reads conditions; what they mean is tested where they are
//! read, in `engine`.

use tuple::{Type, Value};

use crate::harness::*;

#[test]
fn conditions_that_nobody_reads() {
    let function = "evalPredicate(rstring splExpr, T tup, mutable int32 error)";
    let one = || tuple([("a", int32(1))]);
    let args = [r(b"a == \xff"), one(), int32(0)];
    let (holds, after) = run(&mut Pe::default(), function, &args, &Type::Boolean);
    assert_eq!(holds, Value::Boolean(false));
    assert_eq!(after[2].text(), int32(1).text());
    let args = [r("a == 1"), one(), int32(0)];
    faults(function, &args, Type::Boolean, "nothing here reads");
}
