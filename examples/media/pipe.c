/* pipe.c: a medium over a pipe, as a library for `thalweg run --media-path`.
 *
 *   cc -std=c11 -O2 -fPIC -shared -I crates/plugin/include examples/media/pipe.c \
 *      -o libthalweg_medium_pipe.so
 *   thalweg medium check ./libthalweg_medium_pipe.so
 *   thalweg run --media-path . -F pipe --fuse none examples/hello/Hello.spl
 *
 *     sender  ==== pipe: the bytes of blocks ====>  receiver
 *             <=== eventfd: released bytes ======
 *
 * The sender counts what is not released and claims only what the pipe surely has room for, so each
 * block is one write. Both descriptors of the receiver go to its process in the ticket. A pipe without
 * a reader is an error to its writer, and one without a writer ends, so each side sees the other's
 * death. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "thalweg_medium.h"

/* Room that a pipe may waste: a page at each end, for which the limit leaves one. */
#define PAGE 4096

struct thalweg_medium_sender {
    int data;        /* the pipe's end for writing */
    int credit;      /* the eventfd, from which released bytes are read */
    int is_lost;     /* whether the receiver is gone */
    uint64_t limit;  /* most bytes that are not released */
    uint64_t queued; /* bytes that are committed and not released */
    void *block;     /* the claimed block */
    int is_claimed;  /* the last claim was not committed */
};

struct thalweg_medium_receiver {
    int data;
    int credit;
    uint64_t limit;
    uint64_t filled; /* bytes in the buffer, from its beginning */
    char *buffer;    /* what has come and is not released: never more than the limit */
};

static int fail(int status, char *sentence, const char *tried) {
    snprintf(sentence, THALWEG_MEDIUM_SENTENCE_BYTES, "cannot %s: %s", tried, strerror(errno));
    return status;
}

static int say(int status, char *sentence, const char *words) {
    snprintf(sentence, THALWEG_MEDIUM_SENTENCE_BYTES, "%s", words);
    return status;
}

/* Bytes that a pipe holds in any case. Two neighbouring pages of a pipe hold more than one page of bytes
 * together, since a write that fits into the last page goes there. */
static uint64_t room_of(int pipe, uint64_t wanted) {
    int size = wanted < (1 << 18) ? (int)wanted : 1 << 18;
    for (size = 2 * size + 2 * PAGE; size > 0 && fcntl(pipe, F_SETPIPE_SZ, size) < 0; size /= 2)
        ; /* the system may refuse large pipes */
    int64_t room = fcntl(pipe, F_GETPIPE_SZ) / 2 - PAGE;
    return room < 0 ? 0 : (uint64_t)room < wanted ? (uint64_t)room : wanted;
}

static int pipe_open(const thalweg_medium_edge *edge, thalweg_medium_sender **sender,
                     uint64_t *block_bytes_max, thalweg_medium_ticket *tickets, char *sentence) {
    int ends[2], credit, theirs = -1;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return fail(THALWEG_MEDIUM_SYSTEM, sentence, "make a pipe");
    thalweg_medium_sender *s = calloc(1, sizeof *s);
    uint64_t limit = room_of(ends[1], edge->ring_bytes) / 16 * 16;
    void *block = limit < PAGE ? NULL : aligned_alloc(8, limit / 2);
    credit = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (credit >= 0)
        theirs = fcntl(credit, F_DUPFD_CLOEXEC, 3);
    if (!s || !block || theirs < 0) {
        fail(THALWEG_MEDIUM_SYSTEM, sentence, "make an edge of a pipe with room for a page");
        close(ends[0]), close(ends[1]), close(credit), close(theirs), free(s), free(block);
        return THALWEG_MEDIUM_SYSTEM;
    }
    *s = (thalweg_medium_sender){.data = ends[1], .credit = credit, .limit = limit, .block = block};
    tickets[0].byte_count = sizeof limit;
    memcpy(tickets[0].bytes, &limit, sizeof limit);
    tickets[0].fd_count = 2;
    tickets[0].fds[0] = ends[0];
    tickets[0].fds[1] = theirs;
    *block_bytes_max = limit / 2;
    *sender = s;
    return THALWEG_MEDIUM_OK;
}

static int pipe_accept(const thalweg_medium_edge *edge, uint32_t receiver,
                       const thalweg_medium_ticket *ticket, thalweg_medium_receiver **end,
                       char *sentence) {
    (void)receiver;
    uint64_t limit;
    memcpy(&limit, ticket->bytes, sizeof limit);
    if (ticket->byte_count != sizeof limit || ticket->fd_count != 2 || limit > edge->ring_bytes)
        return say(THALWEG_MEDIUM_REFUSED, sentence, "that is no ticket of a pipe");
    thalweg_medium_receiver *r = calloc(1, sizeof *r);
    char *buffer = aligned_alloc(8, limit);
    if (!r || !buffer) {
        free(r), free(buffer);
        return fail(THALWEG_MEDIUM_SYSTEM, sentence, "have memory for a pipe's bytes");
    }
    *r = (thalweg_medium_receiver){ticket->fds[0], ticket->fds[1], limit, 0, buffer};
    *end = r;
    return THALWEG_MEDIUM_OK;
}

/* Learns what was released, and whether the receiver still is there. */
static void look(thalweg_medium_sender *s) {
    uint64_t released;
    struct pollfd pipe = {.fd = s->data};
    if (read(s->credit, &released, sizeof released) == sizeof released)
        s->queued -= released < s->queued ? released : s->queued;
    s->is_lost |= poll(&pipe, 1, 0) > 0;
    if (s->is_lost)
        s->queued = 0;
}

static int pipe_claim(thalweg_medium_sender *s, uint64_t bytes, void **room, char *sentence) {
    if (s->is_claimed || s->queued + bytes > s->limit)
        look(s); /* a sender that only claims learns of the end, too */
    s->is_claimed = 1;
    if (s->is_lost)
        return say(THALWEG_MEDIUM_LOST, sentence, "the pipe has no reader");
    *room = s->block;
    return s->queued + bytes > s->limit ? THALWEG_MEDIUM_AGAIN : THALWEG_MEDIUM_OK;
}

static void pipe_commit(thalweg_medium_sender *s, uint64_t bytes) {
    s->is_claimed = 0;
    s->queued += bytes;
    if (write(s->data, s->block, bytes) != (ssize_t)bytes)
        s->is_lost = 1; /* EPIPE: nothing else is possible, as there is room */
}

static int pipe_flush(thalweg_medium_sender *s, char *sentence) {
    (void)s, (void)sentence;
    return THALWEG_MEDIUM_OK; /* a commit has written everything */
}

static uint64_t pipe_queued(thalweg_medium_sender *s) {
    look(s);
    return s->queued;
}

static uint64_t pipe_lost(thalweg_medium_sender *s) {
    look(s);
    return s->is_lost;
}

static int pipe_arm_sender(thalweg_medium_sender *s, uint64_t bytes, thalweg_medium_waits *waits,
                           char *sentence) {
    (void)sentence;
    look(s);
    if (s->is_lost || s->queued + bytes <= s->limit)
        return THALWEG_MEDIUM_AGAIN;
    waits->readable_count = 2;
    waits->readable[0] = s->credit;
    waits->readable[1] = s->data; /* never readable, but in error without a reader */
    return THALWEG_MEDIUM_OK;
}

static void pipe_disarm_sender(thalweg_medium_sender *s) {
    (void)s; /* the next look reads the eventfd */
}

static void pipe_close_sender(thalweg_medium_sender *s) {
    close(s->data), close(s->credit), free(s->block), free(s);
}

static int pipe_poll(thalweg_medium_receiver *r, uint64_t skip, const void **bytes, uint64_t *len,
                     char *sentence) {
    ssize_t come = read(r->data, r->buffer + r->filled, r->limit - r->filled);
    int is_end = come == 0 && r->filled < r->limit;
    if (come < 0 && errno != EAGAIN && errno != EINTR)
        return fail(THALWEG_MEDIUM_SYSTEM, sentence, "read from the pipe");
    r->filled += come > 0 ? (uint64_t)come : 0;
    *bytes = r->buffer + skip;
    *len = r->filled - skip;
    return is_end ? say(THALWEG_MEDIUM_LOST, sentence, "the pipe has no writer") : THALWEG_MEDIUM_OK;
}

static void pipe_release(thalweg_medium_receiver *r, uint64_t bytes) {
    if (bytes == 0)
        return;
    r->filled -= bytes;
    memmove(r->buffer, r->buffer + bytes, r->filled);
    if (write(r->credit, &bytes, sizeof bytes) < 0)
        return; /* the counter has no end that a ring's bytes reach */
}

static int pipe_arm_receiver(thalweg_medium_receiver *r, thalweg_medium_waits *waits, char *sentence) {
    struct pollfd pipe = {.fd = r->data, .events = POLLIN};
    (void)sentence;
    if (poll(&pipe, 1, 0) > 0)
        return THALWEG_MEDIUM_AGAIN;
    waits->readable_count = 1;
    waits->readable[0] = r->data;
    return THALWEG_MEDIUM_OK;
}

static void pipe_disarm_receiver(thalweg_medium_receiver *r) {
    (void)r;
}

static void pipe_close_receiver(thalweg_medium_receiver *r) {
    close(r->data), close(r->credit), free(r->buffer), free(r);
}

const thalweg_medium thalweg_medium_table = {
    .version = THALWEG_MEDIUM_VERSION,
    .bytes = sizeof(thalweg_medium),
    .about = "a pipe, and an eventfd for the room",
    .caps = {.crosses_processes = 1, .receivers_max = 1, .frame_ns = 1500, .byte_ps = 300},
    .open = pipe_open,
    .accept = pipe_accept,
    .claim = pipe_claim,
    .commit = pipe_commit,
    .flush = pipe_flush,
    .queued = pipe_queued,
    .lost = pipe_lost,
    .arm_sender = pipe_arm_sender,
    .disarm_sender = pipe_disarm_sender,
    .close_sender = pipe_close_sender,
    .poll = pipe_poll,
    .release = pipe_release,
    .arm_receiver = pipe_arm_receiver,
    .disarm_receiver = pipe_disarm_receiver,
    .close_receiver = pipe_close_receiver,
};
