//! Loops: those that a program writes, and the loop over the frames of a batch.

mod batch_loop;
mod program_loops;
