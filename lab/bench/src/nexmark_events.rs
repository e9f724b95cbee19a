//! `thalweg bench nexmark-events`: writes events of NEXMark to files or standard output.

use std::io::{self, BufWriter, ErrorKind};

use crate::failure::BenchFailure;
use crate::nexmark_args::NexmarkEventsArgs;

/// Writes the events. A reader of standard output that has closed its end is no failure.
///
/// # Errors
/// The system cannot write them.
pub fn nexmark_events(args: &NexmarkEventsArgs) -> Result<(), BenchFailure> {
    let options = args.to_options();
    let written = match &args.out {
        Some(folder) => std::fs::create_dir_all(folder)
            .and_then(|()| suite::write_event_folder(folder, &options)),
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            suite::write_events(&mut out, &options, args.bids, args.paced)
        }
    };
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(BenchFailure::Failed(format!(
            "cannot write events: {error}"
        ))),
        _ => Ok(()),
    }
}
