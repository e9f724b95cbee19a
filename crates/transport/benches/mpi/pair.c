/* pair.c: bare MPI and the functions of the library of the medium mpi, by turns of milliseconds.
 *
 *   mpirun -n 2 pair LIBRARY TURNS
 *
 * Both run in the same two processes, so that what differs between processes (where their memory lies,
 * what else runs on their processors) is the same for both. The library initialises MPI, as in a job.
 * A frame is a block of 72 bytes. Rank 0 prints the medians over all turns of the ratios, trips' first:
 * time one way of the library to that of MPI_Send and MPI_Recv, and rate of the library to theirs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "thalweg_medium.h"

#define BYTES 64
#define BLOCK_BYTES (BYTES + 8)
#define RING_BYTES (1 << 20)

/* Trips, messages and blocks of a turn; messages and blocks that are timed together. */
#define TRIPS 4000
#define MESSAGES 50000
#define BLOCKS 200000
#define GROUP 500

static int rank;
static double times[BLOCKS];
static char message[BYTES];
static char sentence[THALWEG_MEDIUM_SENTENCE_BYTES];
static const thalweg_medium *medium;
static thalweg_medium_sender *sender;
static thalweg_medium_receiver *receiver;
static uint64_t shown; /* bytes that are to be released */

static int compare(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

static void fail(void) {
    fprintf(stderr, "%s\n", sentence);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void mpi_send(void) {
    MPI_Send(message, BYTES, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
}

/* Takes one message; how many have come. */
static int mpi_receive(void) {
    MPI_Recv(message, BYTES, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 1;
}

static void mpi_release(void) {
}

static void library_send(void) {
    void *room;
    int status;
    while ((status = medium->claim(sender, BLOCK_BYTES, &room, sentence)) == THALWEG_MEDIUM_AGAIN)
        ;
    if (status != THALWEG_MEDIUM_OK)
        fail();
    memset(room, 7, BLOCK_BYTES);
    medium->commit(sender, BLOCK_BYTES);
}

/* Waits for blocks; how many have come. */
static int library_receive(void) {
    const void *bytes;
    uint64_t len = 0;
    while (len == 0)
        if (medium->poll(receiver, shown, &bytes, &len, sentence) != THALWEG_MEDIUM_OK)
            fail();
    shown += len;
    return (int)(len / BLOCK_BYTES);
}

static void library_release(void) {
    medium->release(receiver, shown);
    shown = 0;
}

/* A way of messages between the ranks. */
struct way {
    void (*send)(void);
    int (*receive)(void);
    void (*release)(void);
};

static const struct way bare = {mpi_send, mpi_receive, mpi_release};
static const struct way library = {library_send, library_receive, library_release};

/* Median nanoseconds of one way, by messages there and back. */
static double trips(const struct way *way) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (int at = 0; at < TRIPS; at++) {
        double begin = MPI_Wtime();
        if (rank == 0)
            way->send();
        way->receive();
        if (rank == 1)
            way->send();
        way->release();
        times[at] = (MPI_Wtime() - begin) * 1e9 / 2;
    }
    return median(times, TRIPS);
}

/* Median nanoseconds of a message one way, in groups, at the slower of both ranks. */
static double one_way(const struct way *way, int count) {
    int taken = 0, group = 0, groups = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    while (taken < count) {
        int more = 1;
        if (rank == 0) {
            way->send();
        } else {
            more = way->receive();
            way->release();
        }
        taken += more;
        group += more;
        if (group >= GROUP) {
            double now = MPI_Wtime();
            times[groups++] = (now - begin) * 1e9 / group;
            begin = now;
            group = 0;
        }
    }
    if (rank == 0 && way == &library)
        while (medium->flush(sender, sentence) == THALWEG_MEDIUM_AGAIN)
            ;
    double own = median(times, groups), slower;
    MPI_Allreduce(&own, &slower, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slower;
}

static void *symbol(const char *file, const char *name) {
    void *handle = dlopen(file, RTLD_NOW);
    void *found = handle ? dlsym(handle, name) : NULL;
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return found;
}

/* Opens an edge to the other rank, and the other rank's to this one. */
static void open_edges(const char *file) {
    const thalweg_medium_ranks *ranks = symbol(file, "thalweg_medium_ranks_table");
    thalweg_medium_ticket own, other;
    uint64_t block_bytes_max;
    uint32_t number, size;
    medium = symbol(file, "thalweg_medium_table");
    if (ranks->join(&number, &size, sentence) != THALWEG_MEDIUM_OK)
        fail();
    rank = (int)number;
    thalweg_medium_edge edge = {.name = "Bench.0", .listen = "127.0.0.1", .ring_bytes = RING_BYTES, .receivers = 1};
    edge.number = number;
    if (medium->open(&edge, &sender, &block_bytes_max, &own, sentence) != THALWEG_MEDIUM_OK)
        fail();
    MPI_Sendrecv(&own, sizeof own, MPI_BYTE, 1 - rank, 0, &other, sizeof other, MPI_BYTE, 1 - rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    edge.number = 1 - number;
    if (medium->accept(&edge, 0, &other, &receiver, sentence) != THALWEG_MEDIUM_OK)
        fail();
}

int main(int argc, char **argv) {
    int turns = argc == 3 ? atoi(argv[2]) : 0;
    if (turns < 1)
        return 2;
    double *trip = calloc((size_t)turns, sizeof *trip), *rate = calloc((size_t)turns, sizeof *rate);
    open_edges(argv[1]);
    for (int turn = 0; turn < turns; turn++) {
        double bare_trip = trips(&bare);
        trip[turn] = trips(&library) / bare_trip;
        double bare_message = one_way(&bare, MESSAGES);
        rate[turn] = bare_message / one_way(&library, BLOCKS);
    }
    double trip_ratio = median(trip, turns), rate_ratio = median(rate, turns);
    if (rank == 0)
        printf("%.3f %.3f\n", trip_ratio, rate_ratio);
    medium->close_sender(sender);
    medium->close_receiver(receiver);
    free(trip), free(rate);
    return 0; /* the library leaves the job */
}
