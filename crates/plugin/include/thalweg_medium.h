/* thalweg_medium.h: media that users write, as shared libraries.
 *
 * A medium moves the frames of a stream from one operator to another, in another thread or process. A
 * library that exports the table thalweg_medium_table is a medium for `thalweg run --media-path FOLDER`:
 * a file libthalweg_medium_NAME.so in that folder is the medium NAME. `thalweg medium check FILE` runs
 * the conformance suite against it. docs/media.md has a walk through an example.
 *
 * A sender claims room for a block, Thalweg writes a frame into it, and the sender commits the block. A
 * library moves the bytes of blocks and needs not know what they say: Thalweg writes and checks the
 * headers of frames. A receiver polls: it shows the bytes that have come, in the order of the commits.
 *
 *   sender                                       receiver
 *     claim(bytes) -> room                         poll(skip) -> bytes that have come
 *     commit(bytes)                                release(bytes)
 *
 * Runs. A library whose receivers see memory of the sender may give room for many blocks at once, a run:
 * Thalweg writes one block behind the other, and tells the receivers of each by a store to a word of the
 * library, without a call. See thalweg_medium_run_words, claim_run and wake.
 *
 * Time. No call blocks, and none but open and accept allocates memory. accept may wait up to a second
 * for the process of the sender.
 *
 * Threads. An end (a sender or a receiver) is used by one thread at a time and may move between threads.
 * open and accept may be called by several threads at once. The library stays loaded until the process
 * ends. It must not install signal handlers, write to standard output or error, or leave a function of
 * the table by longjmp() or an exception. SIGPIPE is ignored in every process of Thalweg.
 *
 * Errors. A call that can fail returns a thalweg_medium_status and writes a sentence into a buffer of
 * THALWEG_MEDIUM_SENTENCE_BYTES bytes, ended by a zero: what was tried and why it failed. */
#ifndef THALWEG_MEDIUM_H
#define THALWEG_MEDIUM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the table. It changes when a library of an older version would not work any more. */
#define THALWEG_MEDIUM_VERSION 1u

/* Bytes of the buffer for a sentence, with the zero at its end. */
#define THALWEG_MEDIUM_SENTENCE_BYTES 256

/* Most receivers of an edge. */
#define THALWEG_MEDIUM_RECEIVERS_MAX 64

/* Most bytes and most descriptors that a library puts into a ticket. */
#define THALWEG_MEDIUM_TICKET_BYTES_MAX 512
#define THALWEG_MEDIUM_TICKET_FDS_MAX 4

/* Most descriptors of each kind that an end sleeps on. */
#define THALWEG_MEDIUM_WAITS_MAX 128

/* What calls return; below 0: an error, with a sentence. */
typedef enum thalweg_medium_status {
    THALWEG_MEDIUM_OK = 0,
    THALWEG_MEDIUM_AGAIN = 1,    /* not now: no room, not all flushed, or there is work */
    THALWEG_MEDIUM_LOST = -1,    /* the other side is gone; the sentence says how that was noticed */
    THALWEG_MEDIUM_REFUSED = -2, /* the other side is not of this job, or sent what it must not send */
    THALWEG_MEDIUM_SYSTEM = -3   /* the system has refused a call */
} thalweg_medium_status;

/* Capabilities of a medium. They have to be true: the suite tests what they promise. Flags are 0 or 1. */
typedef struct thalweg_medium_caps {
    uint32_t crosses_processes; /* joins processes of a host; else only threads of one process */
    uint32_t crosses_hosts;     /* joins hosts; only with crosses_processes and is_untrusted */
    uint32_t is_untrusted;      /* bytes come from a network: every tuple is checked before it is read */
    uint32_t is_one_to_many;    /* one write serves several receivers; only with receivers_max above 1 */
    uint32_t receivers_max;     /* most receivers of an edge, 1 to THALWEG_MEDIUM_RECEIVERS_MAX */
    uint32_t frame_ns;          /* stated cost of a frame without bytes, in nanoseconds; 0: unknown */
    uint32_t byte_ps;           /* stated cost of each byte, in picoseconds; 0: unknown */
} thalweg_medium_caps;

/* Description of an edge, which both sides have. Pointers are valid during the call. */
typedef struct thalweg_medium_edge {
    const char *name;    /* for sentences, such as "Trades.0" */
    const char *listen;  /* address to listen on as text, for media that listen: loopback by default */
    uint64_t ring_bytes; /* most bytes that may be committed and not released, a multiple of 8 */
    uint32_t number;     /* number of the edge in its job */
    uint32_t receivers;  /* number of receivers, at least 1 */
    uint8_t token[16];   /* secret of the job: a connection that does not show it must be refused */
} thalweg_medium_edge;

/* How a receiver reaches the sender: bytes and descriptors, which Thalweg carries to the receiver's
 * process and hands over unchanged. Thalweg refuses a ticket that is garbled, or of another job, edge or
 * medium. It also refuses a ticket that is used a second time, unless the medium crosses hosts: such a
 * medium has to notice that itself, in accept or in the receiver's first polls, and has no descriptors
 * in its tickets, which cannot travel between hosts. */
typedef struct thalweg_medium_ticket {
    uint32_t byte_count;
    uint32_t fd_count;
    uint8_t bytes[THALWEG_MEDIUM_TICKET_BYTES_MAX];
    int32_t fds[THALWEG_MEDIUM_TICKET_FDS_MAX];
} thalweg_medium_ticket;

/* Descriptors that an armed end sleeps on: each becomes readable (or writable), or has an error, when
 * there may be work. */
typedef struct thalweg_medium_waits {
    uint32_t readable_count;
    uint32_t writable_count;
    int32_t readable[THALWEG_MEDIUM_WAITS_MAX];
    int32_t writable[THALWEG_MEDIUM_WAITS_MAX];
} thalweg_medium_waits;

/* Two words of a sender in memory of the library, at addresses that are multiples of 8 and do not change.
 * After each block of a run Thalweg stores, with release, the bytes of all blocks of the edge into
 * *committed, which is 0 when the edge is opened, and then reads *sleeps: if that is not 0, it calls wake.
 * It executes no fence between the two, so a receiver that announces its sleep there looks for work after
 * a barrier on all processors (membarrier(2)). */
typedef struct thalweg_medium_run_words {
    uint64_t *committed;    /* written by Thalweg only */
    const uint64_t *sleeps; /* written by the library only */
} thalweg_medium_run_words;

/* The two ends of an edge; the library defines both. */
typedef struct thalweg_medium_sender thalweg_medium_sender;
typedef struct thalweg_medium_receiver thalweg_medium_receiver;

/* The functions of a medium. None may be null but those of the part for runs. */
typedef struct thalweg_medium {
    uint32_t version; /* THALWEG_MEDIUM_VERSION */
    uint32_t bytes;   /* sizeof(thalweg_medium), or THALWEG_MEDIUM_BYTES_WITHOUT_RUNS */
    const char *about; /* one line in UTF-8 on how the medium works, for lists */
    thalweg_medium_caps caps;

    /* Makes the sending end of an edge, and tickets[0] to tickets[edge->receivers - 1], one for each
     * receiver. Does not wait for receivers, which may not exist yet. The descriptors in the tickets are
     * Thalweg's from then on: each is one of its own, in one ticket only; those of the library are closed
     * by exec(). *block_bytes_max is the size of the largest block, a multiple of 8 from 64 to 2^31;
     * several blocks of that size need not have room. The suite uses rings of 64 KiB and blocks of up
     * to an eighth of that. Never THALWEG_MEDIUM_AGAIN. */
    int (*open)(const thalweg_medium_edge *edge, thalweg_medium_sender **sender,
                uint64_t *block_bytes_max, thalweg_medium_ticket *tickets, char *sentence);

    /* Makes the receiving end with this number from its ticket, in any process that the capabilities
     * allow. The ticket's descriptors are the library's if this returns THALWEG_MEDIUM_OK. */
    int (*accept)(const thalweg_medium_edge *edge, uint32_t receiver,
                  const thalweg_medium_ticket *ticket, thalweg_medium_receiver **end, char *sentence);

    /* Gives room for a block of `bytes` bytes, a multiple of 8, at most block_bytes_max, at an address
     * that is a multiple of 8. THALWEG_MEDIUM_AGAIN: there is no room now. Memory is bounded: at most
     * edge->ring_bytes are committed and not released by the slowest receiver, besides what the system
     * buffers. The room stays until the next claim, commit, arm_sender or close_sender. A claim that is
     * not committed is forgotten by the next one; no receiver sees it.
     * THALWEG_MEDIUM_LOST: no receiver is left; that stays so. */
    int (*claim)(thalweg_medium_sender *sender, uint64_t bytes, void **room, char *sentence);

    /* Commits the first `bytes` bytes of the claim, a multiple of 8. Every receiver gets them once,
     * whole and in order. A lone block leaves at once: the sender may do other work for an hour. A block
     * among many may wait for others, but leaves when there is no room any more and when the sender
     * arms. */
    void (*commit)(thalweg_medium_sender *sender, uint64_t bytes);

    /* Gets committed blocks out of this process. THALWEG_MEDIUM_AGAIN: some are still here. A receiver
     * that is lost is no error. */
    int (*flush)(thalweg_medium_sender *sender, char *sentence);

    /* Bytes that are committed and not yet released by the slowest living receiver; 0: the edge is
     * drained, as it is without a living receiver. */
    uint64_t (*queued)(thalweg_medium_sender *sender);

    /* The receivers that were noticed to be gone: bit N for receiver N. The others go on. A loss shows
     * within a second, at an end that spins and at one that sleeps, with and without traffic. */
    uint64_t (*lost)(thalweg_medium_sender *sender);

    /* Announces that the sender's thread is about to sleep until a claim of `bytes` bytes has room, and
     * looks a last time. THALWEG_MEDIUM_AGAIN: there is room or the last receiver is gone; do not sleep.
     * THALWEG_MEDIUM_OK: *waits has at least one descriptor, and room or the loss of the last receiver
     * makes one of them ready, also if it came just now. An announced sleeper has to be looked for after
     * the room was made, with a full barrier between the two steps on both sides; descriptors of the
     * system that stay ready, such as a pipe's, need no announcement. */
    int (*arm_sender)(thalweg_medium_sender *sender, uint64_t bytes, thalweg_medium_waits *waits,
                      char *sentence);

    /* Takes the announcement back. The event that woke the thread must not wake the next sleep. Called
     * after each arm_sender, whatever it returned. */
    void (*disarm_sender)(thalweg_medium_sender *sender);

    /* Drops the sending end. Blocks that receivers have not taken still arrive, and then receivers learn
     * that the sender is lost, as they do when the sender's process is killed. */
    void (*close_sender)(thalweg_medium_sender *sender);

    /* Shows bytes that have come: those behind the first `skip` bytes that were not released, as many as
     * lie together in memory, from an address that is a multiple of 8. *len may be 0. The bytes stay
     * until they are released; a release may move those behind it. They may end within a block: once the
     * whole block has come, a poll with the same `skip` has to show all of it from one address. Never
     * THALWEG_MEDIUM_AGAIN. THALWEG_MEDIUM_LOST: no bytes will come behind
     * these; *bytes and *len count as for THALWEG_MEDIUM_OK, and later polls say so again. The sender
     * has to be looked for before the last look for bytes. */
    int (*poll)(thalweg_medium_receiver *receiver, uint64_t skip, const void **bytes, uint64_t *len,
                char *sentence);

    /* Gives back the first `bytes` bytes that were shown and not yet released, a multiple of 8: they
     * become room for the sender. */
    void (*release)(thalweg_medium_receiver *receiver, uint64_t bytes);

    /* Like arm_sender: THALWEG_MEDIUM_AGAIN if bytes have come that no poll has shown, or if the sender
     * is gone. */
    int (*arm_receiver)(thalweg_medium_receiver *receiver, thalweg_medium_waits *waits, char *sentence);

    /* Like disarm_sender. */
    void (*disarm_receiver)(thalweg_medium_receiver *receiver);

    /* Drops the receiving end: the sender does not wait for it any more. Nothing is left behind by
     * either end: no file, thread, process or descriptor, also after a SIGKILL. */
    void (*close_receiver)(thalweg_medium_receiver *receiver);

    /* The part for runs, which a table of THALWEG_MEDIUM_BYTES_WITHOUT_RUNS bytes does not have. Its
     * functions are all there or all null; null: each block is claimed and committed by itself. */

    /* 1: what poll shows ends with a block, always. Thalweg then looks at each header once, when the
     * frame is used, and not before. 0: it may end within a block. */
    uint64_t polls_whole_blocks;

    /* Says where the words of a sender are. Called once, before any other call. THALWEG_MEDIUM_AGAIN: this
     * edge has no runs; claim_run and wake are not called. */
    int (*run_words)(thalweg_medium_sender *sender, thalweg_medium_run_words *words);

    /* Called in place of claim. Gives room for a block of `bytes` bytes as claim does, and for as many more
     * behind it as the library likes: *room_bytes is a multiple of 8, at least `bytes`. Blocks that are
     * written into the room and told of by *committed are committed: receivers get them as those of a
     * commit. Before it calls any other function of the sender but wake and disarm_sender, Thalweg calls
     * commit with the bytes of all blocks of the run since the last commit, if there are any; what is left
     * of the room stays until the next claim_run, arm_sender or close_sender. The status is that of claim:
     * a claim_run with no commit since the last one has to notice the loss of the last receiver, too. */
    int (*claim_run)(thalweg_medium_sender *sender, uint64_t bytes, void **room, uint64_t *room_bytes,
                     char *sentence);

    /* Wakes the receivers that have announced a sleep. Called after a block that *sleeps was not 0 for. */
    void (*wake)(thalweg_medium_sender *sender);
} thalweg_medium;

/* Bytes of a table that ends before the part for runs, as those of older libraries do. */
#define THALWEG_MEDIUM_BYTES_WITHOUT_RUNS offsetof(thalweg_medium, polls_whole_blocks)

/* The one symbol that every library exports. */
extern const thalweg_medium thalweg_medium_table;

/* Most bytes that rank 0 gives to all ranks. */
#define THALWEG_MEDIUM_SHARE_BYTES_MAX 1024

/* The functions of a medium whose processes are ranks: another program than Thalweg, such as mpirun,
 * starts all of them, before any edge exists. Each processing element of a job is then a rank, and has
 * its rank's number. None may be null. */
typedef struct thalweg_medium_ranks {
    uint32_t version; /* THALWEG_MEDIUM_VERSION */
    uint32_t bytes;   /* sizeof(thalweg_medium_ranks) */

    /* Makes this process a rank, and says its number and how many there are. Waits until all ranks have
     * called it. Open and accept do the same if it was not called. The library leaves the ranks by itself
     * when the process exits, and takes at most ten seconds for that. */
    int (*join)(uint32_t *rank, uint32_t *size, char *sentence);

    /* Gives `len` bytes of rank 0 to all other ranks, which pass memory for them. Each rank calls it
     * once, after join. Waits for the other ranks, a minute at most. */
    int (*share)(void *bytes, uint32_t len, char *sentence);
} thalweg_medium_ranks;

/* The second symbol, of such a library alone. */
extern const thalweg_medium_ranks thalweg_medium_ranks_table;

#ifdef __cplusplus
}
#endif
#endif
