//! iceoryx2: publish and subscribe over shared memory, nothing copied.
//!
//! # Settings
//! A service of slices of words; the publisher loans a sample without initialising it, writes in
//! place and sends, the subscriber reads in place and drops the sample. The subscriber's buffer
//! holds 512 KB (16 to 1,024 samples) without overflow, and a publisher that finds it full tries
//! again until it is delivered, so that nothing is lost. One publisher, one subscriber, no history.
//! The subscriber spins on `receive`, as its examples for the least latency do. Each side is a
//! process pinned to a core; the files that it needs are in a folder of their own that is gone
//! afterwards.

use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;

use crate::peer::{BuiltInPeer, locked_version};
use crate::peer_ends::{PeerReceive, PeerSend, sum_words};
use crate::peer_processes::{self, MessageDirection, TwoProcessPeer};
use crate::{BoxError, ControlSink, PeerTask, scratch_folder};

/// iceoryx2 between two processes, with the settings of the module doc.
pub const PEER: BuiltInPeer = BuiltInPeer {
    name: IceoryxPeer::NAME,
    path: suite::StreamPath::Shm,
    version: || locked_version("iceoryx2"),
    settings: "publish/subscribe, loaned samples written and read in place, retry until delivered, \
               spinning",
    has_latency: true,
    run: peer_processes::run::<IceoryxPeer>,
    serve_partner: Some(peer_processes::serve::<IceoryxPeer>),
};

/// Samples that a subscriber's buffer holds at most.
const SAMPLES_MAX: usize = 1024;

struct IceoryxPeer;

struct IceoryxSender {
    publisher: Publisher<ipc::Service, [u64], ()>,
    words: usize,
    _node: Node<ipc::Service>,
}

struct IceoryxReceiver {
    subscriber: Subscriber<ipc::Service, [u64], ()>,
    _node: Node<ipc::Service>,
}

type IceoryxService =
    iceoryx2::service::port_factory::publish_subscribe::PortFactory<ipc::Service, [u64], ()>;

/// The service of a direction, created or opened.
fn open_service(
    task: &PeerTask,
    way: MessageDirection,
) -> Result<(Node<ipc::Service>, IceoryxService), BoxError> {
    set_log_level(LogLevel::Error);
    let mut config = Config::default();
    let root = scratch_folder::folder(&task.scratch);
    let root = root
        .to_str()
        .ok_or("the folder for temporary files is not UTF-8")?;
    config.global.set_root_path(&Path::new(root.as_bytes())?);
    config.global.prefix = FileName::new(task.scratch.as_bytes())?;
    let node = NodeBuilder::new()
        .config(&config)
        .create::<ipc::Service>()?;
    let service = node
        .service_builder(&way.name().try_into()?)
        .publish_subscribe::<[u64]>()
        .max_publishers(1)
        .max_subscribers(1)
        .history_size(0)
        .enable_safe_overflow(false)
        .subscriber_max_buffer_size(task.queue_messages().min(SAMPLES_MAX))
        .open_or_create()?;
    Ok((node, service))
}

impl TwoProcessPeer for IceoryxPeer {
    const NAME: &'static str = "iceoryx2";
    type Sender = IceoryxSender;
    type Receiver = IceoryxReceiver;

    fn receiver(task: &PeerTask, way: MessageDirection) -> Result<IceoryxReceiver, BoxError> {
        let (node, service) = open_service(task, way)?;
        let subscriber = service.subscriber_builder().create()?;
        Ok(IceoryxReceiver {
            subscriber,
            _node: node,
        })
    }

    fn sender(task: &PeerTask, way: MessageDirection) -> Result<IceoryxSender, BoxError> {
        let (node, service) = open_service(task, way)?;
        let publisher = service
            .publisher_builder()
            .initial_max_slice_len(task.words())
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()?;
        Ok(IceoryxSender {
            publisher,
            words: task.words(),
            _node: node,
        })
    }
}

impl PeerSend for IceoryxSender {
    fn send(&mut self, next: u64, _: u64) -> Result<u64, BoxError> {
        let sample = self.publisher.loan_slice_uninit(self.words)?;
        match sample.write_from_fn(|_| next).send()? {
            0 => Err("nobody has subscribed".into()),
            _ => Ok(1),
        }
    }
}

impl PeerReceive for IceoryxReceiver {
    fn receive(&mut self, sink: &mut ControlSink) -> Result<(), BoxError> {
        while let Some(sample) = self.subscriber.receive()? {
            sink.add(sum_words(sample.payload()));
        }
        Ok(())
    }
}
