//! The operators of `spl.control`.

pub mod job_control_plane;
