//! Generated input of the VWAP example: trades and quotes in the 30 columns of the real feed.
//!
//! Prices walk at random around a start value; a quote's bid and ask lie around the last trade, and
//! now and then an offer lies below it, which is what the application looks for. The same seed
//! gives the same bytes on every machine: only integers are used, prices are in cents.

use std::fmt::Write;

/// Lines of the shipped input, without its header.
pub const SAMPLE_LINES: u32 = 4000;
/// Seed of the shipped input.
pub const SAMPLE_SEED: u64 = 20051227;

const HEADER: &str = "#RIC,Date[G],Time[G],GMT Offset,Type,Ex/Cntrb.ID,Price,Volume,VWAP,Buyer ID,\
Bid Price,Bid Size,No. Buyers,Seller ID,Ask Price,Ask Size,No. Sellers,Qualifiers,Seq. No.,\
Exch Time,Block Trd,Floor Trd,PE Ratio,Yield,New Price,New Vol,New Seq.No,Bid Imp.Vol,\
Ask Imp.Vol,Imp. Vol.\n";

/// Ticker and first price in cents.
const TICKERS: [(&str, i64); 8] = [
    ("IBM", 8350),
    ("GE", 3545),
    ("XOM", 5710),
    ("PFE", 2380),
    ("T", 2490),
    ("KO", 4080),
    ("DIS", 2435),
    ("MMM", 7790),
];

struct Ticker {
    name: &'static str,
    price: i64,
    volume: i64,
    value: i64,
}

/// The whole file as text.
pub fn generate(lines: u32, seed: u64) -> String {
    let mut random = VwapRandom(seed);
    let mut tickers = TICKERS.map(|(name, price)| Ticker {
        name,
        price,
        volume: 0,
        value: 0,
    });
    let mut text = String::from(HEADER);
    let mut millis: u64 = (14 * 60 + 30) * 60_000;
    for seq in 1..=lines {
        millis += random.below(900);
        let ticker = &mut tickers[random.below(TICKERS.len() as u64) as usize];
        let time = format_time(millis);
        if random.below(4) == 0 {
            trade(&mut text, ticker, &time, seq, &mut random);
        } else {
            quote(&mut text, ticker, &time, &mut random);
        }
    }
    text
}

fn trade(text: &mut String, ticker: &mut Ticker, time: &str, seq: u32, random: &mut VwapRandom) {
    ticker.price = (ticker.price + random.below(13) as i64 - 6).max(100);
    let volume = 100 * (1 + random.below(20) as i64);
    ticker.volume += volume;
    ticker.value += volume * ticker.price;
    let average = format_cents(ticker.value / ticker.volume);
    let Ticker { name, price, .. } = ticker;
    let price = format_cents(*price);
    let exchange_time = &time[..8];
    writeln!(
        text,
        "{name},27-DEC-2005,{time},-5,Trade,,{price},{volume},{average},,,,,,,,,,{seq},\
         {exchange_time},,,,,,,,,,"
    )
    .expect("writing to a string");
}

fn quote(text: &mut String, ticker: &Ticker, time: &str, random: &mut VwapRandom) {
    let bid = ticker.price - 1 - random.below(5) as i64;
    // One offer in ten lies below the last trade.
    let ask = match random.below(10) {
        0 => ticker.price - random.below(8) as i64,
        _ => ticker.price + 1 + random.below(6) as i64,
    };
    let (bid_size, ask_size) = (1 + random.below(40), 1 + random.below(40));
    let (name, bid, ask) = (ticker.name, format_cents(bid), format_cents(ask.max(1)));
    writeln!(
        text,
        "{name},27-DEC-2005,{time},-5,Quote,,,,,,{bid},{bid_size},,,{ask},{ask_size},,R[PRC],,\
         ,,,,,,,,,,"
    )
    .expect("writing to a string");
}

fn format_cents(amount: i64) -> String {
    format!("{}.{:02}", amount / 100, amount % 100)
}

fn format_time(millis: u64) -> String {
    let (seconds, millis) = (millis / 1000, millis % 1000);
    let (minutes, hours) = (seconds / 60, seconds / 3600 % 24);
    format!(
        "{hours:02}:{:02}:{:02}.{millis:03}",
        minutes % 60,
        seconds % 60
    )
}

/// SplitMix64: small, and the same everywhere.
struct VwapRandom(u64);

impl VwapRandom {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}
