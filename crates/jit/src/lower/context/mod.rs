//! The state of lowering: the unit that all machine functions share, the function being made, the
//! meaning of a body's names, and what is decided of bodies before they are lowered.
//!
//! Nothing here lowers an expression or a statement; all other folders build on this one.

mod body_context;
mod body_usage;
mod codegen_unit;
mod event_time_range;
mod function_lowering;
mod inlining_decisions;
mod local_storage;
mod memory_requirements;
mod output_target;
mod register_cache;
mod ring_grant_addresses;
mod seldom_arm;
mod signature;
mod state_layout;
mod watermark_words;

pub use body_context::{
    BodyContext, BodyInput, LoopTargets, ReturnTarget, SampledOperator, StateStorage,
};
pub use body_usage::{BodyUsage, LocalUsage, seldom_holds};
pub use codegen_unit::{CodegenUnit, CompiledFunction, MachineCodeListing};
pub use event_time_range::EventTimeRange;
pub use function_lowering::FunctionLowering;
pub use local_storage::{LocalStorage, StorageKind, storage_kind};
pub use memory_requirements::MemoryRequirements;
pub use output_target::{
    InlinableOperator, InlinedEdge, InlinedOutput, OutputEdge, OutputTarget, TapAddresses,
};
pub use register_cache::{
    CachedTicks, CachedVariable, OwnWords, PENDING_MAX, RegisterCache, TICK_READS,
};
pub use ring_grant_addresses::RingGrantAddresses;
pub use seldom_arm::SeldomArm;
pub use signature::signature;
pub use state_layout::StateLayout;
pub use watermark_words::WatermarkWords;
