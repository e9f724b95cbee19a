//! Signatures of the machine functions that user functions become.

use cranelift_codegen::ir::AbiParam;
use cranelift_codegen::ir::Signature;
use cranelift_codegen::ir::types;
use graph::Function;

use crate::type_parts;

/// The signature of a machine function.
pub fn signature(function: &Function, mut signature: Signature) -> Signature {
    let mut param = |ty| signature.params.push(AbiParam::new(ty));
    param(types::I64);
    for local in &function.body.locals[..function.formals as usize] {
        if local.by_reference {
            param(types::I64);
        } else {
            type_parts::parts(&local.ty)
                .into_iter()
                .for_each(&mut param);
        }
    }
    let results = type_parts::parts(&function.result);
    if results.len() > 1 {
        param(types::I64);
    }
    signature.returns.push(AbiParam::new(types::I32));
    if let [part] = results[..] {
        signature.returns.push(AbiParam::new(part));
    }
    signature
}
