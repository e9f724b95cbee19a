//! iceoryx2: publish and subscribe over shared memory, nothing copied.
//!
//! # Settings
//! A service of slices of words; the publisher loans a sample without initialising it, writes in place
//! and sends, the subscriber reads in place and drops the sample. The subscriber's buffer holds 512 KB
//! (16 to 1,024 samples) without overflow, and a publisher that finds it full tries again until it is
//! delivered, so that nothing is lost. One publisher, one subscriber, no history. The subscriber spins
//! on `receive`, as its examples for the least latency do. Each side is a process pinned to a core;
//! the files that it needs are in a folder of their own that is gone afterwards.

use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::prelude::*;

use crate::ends::{Receives, Sends, add_up_words};
use crate::peer::{Peer, locked_version};
use crate::processes::{self, Meets, Way};
use crate::{Failure, Sink, Task, scratch};

/// See the module.
pub const PEER: Peer = Peer {
    name: Iceoryx::NAME,
    path: suite::Path::Shm,
    version: || locked_version("iceoryx2"),
    settings: "publish/subscribe, loaned samples written and read in place, retry until delivered, \
               spinning",
    has_latency: true,
    run: processes::run::<Iceoryx>,
    serve: Some(processes::serve::<Iceoryx>),
};

/// Samples that a subscriber's buffer holds at most.
const SAMPLES_MAX: usize = 1024;

struct Iceoryx;

struct Sender {
    publisher: Publisher<ipc::Service, [u64], ()>,
    words: usize,
    _node: Node<ipc::Service>,
}

struct Receiver {
    subscriber: Subscriber<ipc::Service, [u64], ()>,
    _node: Node<ipc::Service>,
}

type Service =
    iceoryx2::service::port_factory::publish_subscribe::PortFactory<ipc::Service, [u64], ()>;

/// The service of a way, opened by whoever comes second.
fn open(task: &Task, way: Way) -> Result<(Node<ipc::Service>, Service), Failure> {
    set_log_level(LogLevel::Error);
    let mut config = Config::default();
    let root = scratch::folder(&task.scratch);
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
        .subscriber_max_buffer_size(task.capacity().min(SAMPLES_MAX))
        .open_or_create()?;
    Ok((node, service))
}

impl Meets for Iceoryx {
    const NAME: &'static str = "iceoryx2";
    type Sender = Sender;
    type Receiver = Receiver;

    fn receiver(task: &Task, way: Way) -> Result<Receiver, Failure> {
        let (node, service) = open(task, way)?;
        let subscriber = service.subscriber_builder().create()?;
        Ok(Receiver {
            subscriber,
            _node: node,
        })
    }

    fn sender(task: &Task, way: Way) -> Result<Sender, Failure> {
        let (node, service) = open(task, way)?;
        let publisher = service
            .publisher_builder()
            .initial_max_slice_len(task.words())
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()?;
        Ok(Sender {
            publisher,
            words: task.words(),
            _node: node,
        })
    }
}

impl Sends for Sender {
    fn send(&mut self, next: u64, _: u64) -> Result<u64, Failure> {
        let sample = self.publisher.loan_slice_uninit(self.words)?;
        match sample.write_from_fn(|_| next).send()? {
            0 => Err("nobody has subscribed".into()),
            _ => Ok(1),
        }
    }
}

impl Receives for Receiver {
    fn receive(&mut self, sink: &mut Sink) -> Result<(), Failure> {
        while let Some(sample) = self.subscriber.receive()? {
            sink.take(add_up_words(sample.payload()));
        }
        Ok(())
    }
}
