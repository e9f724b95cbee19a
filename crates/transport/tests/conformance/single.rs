//! A medium that has one receiver an edge and no more: what the suite asks of media like it.

use transport::{Caps, Error, Inbound, Medium, Outbound, Spec, Ticket, media};

/// Another one, but for its receivers.
pub struct Single;

fn inner() -> &'static dyn Medium {
    media::find("tcp").expect("tcp is registered")
}

impl Medium for Single {
    fn name(&self) -> &'static str {
        "single"
    }

    fn caps(&self) -> Caps {
        Caps {
            is_one_to_many: false,
            receivers_max: 1,
            ..inner().caps()
        }
    }

    fn open(&self, spec: &Spec) -> Result<(Box<dyn Outbound>, Vec<Ticket>), Error> {
        if spec.receivers != 1 {
            let why = format!("{}: one receiver, not {}", spec.name, spec.receivers);
            return Err(Error::Refused(why));
        }
        inner().open(spec)
    }

    fn accept(&self, spec: &Spec, ticket: Ticket) -> Result<Box<dyn Inbound>, Error> {
        inner().accept(spec, ticket)
    }
}
