//! Aeron over IPC: its C media driver and C client.
//!
//! # Settings
//! The driver runs embedded in the measuring process, with one shared thread that may use any core,
//! as is recommended where cores are few; each client has its conductor thread. Exclusive
//! publications, messages written in place (`try_claim`), read in place by `poll` with up to 256
//! fragments a call, both sides spinning on a core of their own. Terms have their default length,
//! 64 MB: with short ones the publication waits for the driver's conductor, which moves its limit
//! on. They are not sparse, and touched beforehand. The MTU is 32 KB, so that no message is
//! fragmented. The driver's directory is in shared memory, of its own, and gone afterwards.

use std::any::Any;
use std::time::{Duration, Instant};

use rusteron_client::{
    AeronContext, AeronErrorHandlerLogger, AeronExclusivePublication, AeronPeer as Client,
    AeronSubscription, Handlers, IntoCString,
};
use rusteron_media_driver::bindings::aeron_threading_mode_enum::AERON_THREADING_MODE_SHARED;
use rusteron_media_driver::testing::EmbeddedDriver;

use crate::peer::{BuiltInPeer, locked_version};
use crate::peer_ends::{PeerReceive, PeerSend, fill, sum_words_of_bytes};
use crate::peer_processes::{self, MessageDirection, TwoProcessPeer};
use crate::{BoxError, ControlSink, PeerTask};

/// Aeron over IPC, with the settings of the module doc.
pub const PEER: BuiltInPeer = BuiltInPeer {
    name: AeronPeer::NAME,
    path: suite::StreamPath::Shm,
    version: || {
        let crates = locked_version("rusteron-client");
        format!("C driver and client of rusteron {crates}")
    },
    settings: "embedded driver, shared thread; exclusive publication, claim and poll in place, \
               terms of 64 MB, spinning",
    has_latency: true,
    run: peer_processes::run::<AeronPeer>,
    serve_partner: Some(peer_processes::serve::<AeronPeer>),
};

/// Messages that one call of `poll` takes at most.
const FRAGMENTS_MAX: usize = 256;

/// Number of the first stream.
const STREAM_ID_FIRST: i32 = 1001;

/// Time that a call which needs both processes may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

const CHANNEL: &str = "aeron:ipc?mtu=32k|sparse=false";

struct AeronPeer;

struct AeronSender {
    publication: AeronExclusivePublication,
    bytes: usize,
    _client: Client,
}

struct AeronReceiver {
    subscription: AeronSubscription,
    _client: Client,
}

fn driver_folder(task: &PeerTask) -> String {
    format!("/dev/shm/{}aeron", task.scratch)
}

fn client(task: &PeerTask) -> Result<Client, BoxError> {
    let context = AeronContext::new()?;
    context.set_dir(&driver_folder(task).as_str().into_c_string())?;
    context.set_error_handler(Some(AeronErrorHandlerLogger))?;
    context.set_pre_touch_mapped_memory(true)?;
    let client = Client::new(&context)?;
    client.start()?;
    Ok(client)
}

fn stream_id(way: MessageDirection) -> i32 {
    STREAM_ID_FIRST + i32::from(way.number())
}

impl TwoProcessPeer for AeronPeer {
    const NAME: &'static str = "aeron-ipc";
    type Sender = AeronSender;
    type Receiver = AeronReceiver;

    fn start_driver(task: &PeerTask) -> Result<Box<dyn Any>, BoxError> {
        let launched = EmbeddedDriver::launch_with(|context| {
            context.set_dir(&driver_folder(task).as_str().into_c_string())?;
            context.set_threading_mode(AERON_THREADING_MODE_SHARED)?;
            context.set_term_buffer_sparse_file(false)?;
            Ok(())
        });
        Ok(Box::new(launched?))
    }

    fn receiver(task: &PeerTask, way: MessageDirection) -> Result<AeronReceiver, BoxError> {
        let client = client(task)?;
        let channel = CHANNEL.into_c_string();
        let (none, nothing) = (Handlers::NONE, Handlers::NONE);
        let adding = client.async_add_subscription(&channel, stream_id(way), none, nothing)?;
        Ok(AeronReceiver {
            subscription: adding.poll_blocking(CONNECT_TIMEOUT)?,
            _client: client,
        })
    }

    fn sender(task: &PeerTask, way: MessageDirection) -> Result<AeronSender, BoxError> {
        let client = client(task)?;
        let channel = CHANNEL.into_c_string();
        let adding = client.async_add_exclusive_publication(&channel, stream_id(way))?;
        let publication = adding.poll_blocking(CONNECT_TIMEOUT)?;
        let begun = Instant::now();
        while !publication.is_connected() {
            if begun.elapsed() > CONNECT_TIMEOUT {
                return Err("nobody has subscribed".into());
            }
            std::thread::yield_now();
        }
        Ok(AeronSender {
            publication,
            bytes: task.bytes,
            _client: client,
        })
    }
}

impl PeerSend for AeronSender {
    fn send(&mut self, next: u64, _: u64) -> Result<u64, BoxError> {
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

impl PeerReceive for AeronReceiver {
    fn receive(&mut self, sink: &mut ControlSink) -> Result<(), BoxError> {
        let take = |message: &[u8], _| sink.add(sum_words_of_bytes(message));
        self.subscription.poll_fn(take, FRAGMENTS_MAX)?;
        Ok(())
    }
}
