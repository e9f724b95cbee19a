"""Runs a query of NEXMark on Bytewax, in this process: QUERY WORKERS INPUT RESULTS."""

import sys
from collections import Counter
from datetime import datetime, timedelta, timezone
from pathlib import Path

import bytewax.operators as op
import bytewax.operators.windowing as win
from bytewax.connectors.files import FileSource
from bytewax.dataflow import Dataflow
from bytewax.outputs import DynamicSink, StatelessSinkPartition
from bytewax.run import cli_main

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
INTERVAL = timedelta(seconds=10)
SLIDE = timedelta(seconds=2)
LAG = timedelta(seconds=4)
# Sessions of Bytewax join after a pause of exactly the gap, those of the query do not.
PAUSE = timedelta(milliseconds=9_999)

# Columns of a line of events.csv: the kind, 8 of a person, 10 of an auction, 7 of a bid.
PERSON_AT, AUCTION_AT, BID_AT = 1, 9, 19
CATEGORY = "10"


def time_of(millis):
    """The time of milliseconds since 1970."""
    return EPOCH + timedelta(milliseconds=int(millis))


def clock(millis_of):
    """A clock that events alone move: the input is a replay."""
    return win.EventClock(
        lambda item: time_of(millis_of(item)),
        wait_for_system_duration=LAG,
        now_getter=lambda: EPOCH,
        to_system_utc=lambda _: None,
    )


class ResultSink(DynamicSink):
    """A file of results for each worker."""

    def __init__(self, results):
        self.results = results

    def build(self, step_id, worker_index, worker_count):
        return ResultFile(f"{self.results}.{worker_index}")


class ResultFile(StatelessSinkPartition):
    """Writes the lines of each batch at once."""

    def __init__(self, path):
        self.file = open(path, "w", buffering=1 << 16, encoding="latin-1")

    def write_batch(self, items):
        if items:
            self.file.write("\n".join(items))
            self.file.write("\n")

    def close(self):
        self.file.close()


def pass_through(lines):
    return op.map("bids", lines, lambda line: ",".join(short_bid(line)))


def in_euros(lines):
    def euros(line):
        auction, bidder, price, time, extra = short_bid(line)
        thousandths = int(price) * 908
        return (
            f"{auction},{bidder},{thousandths // 1000}.{thousandths % 1000:03},{time},{extra}"
        )

    return op.map("bids", lines, euros)


def selection(lines):
    def select(line):
        auction, _, price, _ = line.split(",", 3)
        return f"{auction},{price}" if int(auction) % 123 == 0 else None

    return op.filter_map("bids", lines, select)


def short_bid(line):
    """Auction, bidder, price, time and extra text of a line of bids.csv."""
    auction, bidder, price, _, _, time, extra = line.split(",")
    return auction, bidder, price, time, extra


def hot_items(lines):
    # Each key has a clock of its own, so auctions that have to be compared share a key.
    def auction_and_time(line):
        fields = line.split(",")
        return "all", (fields[0], fields[5])

    def count(counts, bid):
        counts[bid[0]] += 1
        return counts

    def most(result):
        _, (window, counts) = result
        count = max(counts.values())
        # A window has the number of slides since 1970.
        return [f"{auction},{window * 2},{count}" for auction in counts if counts[auction] == count]

    counts = win.fold_window(
        "counts",
        op.map("bids", lines, auction_and_time),
        clock(lambda bid: bid[1]),
        win.SlidingWindower(length=INTERVAL, offset=SLIDE, align_to=EPOCH),
        builder=Counter,
        folder=count,
        merger=Counter.__add__,
        ordered=False,
    )
    return op.flat_map("hot", counts.down, most)


def highest(best, item, number):
    """Adds an item to those with the greatest number."""
    if number > best[0]:
        return number, [item]
    if number == best[0]:
        best[1].append(item)
    return best


def highest_of_both(one, other):
    """The items with the greatest number of two."""
    if one[0] == other[0]:
        return one[0], one[1] + other[1]
    return max(one, other, key=lambda best: best[0])


def highest_bids(lines):
    keyed = op.map("bids", lines, lambda line: ("all", short_bid(line)))
    best = win.fold_window(
        "best",
        keyed,
        clock(lambda bid: bid[3]),
        win.TumblingWindower(length=INTERVAL, align_to=EPOCH),
        builder=lambda: (-1, []),
        folder=lambda best, bid: highest(best, bid, int(bid[2])),
        merger=highest_of_both,
        ordered=False,
    )
    return op.flat_map(
        "results", best.down, lambda result: [",".join(bid) for bid in result[1][1][1]]
    )


def new_sellers(lines):
    def person(line):
        if line[0] != "0":
            return None
        fields = line.split(",", AUCTION_AT)
        return fields[PERSON_AT], (fields[PERSON_AT + 6], fields[PERSON_AT + 1])

    def sale(line):
        if line[0] != "1":
            return None
        fields = line.split(",", BID_AT)
        return fields[AUCTION_AT + 7], (fields[AUCTION_AT + 5], None)

    joined = win.join_window(
        "join",
        clock(lambda item: item[0]),
        win.TumblingWindower(length=INTERVAL, align_to=EPOCH),
        op.filter_map("persons", lines, person),
        op.filter_map("sales", lines, sale),
    )

    def line_of(result):
        key, (window, (person, sale)) = result
        if person is None or sale is None:
            return None
        return f"{key},{person[1]},{window * 10}"

    return op.filter_map("sellers", joined.down, line_of)


def sessions(lines):
    def bidder_and_time(line):
        fields = line.split(",")
        return fields[1], int(fields[5])

    keyed = op.map("bids", lines, bidder_and_time)
    folded = win.fold_window(
        "sessions",
        keyed,
        clock(lambda time: time),
        win.SessionWindower(gap=PAUSE),
        builder=lambda: None,
        folder=lambda session, time: merge_sessions(session, (1, time, time)),
        merger=merge_sessions,
        ordered=False,
    )

    def line_of(result):
        bidder, (_, (bids, first, last)) = result
        return f"{bidder},{bids},{first},{last + 10_000}"

    return op.map("results", folded.down, line_of)


def merge_sessions(one, other):
    """Bids, first and last time of two sessions in one."""
    if one is None or other is None:
        return one or other
    return one[0] + other[0], min(one[1], other[1]), max(one[2], other[2])


def last_bids(lines):
    def keyed(line):
        auction, bidder, _, _, _, time, _ = line.split(",")
        return f"{bidder} {auction}", (int(time), line)

    def keep_last(last, bid):
        time, line = bid
        return (time, line) if last is None or time >= last else (last, None)

    bids = op.stateful_map("last", op.map("bids", lines, keyed), keep_last)
    return op.filter_map("results", bids, lambda bid: bid[1])


def local_items(lines):
    def person_or_sale(line):
        if line[0] == "0":
            fields = line.split(",", AUCTION_AT)
            city, state = fields[PERSON_AT + 4 : PERSON_AT + 6]
            if state in ("OR", "ID", "CA"):
                return fields[PERSON_AT], (f"{fields[PERSON_AT + 1]},{city},{state}", None)
        elif line[0] == "1":
            fields = line.split(",", BID_AT)
            if fields[AUCTION_AT + 8] == CATEGORY:
                return fields[AUCTION_AT + 7], (None, fields[AUCTION_AT])
        return None

    def join(state, event):
        person, waiting = state or (None, [])
        new_person, auction = event
        if new_person is not None:
            return (new_person, []), [f"{new_person},{one}" for one in waiting]
        if person is not None:
            return state, [f"{person},{auction}"]
        waiting.append(auction)
        return (None, waiting), []

    keyed = op.filter_map("events", lines, person_or_sale)
    joined = op.stateful_flat_map("join", keyed, join)
    return op.map("results", joined, lambda item: item[1])


def expanded_bids(lines):
    def auction_or_bid(line):
        if line[0] == "1":
            fields = line.split(",", BID_AT)[AUCTION_AT:BID_AT]
            return fields[0], (True, fields[8] == CATEGORY and ",".join(fields[1:]))
        if line[0] == "2":
            bid = line[BID_AT + 1 :]
            return bid[: bid.index(",")], (False, bid)
        return None

    # The auction's fields, empty for other categories, and the bids that came before it.
    def join(state, event):
        auction, waiting = state or (None, [])
        is_auction, text = event
        if is_auction:
            new = text or ""
            return (new, []), [f"{bid},{new}" for bid in waiting] if new else []
        if auction is None:
            waiting.append(text)
            return (None, waiting), []
        return state, [f"{text},{auction}"] if auction else []

    keyed = op.filter_map("events", lines, auction_or_bid)
    joined = op.stateful_flat_map("join", keyed, join)
    return op.map("results", joined, lambda item: item[1])


QUERIES = {
    0: pass_through,
    1: in_euros,
    2: selection,
    3: local_items,
    5: hot_items,
    7: highest_bids,
    8: new_sellers,
    11: sessions,
    18: last_bids,
    20: expanded_bids,
}


def main(query, workers, file, results):
    flow = Dataflow("nexmark")
    lines = op.input("read", flow, FileSource(Path(file)))
    op.output("write", QUERIES[int(query)](lines), ResultSink(results))
    cli_main(flow, workers_per_process=int(workers))


if __name__ == "__main__":
    main(*sys.argv[1:])
