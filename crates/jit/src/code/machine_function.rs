//! The handles that the run time calls: they enter the environment, call the code, and leave.

use std::sync::Arc;

use eval::{Fault, FaultKind};
use runtime::abi::{CodeContext, FrameBatch, ProjectTuple, RunBody, RunBodyOnBatch, TestPredicate};
use tuple::TupleBuf;

use super::code_memory::{CodeMemory, CodePointer};
use super::constant_pool::ConstantPool;
use super::env::Env;
use super::env_requirements::EnvRequirements;

/// Machine function, whose address handles find here once the module is finished; clones share it.
#[derive(Clone)]
pub struct MachineFunction(Arc<CodePointer>);

/// Handle of a machine function: its code, and the environment that it runs in.
struct FunctionHandle {
    code: Arc<CodePointer>,
    env: Option<Box<Env>>,
    pool: Arc<std::sync::OnceLock<Arc<ConstantPool>>>,
    requirements: EnvRequirements,
}

/// Handle of compiled code that writes a tuple.
pub struct JitProjection(FunctionHandle);
/// Handle of compiled code that tests a condition.
pub struct JitPredicate(FunctionHandle);
/// Handle of compiled code that runs statements.
pub struct JitBody(FunctionHandle);
/// Handle of compiled code that runs statements for each frame of a batch.
pub struct JitBatchBody(FunctionHandle);

impl MachineFunction {
    /// A function whose module is not finished yet.
    pub fn new() -> MachineFunction {
        MachineFunction(Arc::default())
    }

    /// Publishes the address of the code.
    pub fn publish(&self, address: *const u8, memory: &Arc<CodeMemory>) {
        self.0.publish(address, memory);
    }
}

impl Default for MachineFunction {
    fn default() -> MachineFunction {
        MachineFunction::new()
    }
}

impl FunctionHandle {
    fn new(
        function: &MachineFunction,
        pool: &Arc<std::sync::OnceLock<Arc<ConstantPool>>>,
        needs: EnvRequirements,
    ) -> FunctionHandle {
        FunctionHandle {
            code: Arc::clone(&function.0),
            env: None,
            pool: Arc::clone(pool),
            requirements: needs,
        }
    }

    /// Calls the code. Returns its status.
    fn call(
        &mut self,
        context: &mut CodeContext<'_>,
        out: Option<&mut TupleBuf>,
    ) -> Result<u32, Fault> {
        self.enter(context, out)?;
        self.run()
    }

    /// Binds inputs, state and outlet of a call.
    fn enter(
        &mut self,
        context: &mut CodeContext<'_>,
        out: Option<&mut TupleBuf>,
    ) -> Result<&mut Env, Fault> {
        if self.env.is_none() {
            let pool = self.pool.get().ok_or_else(unfinished_fault)?;
            self.env = Some(Env::new(Arc::clone(pool), &self.requirements));
        }
        let env = self.env.as_mut().ok_or_else(unfinished_fault)?;
        env.enter(context, &self.requirements, out);
        Ok(env)
    }

    /// Runs the code. Returns its status.
    fn run(&mut self) -> Result<u32, Fault> {
        let address = self.code.address();
        let Some(env) = self.env.as_mut().filter(|_| !address.is_null()) else {
            return Err(unfinished_fault());
        };
        // SAFETY: the address that was published is that of a function of this signature, whose
        // memory the pointer keeps alive; the environment is entered.
        let status = unsafe {
            let function: extern "C" fn(*mut Env) -> u32 = std::mem::transmute(address);
            function(&raw mut **env)
        };
        match env.leave() {
            Some(fault) => Err(fault),
            None => Ok(status),
        }
    }
}

fn unfinished_fault() -> Fault {
    Fault::new(
        FaultKind::Limit,
        "compiled code was called before it was finished",
    )
}

impl JitProjection {
    /// A projection that calls a machine function.
    pub fn new(
        function: &MachineFunction,
        pool: &Arc<std::sync::OnceLock<Arc<ConstantPool>>>,
        needs: EnvRequirements,
    ) -> JitProjection {
        JitProjection(FunctionHandle::new(function, pool, needs))
    }
}

impl JitPredicate {
    /// A condition that calls a machine function.
    pub fn new(
        function: &MachineFunction,
        pool: &Arc<std::sync::OnceLock<Arc<ConstantPool>>>,
        needs: EnvRequirements,
    ) -> JitPredicate {
        JitPredicate(FunctionHandle::new(function, pool, needs))
    }
}

impl JitBody {
    /// A body that calls a machine function.
    pub fn new(
        function: &MachineFunction,
        pool: &Arc<std::sync::OnceLock<Arc<ConstantPool>>>,
        needs: EnvRequirements,
    ) -> JitBody {
        JitBody(FunctionHandle::new(function, pool, needs))
    }
}

impl JitBatchBody {
    /// A body for batches that calls a machine function.
    pub fn new(
        function: &MachineFunction,
        pool: &Arc<std::sync::OnceLock<Arc<ConstantPool>>>,
        needs: EnvRequirements,
    ) -> JitBatchBody {
        JitBatchBody(FunctionHandle::new(function, pool, needs))
    }
}

impl RunBodyOnBatch for JitBatchBody {
    fn run_body_on_batch(
        &mut self,
        context: &mut CodeContext<'_>,
        batch: &mut FrameBatch<'_>,
        kind: u8,
    ) -> (u64, Result<(), Fault>) {
        let env = match self.0.enter(context, None) {
            Ok(env) => env,
            Err(fault) => return (0, Err(fault)),
        };
        env.enter_batch(batch, kind);
        let result = self.0.run().map(drop);
        let Some(env) = &mut self.0.env else {
            return (0, result);
        };
        let (count, bytes) = env.leave_batch(batch);
        batch.advance(bytes);
        (count, result)
    }
}

impl ProjectTuple for JitProjection {
    fn project(&mut self, context: &mut CodeContext<'_>, out: &mut TupleBuf) -> Result<(), Fault> {
        self.0.call(context, Some(out)).map(drop)
    }
}

impl TestPredicate for JitPredicate {
    fn test(&mut self, context: &mut CodeContext<'_>) -> Result<bool, Fault> {
        self.0.call(context, None).map(|status| status == 1)
    }
}

impl RunBody for JitBody {
    fn run_body(&mut self, context: &mut CodeContext<'_>) -> Result<(), Fault> {
        self.0.call(context, None).map(drop)
    }
}
