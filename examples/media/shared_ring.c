/* shared_ring.c: a medium over a ring in shared memory, as a library for `thalweg run --media-path`.
 *
 *   cc -std=c11 -O2 -fPIC -shared -I crates/plugin/include examples/media/shared_ring.c \
 *      -o libthalweg_medium_shared_ring.so
 *   thalweg medium check ./libthalweg_medium_shared_ring.so
 *
 *     | indexes | bytes of the ring | the same bytes once more |
 *                 ^ released  ^ published, committed
 *
 * One sender, one receiver. The algorithm is that of the ring in Rust (crates/ring): `committed` moves
 * with each block, and as long as the receiver does not look there, its cache line stays with the sender.
 * `published` moves with each batch; a receiver that runs out looks there, and at `committed` only if
 * there is nothing, so a lone block is seen at once. Indexes count bytes since the beginning.
 *
 * A batch is a run: Thalweg stores `committed` with each block by itself, and calls once a batch.
 *
 * The bytes are mapped twice, one after the other, so a block that wraps still lies in one piece. A poll
 * shows an eighth of the ring at most, to the end of a block: `marks` has one for each eighth.
 *
 * An end that sleeps sets a flag, which the other end looks at behind each of its stores; membarrier(2)
 * makes that safe without a fence for each block. A side whose process cannot register for it executes
 * fences and says so. A pipe, which nobody writes to, tells each side of the other's death. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "thalweg_medium.h"

#define PAGE 4096
#define CACHE_LINE 128 /* two lines, as processors fetch them in pairs */

/* Bytes of a batch, or a quarter of the ring if that is less. */
#define BATCH_BYTES (32 * 1024)

/* Looks at `published` before a look at `committed`: a receiver that takes single blocks from a sender at
 * work on a batch takes cache lines from under it. */
#define BATCH_SPINS_MIN 4
#define BATCH_SPINS_MAX 64

/* Bytes that must come for each look to make waiting for a batch worthwhile. */
#define SPIN_BYTES 32

/* Parts of the ring of which one is the largest block. */
#define BLOCK_PARTS 4

/* Parts of the ring that polls show one by one. */
#define PARTS 8

/* Nanoseconds between two looks for the other side's death: a system call each. */
#define LOOK_NS (10 * 1000 * 1000)

/* Calls that find nothing to do between two looks at the clock. */
#define CALLS_PER_CLOCK 64

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

typedef struct indexes {
    _Alignas(CACHE_LINE) _Atomic uint64_t committed; /* written by the sender with each block */
    _Atomic uint64_t block_bytes;                    /* bytes of the first block of a run */
    _Alignas(CACHE_LINE) _Atomic uint64_t marks[PARTS]; /* for each part, the end of a run behind its begin */
    _Alignas(CACHE_LINE) _Atomic uint64_t published; /* written by the sender with each batch */
    _Alignas(CACHE_LINE) _Atomic uint64_t released;  /* written by the receiver */
    _Alignas(CACHE_LINE) _Atomic uint64_t receiver_sleeps;
    _Alignas(CACHE_LINE) _Atomic uint64_t sender_sleeps;
    _Alignas(CACHE_LINE) _Atomic uint32_t sender_fences; /* the sender has no membarrier */
    _Atomic uint32_t receiver_fences;
} indexes;

_Static_assert(sizeof(indexes) <= PAGE, "the indexes have the first page");

/* What both ends have. */
typedef struct edge_end {
    indexes *at;
    char *ring;       /* the bytes, twice */
    uint64_t limit;   /* most bytes that are committed and not released */
    uint64_t mapped;  /* bytes of one of the two mappings */
    uint64_t part;    /* bytes of a part */
    int has_barrier;  /* whether membarrier reaches this side */
    int life;         /* this side's end of the pipe */
    int own_event;    /* wakes this side */
    int their_event;  /* wakes the other side */
    int is_lost;      /* whether the other side is gone */
    uint64_t look_ns; /* time of the last look for that */
    uint32_t calls;   /* calls since the last look at the clock */
} edge_end;

struct thalweg_medium_sender {
    edge_end end;
    uint64_t head;      /* bytes that are committed */
    uint64_t offset;    /* where the next block begins in the ring */
    uint64_t published; /* what was last stored there */
    uint64_t released;  /* what was last read there */
    uint64_t batch;     /* bytes of a batch */
    int is_claimed;     /* the last claim was not committed */
};

struct thalweg_medium_receiver {
    edge_end end;
    uint64_t released; /* bytes that were given back */
    uint64_t offset;   /* where they end in the ring */
    uint64_t known;    /* bytes that have come, as last read */
    uint64_t shown;    /* bytes that polls have shown */
    uint32_t spins;    /* looks for a batch before one for single blocks; 0 in silence */
};

static int fail(int status, char *sentence, const char *tried) {
    snprintf(sentence, THALWEG_MEDIUM_SENTENCE_BYTES, "cannot %s: %s", tried, strerror(errno));
    return status;
}

static int say(int status, char *sentence, const char *words) {
    snprintf(sentence, THALWEG_MEDIUM_SENTENCE_BYTES, "%s", words);
    return status;
}

/* Maps the indexes, and the bytes of the ring twice; 0: the system has refused. */
static int map(edge_end *end, int memory, uint64_t limit) {
    uint64_t bytes = (limit + PAGE - 1) / PAGE * PAGE;
    int access = PROT_READ | PROT_WRITE;
    char *base = mmap(NULL, PAGE + 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return 0;
    char *ring = base + PAGE;
    if (mmap(base, PAGE + bytes, access, MAP_SHARED | MAP_FIXED, memory, 0) == MAP_FAILED ||
        mmap(ring + bytes, bytes, access, MAP_SHARED | MAP_FIXED, memory, PAGE) == MAP_FAILED) {
        munmap(base, PAGE + 2 * bytes);
        return 0;
    }
    end->at = (indexes *)base;
    end->ring = ring;
    end->limit = limit;
    end->mapped = bytes;
    end->part = limit / PARTS;
    end->has_barrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
    return 1;
}

static void unmap(edge_end *end) {
    munmap(end->at, PAGE + 2 * end->mapped);
    close(end->life), close(end->own_event), close(end->their_event);
}

/* Between the announcement of a sleep and the last look for work; 0: a sleep might last for ever. */
static int heavy_barrier(_Atomic uint32_t *other_fences) {
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(other_fences, memory_order_relaxed) ||
           syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

/* Between work for the other side and the look whether that sleeps. */
static inline void light_barrier(edge_end *end) {
    atomic_signal_fence(memory_order_seq_cst);
    if (!end->has_barrier)
        atomic_thread_fence(memory_order_seq_cst);
}

static inline void wake(edge_end *end, _Atomic uint64_t *sleeps) {
    light_barrier(end);
    if (atomic_load_explicit(sleeps, memory_order_relaxed) && atomic_exchange(sleeps, 0)) {
        uint64_t one = 1;
        if (write(end->their_event, &one, sizeof one) < 0)
            return; /* the counter is full, so the event is there */
    }
}

/* Looks whether the other side is gone. */
static int look(edge_end *end) {
    struct pollfd life = {.fd = end->life};
    end->is_lost |= poll(&life, 1, 0) > 0;
    return end->is_lost;
}

/* Like `look`, with a system call now and then only: for calls that a spinning thread repeats. */
static int look_sometimes(edge_end *end) {
    struct timespec now;
    if (!end->is_lost && ++end->calls < CALLS_PER_CLOCK)
        return 0;
    end->calls = 0;
    if (end->is_lost || clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return look(end);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    if (ns - end->look_ns < LOOK_NS)
        return 0;
    end->look_ns = ns;
    return look(end);
}

static void drain(int event) {
    uint64_t count;
    if (read(event, &count, sizeof count) < 0)
        return; /* there was no event */
}

/* Makes the descriptors of an edge; 0: the system has refused. */
static int make_descriptors(int *memory, int life[2], int events[2], uint64_t limit) {
    uint64_t bytes = PAGE + (limit + PAGE - 1) / PAGE * PAGE;
    *memory = memfd_create("thalweg shared_ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    events[0] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    events[1] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (pipe2(life, O_CLOEXEC | O_NONBLOCK) < 0)
        life[0] = life[1] = -1;
    return *memory >= 0 && events[0] >= 0 && events[1] >= 0 && life[0] >= 0 &&
           ftruncate(*memory, (off_t)bytes) == 0 && fcntl(*memory, F_ADD_SEALS, SEALS) == 0;
}

static int ring_open(const thalweg_medium_edge *edge, thalweg_medium_sender **sender,
                     uint64_t *block_bytes_max, thalweg_medium_ticket *tickets, char *sentence) {
    int memory, life[2], events[2], theirs[2] = {-1, -1};
    uint64_t limit = edge->ring_bytes;
    thalweg_medium_sender *s = calloc(1, sizeof *s);
    int is_made = make_descriptors(&memory, life, events, limit) && s;
    if (is_made) {
        theirs[0] = fcntl(events[0], F_DUPFD_CLOEXEC, 3);
        theirs[1] = fcntl(events[1], F_DUPFD_CLOEXEC, 3);
    }
    if (theirs[0] < 0 || theirs[1] < 0 || !map(&s->end, memory, limit)) {
        fail(THALWEG_MEDIUM_SYSTEM, sentence, "make a ring in shared memory");
        close(memory), close(life[0]), close(life[1]), close(events[0]), close(events[1]);
        close(theirs[0]), close(theirs[1]), free(s);
        return THALWEG_MEDIUM_SYSTEM;
    }
    s->end.life = life[1];
    s->end.own_event = events[0];
    s->end.their_event = events[1];
    atomic_store(&s->end.at->sender_fences, !s->end.has_barrier);
    s->batch = limit / 4 < BATCH_BYTES ? limit / 4 / 8 * 8 : BATCH_BYTES;
    tickets[0].byte_count = sizeof limit;
    memcpy(tickets[0].bytes, &limit, sizeof limit);
    tickets[0].fd_count = 4;
    tickets[0].fds[0] = memory;
    tickets[0].fds[1] = life[0];
    tickets[0].fds[2] = theirs[0];
    tickets[0].fds[3] = theirs[1];
    *block_bytes_max = limit / BLOCK_PARTS / 8 * 8;
    *sender = s;
    return THALWEG_MEDIUM_OK;
}

static int ring_accept(const thalweg_medium_edge *edge, uint32_t receiver,
                       const thalweg_medium_ticket *ticket, thalweg_medium_receiver **end,
                       char *sentence) {
    (void)receiver;
    uint64_t limit;
    struct stat memory;
    memcpy(&limit, ticket->bytes, sizeof limit);
    if (ticket->byte_count != sizeof limit || ticket->fd_count != 4 || limit != edge->ring_bytes ||
        fstat(ticket->fds[0], &memory) < 0 || (uint64_t)memory.st_size < PAGE + limit ||
        (fcntl(ticket->fds[0], F_GET_SEALS) & SEALS) != SEALS)
        return say(THALWEG_MEDIUM_REFUSED, sentence, "that is no ticket of a shared ring");
    thalweg_medium_receiver *r = calloc(1, sizeof *r);
    if (!r || !map(&r->end, ticket->fds[0], limit)) {
        free(r);
        return fail(THALWEG_MEDIUM_SYSTEM, sentence, "map a ring in shared memory");
    }
    close(ticket->fds[0]);
    r->end.life = ticket->fds[1];
    r->end.their_event = ticket->fds[2];
    r->end.own_event = ticket->fds[3];
    atomic_store(&r->end.at->receiver_fences, !r->end.has_barrier);
    *end = r;
    return THALWEG_MEDIUM_OK;
}

/* Whether there is room for a block; looks how far the receiver is if there was none before. */
static inline int has_room(thalweg_medium_sender *s, uint64_t bytes) {
    if (s->head + bytes - s->released <= s->end.limit)
        return 1;
    uint64_t released = atomic_load_explicit(&s->end.at->released, memory_order_acquire);
    if (released < s->released || released > s->head)
        return 0; /* no receiver stores that */
    s->released = released;
    return s->head + bytes - released <= s->end.limit;
}

static int ring_claim(thalweg_medium_sender *s, uint64_t bytes, void **room, char *sentence) {
    int has = has_room(s, bytes);
    /* A sender that only claims learns of the end, too. */
    if ((s->is_claimed || !has || s->end.is_lost) && look_sometimes(&s->end))
        return say(THALWEG_MEDIUM_LOST, sentence, "the ring has no receiver");
    s->is_claimed = 1;
    atomic_store_explicit(&s->end.at->block_bytes, bytes, memory_order_relaxed);
    *room = s->end.ring + s->offset;
    return has ? THALWEG_MEDIUM_OK : THALWEG_MEDIUM_AGAIN;
}

static inline void publish(thalweg_medium_sender *s) {
    atomic_store_explicit(&s->end.at->published, s->head, memory_order_release);
    s->published = s->head;
}

/* Marks the end of the blocks for each part that begins with them or in them. */
static void mark_parts(thalweg_medium_sender *s, uint64_t from, uint64_t to) {
    for (uint64_t part = from / s->end.part + 1; part <= to / s->end.part; part++)
        atomic_store_explicit(&s->end.at->marks[part % PARTS], to, memory_order_relaxed);
}

/* Blocks are committed: those of a run, which Thalweg has told the receiver of, or a lone one. */
static void ring_commit(thalweg_medium_sender *s, uint64_t bytes) {
    s->is_claimed = 0;
    mark_parts(s, s->head, s->head + bytes);
    s->head += bytes;
    s->offset += bytes;
    if (s->offset >= s->end.mapped)
        s->offset -= s->end.mapped;
    atomic_store_explicit(&s->end.at->committed, s->head, memory_order_release);
    if (s->head - s->published >= s->batch)
        publish(s);
    wake(&s->end, &s->end.at->receiver_sleeps);
}

static int ring_run_words(thalweg_medium_sender *s, thalweg_medium_run_words *words) {
    words->committed = (uint64_t *)&s->end.at->committed;
    words->sleeps = (const uint64_t *)&s->end.at->receiver_sleeps;
    return s->end.has_barrier ? THALWEG_MEDIUM_OK : THALWEG_MEDIUM_AGAIN;
}

/* Room to the end of the batch, or for the block if that is more. */
static int ring_claim_run(thalweg_medium_sender *s, uint64_t bytes, void **room, uint64_t *room_bytes,
                          char *sentence) {
    uint64_t end = s->published + s->batch;
    if (s->head + bytes > end && s->head + s->batch / 4 >= end)
        publish(s); /* the batch is as good as full */
    int status = ring_claim(s, bytes, room, sentence);
    if (status != THALWEG_MEDIUM_OK)
        return status;
    uint64_t most = s->released + s->end.limit - s->head, run = s->published + s->batch - s->head;
    run = run < most ? run : most;
    *room_bytes = run > bytes ? run : bytes;
    return THALWEG_MEDIUM_OK;
}

static void ring_wake(thalweg_medium_sender *s) {
    wake(&s->end, &s->end.at->receiver_sleeps);
}

static int ring_flush(thalweg_medium_sender *s, char *sentence) {
    (void)sentence;
    publish(s);
    return THALWEG_MEDIUM_OK;
}

static uint64_t ring_queued(thalweg_medium_sender *s) {
    if (look_sometimes(&s->end))
        return 0;
    has_room(s, s->end.limit); /* reads how far the receiver is */
    return s->head - s->released;
}

static uint64_t ring_lost(thalweg_medium_sender *s) {
    return (uint64_t)look_sometimes(&s->end);
}

static int ring_arm_sender(thalweg_medium_sender *s, uint64_t bytes, thalweg_medium_waits *waits,
                           char *sentence) {
    (void)sentence;
    publish(s);
    atomic_store(&s->end.at->sender_sleeps, 1);
    int is_safe = heavy_barrier(&s->end.at->receiver_fences);
    if (!is_safe || has_room(s, bytes) || look(&s->end))
        return THALWEG_MEDIUM_AGAIN;
    waits->readable_count = 2;
    waits->readable[0] = s->end.own_event;
    waits->readable[1] = s->end.life; /* never readable, but in error without a receiver */
    return THALWEG_MEDIUM_OK;
}

static void ring_disarm_sender(thalweg_medium_sender *s) {
    atomic_store(&s->end.at->sender_sleeps, 0);
    drain(s->end.own_event);
}

static void ring_close_sender(thalweg_medium_sender *s) {
    unmap(&s->end), free(s);
}

/* Reads how far blocks have come; 0: that cannot be. */
static inline int read_known(thalweg_medium_receiver *r, _Atomic uint64_t *index) {
    uint64_t come = atomic_load_explicit(index, memory_order_acquire);
    if (come > r->known)
        r->known = come;
    return r->known - r->released <= r->end.limit;
}

static inline void spin_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

/* Looks before the next look for single blocks, of which `bytes` bytes came during the last looks: twice
 * as many if that is much, half as many if it is little. Two blocks are few: somebody may be waiting
 * for the answer to one. */
static uint32_t next_spins(thalweg_medium_receiver *r, uint64_t bytes) {
    uint64_t block = atomic_load_explicit(&r->end.at->block_bytes, memory_order_relaxed);
    uint64_t worth = (uint64_t)SPIN_BYTES * r->spins;
    uint32_t spins = r->spins / 2;
    if (r->spins == 0)
        return 1; /* after silence the next block may be a lone one, too */
    if (bytes > 2 * block && bytes >= worth)
        spins = 2 * r->spins;
    else if (bytes > 2 * block && bytes >= worth / 2)
        spins = r->spins;
    return spins < BATCH_SPINS_MIN ? BATCH_SPINS_MIN
           : spins > BATCH_SPINS_MAX ? BATCH_SPINS_MAX
                                     : spins;
}

/* Looks for a batch, then for single blocks; 0: an index is wrong. */
static int find_blocks(thalweg_medium_receiver *r) {
    uint64_t from = r->known, before = from;
    if (r->spins > 0)
        before = atomic_load_explicit(&r->end.at->committed, memory_order_relaxed);
    for (uint32_t look = 0; look < r->spins; look++) {
        if (!read_known(r, &r->end.at->published))
            return 0;
        if (r->known != from)
            return 1;
        spin_pause();
    }
    if (!read_known(r, &r->end.at->committed))
        return 0;
    r->spins = r->known == from ? 0 : next_spins(r, r->known > before ? r->known - before : 0);
    return 1;
}

/* Bytes to show from there on: all that have come, or a part of the ring to the end of a block. */
static inline uint64_t bytes_to_show(thalweg_medium_receiver *r, uint64_t from) {
    uint64_t come = r->known - from;
    if (come <= r->end.part)
        return come;
    uint64_t part = from / r->end.part + 1;
    uint64_t mark = atomic_load_explicit(&r->end.at->marks[part % PARTS], memory_order_relaxed);
    return mark > from && mark <= r->known ? mark - from : come;
}

static int ring_poll(thalweg_medium_receiver *r, uint64_t skip, const void **bytes, uint64_t *len,
                     char *sentence) {
    uint64_t from = r->released + skip, offset = r->offset + skip;
    int is_right = 1;
    if (r->known == from)
        is_right = find_blocks(r);
    /* The sender is looked for before the last look for blocks. */
    if (is_right && (r->known == from || r->end.is_lost) && look_sometimes(&r->end))
        is_right = read_known(r, &r->end.at->committed);
    if (!is_right)
        return say(THALWEG_MEDIUM_SYSTEM, sentence, "the sender's index is beyond the ring");
    *bytes = r->end.ring + (offset < r->end.mapped ? offset : offset - r->end.mapped);
    *len = bytes_to_show(r, from);
    r->shown = from + *len > r->shown ? from + *len : r->shown;
    return r->end.is_lost && from + *len == r->known
               ? say(THALWEG_MEDIUM_LOST, sentence, "the ring has no sender")
               : THALWEG_MEDIUM_OK;
}

static void ring_release(thalweg_medium_receiver *r, uint64_t bytes) {
    r->released += bytes;
    r->offset += bytes;
    if (r->offset >= r->end.mapped)
        r->offset -= r->end.mapped;
    atomic_store_explicit(&r->end.at->released, r->released, memory_order_release);
    wake(&r->end, &r->end.at->sender_sleeps);
}

static int ring_arm_receiver(thalweg_medium_receiver *r, thalweg_medium_waits *waits,
                             char *sentence) {
    (void)sentence;
    atomic_store(&r->end.at->receiver_sleeps, 1);
    int is_safe = heavy_barrier(&r->end.at->sender_fences);
    if (!is_safe || atomic_load(&r->end.at->committed) != r->shown || look(&r->end))
        return THALWEG_MEDIUM_AGAIN;
    waits->readable_count = 2;
    waits->readable[0] = r->end.own_event;
    waits->readable[1] = r->end.life;
    return THALWEG_MEDIUM_OK;
}

static void ring_disarm_receiver(thalweg_medium_receiver *r) {
    atomic_store(&r->end.at->receiver_sleeps, 0);
    drain(r->end.own_event);
}

static void ring_close_receiver(thalweg_medium_receiver *r) {
    unmap(&r->end), free(r);
}

const thalweg_medium thalweg_medium_table = {
    .version = THALWEG_MEDIUM_VERSION,
    .bytes = sizeof(thalweg_medium),
    .about = "a ring in shared memory, and an eventfd for each side",
    .caps = {.crosses_processes = 1, .receivers_max = 1, .frame_ns = 20, .byte_ps = 100},
    .open = ring_open,
    .accept = ring_accept,
    .claim = ring_claim,
    .commit = ring_commit,
    .flush = ring_flush,
    .queued = ring_queued,
    .lost = ring_lost,
    .arm_sender = ring_arm_sender,
    .disarm_sender = ring_disarm_sender,
    .close_sender = ring_close_sender,
    .poll = ring_poll,
    .release = ring_release,
    .arm_receiver = ring_arm_receiver,
    .disarm_receiver = ring_disarm_receiver,
    .close_receiver = ring_close_receiver,
    .polls_whole_blocks = 1,
    .run_words = ring_run_words,
    .claim_run = ring_claim_run,
    .wake = ring_wake,
};
