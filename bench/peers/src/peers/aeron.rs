//! Aeron: its C media driver and C client, IPC.
//!
//! # Settings
//! The driver runs embedded in the measuring process, with one shared thread that may use any core, as
//! is recommended where cores are few; each client has its conductor thread. Exclusive publications,
//! messages written in place (`try_claim`), read in place by `poll` with up to 256 fragments a call,
//! both sides spinning on a core of their own. Terms have their default length, 64 MB: with short ones
//! the publication waits for the driver's conductor, which moves its limit on. They are not sparse, and
//! touched beforehand. The MTU is 32 KB, so that no message is fragmented. The driver's directory is in
//! shared memory, of its own, and gone afterwards.

use std::any::Any;
use std::time::{Duration, Instant};

use rusteron_client::{
    Aeron as Client, AeronContext, AeronErrorHandlerLogger, AeronExclusivePublication,
    AeronSubscription, Handlers, IntoCString,
};
use rusteron_media_driver::bindings::aeron_threading_mode_enum::AERON_THREADING_MODE_SHARED;
use rusteron_media_driver::testing::EmbeddedDriver;

use crate::ends::{Receives, Sends, add_up, fill};
use crate::peer::{Peer, locked_version};
use crate::processes::{self, Meets, Way};
use crate::{Failure, Sink, Task};

/// See the module.
pub const PEER: Peer = Peer {
    name: Aeron::NAME,
    path: suite::Path::Shm,
    version: || {
        let crates = locked_version("rusteron-client");
        format!("C driver and client of rusteron {crates}")
    },
    settings: "embedded driver, shared thread; exclusive publication, claim and poll in place, \
               terms of 64 MB, spinning",
    has_latency: true,
    run: processes::run::<Aeron>,
    serve: Some(processes::serve::<Aeron>),
};

/// Messages of one call of `poll`.
const FRAGMENTS: usize = 256;

/// Streams are numbered from here on.
const STREAM: i32 = 1001;

/// How long anything that takes two may take.
const PATIENCE: Duration = Duration::from_secs(10);

const CHANNEL: &str = "aeron:ipc?mtu=32k|sparse=false";

struct Aeron;

struct Sender {
    publication: AeronExclusivePublication,
    bytes: usize,
    _client: Client,
}

struct Receiver {
    subscription: AeronSubscription,
    _client: Client,
}

fn dir(task: &Task) -> String {
    format!("/dev/shm/{}aeron", task.scratch)
}

fn client(task: &Task) -> Result<Client, Failure> {
    let context = AeronContext::new()?;
    context.set_dir(&dir(task).as_str().into_c_string())?;
    context.set_error_handler(Some(AeronErrorHandlerLogger))?;
    context.set_pre_touch_mapped_memory(true)?;
    let client = Client::new(&context)?;
    client.start()?;
    Ok(client)
}

fn stream(way: Way) -> i32 {
    STREAM + i32::from(way.number())
}

impl Meets for Aeron {
    const NAME: &'static str = "aeron-ipc";
    type Sender = Sender;
    type Receiver = Receiver;

    fn host(task: &Task) -> Result<Box<dyn Any>, Failure> {
        let launched = EmbeddedDriver::launch_with(|context| {
            context.set_dir(&dir(task).as_str().into_c_string())?;
            context.set_threading_mode(AERON_THREADING_MODE_SHARED)?;
            context.set_term_buffer_sparse_file(false)?;
            Ok(())
        });
        Ok(Box::new(launched?))
    }

    fn receiver(task: &Task, way: Way) -> Result<Receiver, Failure> {
        let client = client(task)?;
        let channel = CHANNEL.into_c_string();
        let (none, nothing) = (Handlers::NONE, Handlers::NONE);
        let adding = client.async_add_subscription(&channel, stream(way), none, nothing)?;
        Ok(Receiver {
            subscription: adding.poll_blocking(PATIENCE)?,
            _client: client,
        })
    }

    fn sender(task: &Task, way: Way) -> Result<Sender, Failure> {
        let client = client(task)?;
        let channel = CHANNEL.into_c_string();
        let adding = client.async_add_exclusive_publication(&channel, stream(way))?;
        let publication = adding.poll_blocking(PATIENCE)?;
        let begun = Instant::now();
        while !publication.is_connected() {
            if begun.elapsed() > PATIENCE {
                return Err("nobody has subscribed".into());
            }
            std::thread::yield_now();
        }
        Ok(Sender {
            publication,
            bytes: task.bytes,
            _client: client,
        })
    }
}

impl Sends for Sender {
    fn send(&mut self, next: u64, _: u64) -> Result<u64, Failure> {
        match self.publication.try_claim_owned(self.bytes) {
            Ok(mut claim) => {
                fill(claim.data(), next);
                claim.commit()?;
                Ok(1)
            }
            Err(error) if error.is_retryable() => Ok(0),
            Err(error) => Err(error.into()),
        }
    }
}

impl Receives for Receiver {
    fn receive(&mut self, sink: &mut Sink) -> Result<(), Failure> {
        let take = |message: &[u8], _| sink.take(add_up(message));
        self.subscription.poll_fn(take, FRAGMENTS)?;
        Ok(())
    }
}
