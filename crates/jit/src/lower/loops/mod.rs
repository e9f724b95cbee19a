//! Loops: those that a program writes, and the loop over the frames of a batch.

mod batch_loop;
mod source_loops;
