//! User functions as machine functions.
//!
//! One takes the environment, the parts of each argument by value, the address of each argument by
//! reference (a flat slot for a scalar, else a `Value`), and the address for the result if that has
//! more than one part. It returns a status, and the result if that has one part.

use cranelift_codegen::ir::{self, AbiParam, InstBuilder, Signature, types};
use graph::{Function, FunctionId};
use tuple::Type;

use super::frame::{Exit, Frame};
use super::{Lower, Region, Storage, Uses};
use crate::shape;
use crate::value::Val;

impl Lower<'_, '_> {
    /// A whole machine function.
    pub fn function(mut self, id: FunctionId) {
        let functions = self.unit.functions.clone();
        let function = &functions[id.0 as usize];
        let params = self.params(self.entry);
        let mut params = params.into_iter().skip(1);
        let done = self.block_with(&shape::parts(&function.result));
        let exit = Exit {
            block: done,
            ty: function.result.clone(),
        };
        self.frame = Frame::of_function(function, exit);
        let uses = Uses::of(&function.body);
        let has_frame = self.enter_frame(function, &uses);
        let mut lent = Vec::new();
        self.frame.locals = self.settle(&function.body, function.formals as usize, &uses);
        for at in 0..function.formals as usize {
            let local = &function.body.locals[at];
            let storage = if !local.by_reference {
                let count = shape::part_count(&local.ty);
                let value = Val::parts(params.by_ref().take(count));
                match self.settle_one(&local.ty, &uses.locals[at], 1) {
                    Storage::Unset => Storage::Alias(value),
                    storage => self.set_storage(storage, value, &local.ty),
                }
            } else {
                let address = params.next().expect("an address for each reference");
                self.reference(at, address, &local.ty, &mut lent)
            };
            self.frame.locals[at] = storage;
        }
        let row = params.next();
        self.stmts(&function.body.stmts);
        self.end_of_function(function);
        self.go_sealed(done);
        let results = self.params(done);
        self.write_back(&lent);
        self.exit_frame(has_frame);
        self.return_results(&results, row);
        self.go_sealed(self.fail);
        self.write_back(&lent);
        self.return_fault(&function.result);
        self.finish();
    }

    /// A formal by reference: a scalar lives in registers until the function returns.
    fn reference(
        &mut self,
        at: usize,
        address: ir::Value,
        ty: &Type,
        lent: &mut Vec<(usize, ir::Value, Type)>,
    ) -> Storage {
        if !shape::is_scalar(ty) {
            return Storage::Memory(address);
        }
        let parts = self.load_slot(Region::Bytes, address, 0, ty);
        lent.push((at, address, ty.clone()));
        let vars = parts.iter().map(|&part| {
            let ty = self.b.func.dfg.value_type(part);
            let var = self.b.declare_var(ty);
            self.b.def_var(var, part);
            var
        });
        Storage::Registers(vars.collect())
    }

    fn write_back(&mut self, lent: &[(usize, ir::Value, Type)]) {
        for (at, address, ty) in lent {
            let value = self.read_local(graph::LocalId(*at as u32));
            let parts = self.parts(&value, ty);
            self.store_slot(Region::Bytes, *address, 0, ty, &parts);
        }
    }

    fn return_results(&mut self, results: &[ir::Value], row: Option<ir::Value>) {
        match row {
            Some(row) => {
                for (at, &part) in results.iter().enumerate() {
                    self.store_word(part, row, at);
                }
                self.return_status(0, &[]);
            }
            None => self.return_status(0, results),
        }
    }

    fn return_fault(&mut self, result: &Type) {
        let parts = shape::parts(result);
        let zero = match parts[..] {
            [part] => vec![self.zero(part)],
            _ => Vec::new(),
        };
        self.return_status(1, &zero);
    }

    fn zero(&mut self, ty: ir::Type) -> ir::Value {
        match ty {
            types::F32 => self.b.ins().f32const(0.0),
            types::F64 => self.b.ins().f64const(0.0),
            int => self.int(int, 0),
        }
    }
}

/// The signature of a machine function.
pub fn signature(function: &Function, mut signature: Signature) -> Signature {
    let mut param = |ty| signature.params.push(AbiParam::new(ty));
    param(types::I64);
    for local in &function.body.locals[..function.formals as usize] {
        if local.by_reference {
            param(types::I64);
        } else {
            shape::parts(&local.ty).into_iter().for_each(&mut param);
        }
    }
    let results = shape::parts(&function.result);
    if results.len() > 1 {
        param(types::I64);
    }
    signature.returns.push(AbiParam::new(types::I32));
    if let [part] = results[..] {
        signature.returns.push(AbiParam::new(part));
    }
    signature
}
