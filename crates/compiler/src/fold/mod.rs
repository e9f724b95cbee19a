//! Evaluation of what is known when compiling.
