/* A turn of a peer in C: its arguments, its messages, and the lines that it prints.
 *
 *   PROGRAM throughput|latency BYTES MESSAGES SENDING_CORE RECEIVING_CORE [MORE]
 *
 * Message n has BYTES / 8 words, each of them n. The sender writes every word, the receiver reads
 * and adds up every word, as the peers in Rust do.
 */
#ifndef PEER_TURN_H
#define PEER_TURN_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <inttypes.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct peer_turn {
    int is_latency;
    size_t bytes;
    uint64_t messages;
    int sending_core;
    int receiving_core;
};

/* The arrivals at a receiver. */
struct peer_sink {
    uint64_t count;
    int64_t first_ns;
    uint64_t sum;
};

static inline int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static inline struct peer_turn read_turn(int argc, char **argv)
{
    struct peer_turn turn = {0};
    if (argc < 6)
        fail("a turn is a question, bytes, messages and two cores");
    turn.is_latency = strcmp(argv[1], "latency") == 0;
    turn.bytes = strtoull(argv[2], NULL, 10);
    turn.messages = strtoull(argv[3], NULL, 10);
    turn.sending_core = atoi(argv[4]);
    turn.receiving_core = atoi(argv[5]);
    if (turn.bytes == 0 || turn.bytes % 8 != 0 || turn.messages == 0)
        fail("bytes are a multiple of 8, and there is a message at least");
    return turn;
}

static inline void pin(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        fail("cannot run on a core");
}

static inline void fill(void *room, size_t bytes, uint64_t number)
{
    uint64_t *words = room;
    for (size_t at = 0; at < bytes / 8; at++)
        words[at] = number;
}

static inline void take(struct peer_sink *sink, const void *message, size_t bytes)
{
    const uint64_t *words = message;
    uint64_t sum = 0;
    for (size_t at = 0; at < bytes / 8; at++)
        sum += words[at];
    if (sink->count == 0)
        sink->first_ns = now_ns();
    sink->sum += sum;
    sink->count++;
}

static inline void print_arrivals(const struct peer_sink *sink)
{
    printf("arrived %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", sink->count,
           sink->first_ns, now_ns(), (int64_t)sink->sum);
}

/* Memory for `count` messages, on lines of the cache. */
static inline unsigned char *messages_memory(size_t count, size_t bytes)
{
    void *memory = aligned_alloc(64, (count * bytes + 63) / 64 * 64);
    if (memory == NULL)
        fail("no memory");
    memset(memory, 0, count * bytes);
    return memory;
}

#endif
