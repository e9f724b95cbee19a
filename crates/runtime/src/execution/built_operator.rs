//! The Rust code of an operator or of its thread: an author's, or that of an operator which the
//! plan has inserted. The two have contracts of their own and are called at the same places.

use eval::Fault;
use graph::PortIndex;
use tuple::{EventTime, TupleBuf, TupleRef};

use super::operator_outlet::OperatorOutlet;
use crate::abi::{FrameForm, FrameGrant};
use crate::contract::incomplete_windows::IncompleteWindows;
use crate::inserted::inserted_operator::{InsertedOperator, InsertedSource, PooledSource};
use crate::{Operator, Source, TimerId};

/// An operator that is Rust code.
pub(crate) enum BuiltOperator {
    Authored(Box<dyn Operator>),
    Inserted(Box<dyn InsertedOperator>),
}

/// The work of a thread that an operator has for itself.
pub(crate) enum BuiltSource {
    Authored(Box<dyn Source>),
    Inserted(Box<dyn InsertedSource>),
}

/// Result of a call of an operator.
type Called = Result<(), Fault>;

/// Calls while the PE runs.
impl BuiltOperator {
    #[inline]
    pub fn process(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut OperatorOutlet<'_>,
    ) -> Called {
        match self {
            BuiltOperator::Authored(authored) => authored.process(port, tuple, out),
            BuiltOperator::Inserted(inserted) => inserted.process(port, tuple, out),
        }
    }

    #[inline]
    pub fn process_owned(
        &mut self,
        port: PortIndex,
        tuple: &mut TupleBuf,
        out: &mut OperatorOutlet<'_>,
    ) -> Called {
        match self {
            BuiltOperator::Authored(authored) => authored.process_owned(port, tuple, out),
            BuiltOperator::Inserted(inserted) => inserted.process_owned(port, tuple, out),
        }
    }

    /// Whether there is room for a tuple; inserted operators are never bounded.
    pub fn has_room(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut OperatorOutlet<'_>,
    ) -> Result<bool, Fault> {
        match self {
            BuiltOperator::Authored(authored) => authored.has_room(port, tuple, out),
            BuiltOperator::Inserted(_) => Ok(true),
        }
    }

    pub fn process_window_marker(
        &mut self,
        port: PortIndex,
        out: &mut OperatorOutlet<'_>,
    ) -> Called {
        match self {
            BuiltOperator::Authored(authored) => authored.process_window_marker(port, out),
            BuiltOperator::Inserted(inserted) => inserted.process_window_marker(port, out),
        }
    }

    pub fn process_watermark(&mut self, at: EventTime, out: &mut OperatorOutlet<'_>) -> Called {
        match self {
            BuiltOperator::Authored(authored) => authored.process_watermark(at, out),
            BuiltOperator::Inserted(inserted) => inserted.process_watermark(at, out),
        }
    }

    pub fn process_final_marker(
        &mut self,
        port: PortIndex,
        out: &mut OperatorOutlet<'_>,
    ) -> Called {
        match self {
            BuiltOperator::Authored(authored) => authored.process_final_marker(port, out),
            BuiltOperator::Inserted(inserted) => inserted.process_final_marker(port, out),
        }
    }

    pub fn finish(&mut self, out: &mut OperatorOutlet<'_>) -> Called {
        match self {
            BuiltOperator::Authored(authored) => authored.finish(out),
            BuiltOperator::Inserted(inserted) => inserted.finish(out),
        }
    }

    pub fn flush(&mut self, out: &mut OperatorOutlet<'_>) -> Called {
        match self {
            BuiltOperator::Authored(authored) => authored.flush(out),
            BuiltOperator::Inserted(inserted) => inserted.flush(out),
        }
    }

    /// Tells how far the thread has come; an author's operator has nobody to tell.
    pub fn send_progress(&mut self, out: &mut OperatorOutlet<'_>) -> Called {
        match self {
            BuiltOperator::Authored(_) => Ok(()),
            BuiltOperator::Inserted(inserted) => inserted.send_progress(out),
        }
    }

    /// Runs a timer; inserted operators have none.
    pub fn on_timer(&mut self, timer: TimerId, out: &mut OperatorOutlet<'_>) -> Called {
        match self {
            BuiltOperator::Authored(authored) => authored.on_timer(timer, out),
            BuiltOperator::Inserted(_) => Ok(()),
        }
    }

    pub fn incomplete_windows(&self) -> Option<IncompleteWindows> {
        match self {
            BuiltOperator::Authored(authored) => authored.incomplete_windows(),
            BuiltOperator::Inserted(_) => None,
        }
    }

    pub fn close(&mut self, out: &mut OperatorOutlet<'_>) -> Called {
        match self {
            BuiltOperator::Authored(authored) => authored.close(out),
            BuiltOperator::Inserted(inserted) => inserted.close(out),
        }
    }

    /// Wakes the reader of frames, which only inserted operators have.
    pub fn wake_reader(&mut self) {
        if let BuiltOperator::Inserted(inserted) = self {
            inserted.wake_reader();
        }
    }
}

/// Calls while the PE is wired, and the work of a thread.
impl BuiltOperator {
    /// Room for frames, which only inserted operators offer.
    pub fn frame_grant(&mut self) -> Option<FrameGrant> {
        match self {
            BuiltOperator::Authored(_) => None,
            BuiltOperator::Inserted(inserted) => inserted.frame_grant(),
        }
    }

    /// By output port: form of tuples in batches, which only inserted operators submit.
    pub fn batch_forms(&self) -> Vec<Option<FrameForm>> {
        match self {
            BuiltOperator::Authored(_) => Vec::new(),
            BuiltOperator::Inserted(inserted) => inserted.batch_forms(),
        }
    }

    pub fn take_source(&mut self) -> Option<BuiltSource> {
        Some(match self {
            BuiltOperator::Authored(authored) => BuiltSource::Authored(authored.take_source()?),
            BuiltOperator::Inserted(inserted) => BuiltSource::Inserted(inserted.take_source()?),
        })
    }
}

impl BuiltSource {
    pub fn run(&mut self, out: &mut OperatorOutlet<'_>) -> Called {
        match self {
            BuiltSource::Authored(authored) => authored.run(out),
            BuiltSource::Inserted(inserted) => inserted.run(out),
        }
    }

    /// The source as one that threads of a pool run by turns, if it can be that.
    pub fn as_pooled(&mut self) -> Option<&mut dyn PooledSource> {
        match self {
            BuiltSource::Authored(_) => None,
            BuiltSource::Inserted(inserted) => inserted.as_pooled(),
        }
    }
}
