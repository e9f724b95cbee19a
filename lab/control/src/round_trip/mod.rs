//! Round trips by hand: source, relay and sink on bare cache lines or a bare socket.

pub mod cache_lines;
pub mod tcp_trip;
pub mod trip_stages;
