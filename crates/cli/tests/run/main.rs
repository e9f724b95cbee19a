//! Whole runs of the command, as a user makes them.

mod bad_input;
mod bench;
mod command;
mod comparisons;
mod deaths;
mod drain;
mod event_time;
mod examples;
mod files;
mod flow;
mod generated;
mod hosts;
mod jobs;
mod net;
mod order;
mod perf;
mod processes;
mod programs;
mod scratch;
mod split;
mod stdin;
mod threads;
mod top;
mod trips;
mod vwap;
