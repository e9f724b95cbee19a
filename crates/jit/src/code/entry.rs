//! The handles that the run time calls: they enter the environment, call the code, and leave.

use std::sync::Arc;

use graph::{Fault, FaultKind};
use runtime::abi::{Act, ActEach, Batch, Context, Project, Test};
use tuple::{Layout, TupleBuf, Type};

use super::env::Env;
use super::memory::{Door, Memory};
use super::pool::Pool;

/// What a handle is made of; cheap to keep by whoever finishes the code.
#[derive(Clone)]
pub struct Entrance(Arc<Door>);

/// A machine function with the environment that it runs in.
struct Handle {
    door: Arc<Door>,
    env: Option<Box<Env>>,
    pool: Arc<std::sync::OnceLock<Arc<Pool>>>,
    needs: Needs,
}

/// What an environment has to offer a function.
#[derive(Clone, Debug)]
pub struct Needs {
    /// The types of its variables in memory.
    pub slots: Vec<Type>,
    /// The input slots that it reads.
    pub inputs: Vec<(u32, Arc<Layout>)>,
    /// Whether it takes anything temporary.
    pub allocates: bool,
}

/// Code that writes a tuple.
pub struct Projection(Handle);
/// Code that decides.
pub struct Predicate(Handle);
/// Code that runs statements.
pub struct Action(Handle);
/// Code that runs statements for frame after frame.
pub struct Loop(Handle);

impl Entrance {
    /// Of code that is not finished yet.
    pub fn new() -> Entrance {
        Entrance(Arc::default())
    }

    /// Sets where the code is.
    pub fn open(&self, entry: *const u8, memory: &Arc<Memory>) {
        self.0.open(entry, memory);
    }
}

impl Default for Entrance {
    fn default() -> Entrance {
        Entrance::new()
    }
}

impl Handle {
    fn new(
        entrance: &Entrance,
        pool: &Arc<std::sync::OnceLock<Arc<Pool>>>,
        needs: Needs,
    ) -> Handle {
        Handle {
            door: Arc::clone(&entrance.0),
            env: None,
            pool: Arc::clone(pool),
            needs,
        }
    }

    /// Calls the code; its status.
    fn call(
        &mut self,
        context: &mut Context<'_>,
        out: Option<&mut TupleBuf>,
    ) -> Result<u32, Fault> {
        self.enter(context, out)?;
        self.run()
    }

    /// Hands over what the code works with.
    fn enter(
        &mut self,
        context: &mut Context<'_>,
        out: Option<&mut TupleBuf>,
    ) -> Result<&mut Env, Fault> {
        if self.env.is_none() {
            let pool = self.pool.get().ok_or_else(unfinished)?;
            self.env = Some(Env::new(Arc::clone(pool), &self.needs));
        }
        let env = self.env.as_mut().ok_or_else(unfinished)?;
        env.enter(context, &self.needs, out);
        Ok(env)
    }

    /// Runs the code; its status.
    fn run(&mut self) -> Result<u32, Fault> {
        let entry = self.door.entry();
        let Some(env) = self.env.as_mut().filter(|_| !entry.is_null()) else {
            return Err(unfinished());
        };
        // SAFETY: the door was opened with the address of an entry of this signature, whose memory the
        // door keeps alive; the environment is entered.
        let status = unsafe {
            let entry: extern "C" fn(*mut Env) -> u32 = std::mem::transmute(entry);
            entry(&raw mut **env)
        };
        match env.leave() {
            Some(fault) => Err(fault),
            None => Ok(status),
        }
    }
}

fn unfinished() -> Fault {
    Fault::new(
        FaultKind::Limit,
        "compiled code was called before it was finished",
    )
}

impl Projection {
    /// A projection behind an entrance.
    pub fn new(
        entrance: &Entrance,
        pool: &Arc<std::sync::OnceLock<Arc<Pool>>>,
        needs: Needs,
    ) -> Projection {
        Projection(Handle::new(entrance, pool, needs))
    }
}

impl Predicate {
    /// A condition behind an entrance.
    pub fn new(
        entrance: &Entrance,
        pool: &Arc<std::sync::OnceLock<Arc<Pool>>>,
        needs: Needs,
    ) -> Predicate {
        Predicate(Handle::new(entrance, pool, needs))
    }
}

impl Action {
    /// Statements behind an entrance.
    pub fn new(
        entrance: &Entrance,
        pool: &Arc<std::sync::OnceLock<Arc<Pool>>>,
        needs: Needs,
    ) -> Action {
        Action(Handle::new(entrance, pool, needs))
    }
}

impl Loop {
    /// A loop behind an entrance.
    pub fn new(
        entrance: &Entrance,
        pool: &Arc<std::sync::OnceLock<Arc<Pool>>>,
        needs: Needs,
    ) -> Loop {
        Loop(Handle::new(entrance, pool, needs))
    }
}

impl ActEach for Loop {
    fn act_each(
        &mut self,
        context: &mut Context<'_>,
        batch: &mut Batch<'_>,
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

impl Project for Projection {
    fn project(&mut self, context: &mut Context<'_>, out: &mut TupleBuf) -> Result<(), Fault> {
        self.0.call(context, Some(out)).map(drop)
    }
}

impl Test for Predicate {
    fn test(&mut self, context: &mut Context<'_>) -> Result<bool, Fault> {
        self.0.call(context, None).map(|status| status == 1)
    }
}

impl Act for Action {
    fn act(&mut self, context: &mut Context<'_>) -> Result<(), Fault> {
        self.0.call(context, None).map(drop)
    }
}
