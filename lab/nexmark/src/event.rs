//! The events of the auction house.

/// One event, at its event time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A new person, who may sell and bid.
    Person(Person),
    /// A new auction to bid for.
    Auction(Auction),
    /// An offer for an auction.
    Bid(Bid),
}

/// A new person of the house.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// Number of the person.
    pub id: u64,
    /// First and last name.
    pub name: String,
    /// Address for electronic mail.
    pub email_address: String,
    /// Sixteen digits in groups of four.
    pub credit_card: String,
    /// City in the west of the United States.
    pub city: String,
    /// State, as two letters.
    pub state: String,
    /// Event time in milliseconds since 1970.
    pub date_time: i64,
    /// Letters that fill the event up to its size.
    pub extra: String,
}

/// A new auction of the house.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Auction {
    /// Number of the auction.
    pub id: u64,
    /// Name of the item.
    pub item_name: String,
    /// Description of the item.
    pub description: String,
    /// First price in cents.
    pub initial_bid: u64,
    /// Least price in cents for which the item is sold.
    pub reserve: u64,
    /// Event time in milliseconds since 1970.
    pub date_time: i64,
    /// End of the auction in milliseconds since 1970.
    pub expires: i64,
    /// Person who sells the item.
    pub seller: u64,
    /// Category of the item.
    pub category: u64,
    /// Letters that fill the event up to its size.
    pub extra: String,
}

/// A bid on an auction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bid {
    /// Auction that the bid is on.
    pub auction: u64,
    /// Person who makes the bid.
    pub bidder: u64,
    /// Price of the bid in cents.
    pub price: u64,
    /// Channel by which the bid came.
    pub channel: String,
    /// Address of the page of the item in that channel.
    pub url: String,
    /// Event time in milliseconds since 1970.
    pub date_time: i64,
    /// Letters that fill the event up to its size.
    pub extra: String,
}

impl Event {
    /// Event time in milliseconds since 1970.
    pub fn date_time(&self) -> i64 {
        match self {
            Event::Person(person) => person.date_time,
            Event::Auction(auction) => auction.date_time,
            Event::Bid(bid) => bid.date_time,
        }
    }
}
