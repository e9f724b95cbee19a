/* OpenMPI: two ranks on one host, messages as OSU's osu_bw and osu_latency send them.
 *
 * Throughput: windows of 64 MPI_Isend and MPI_Irecv, as in osu_bw; a word goes back after each
 * window, so that no more than one is under way. Latency: MPI_Send and MPI_Recv there and back, half
 * of each round trip; a tenth more trips come first.
 */
#include "peer_turn.h"

#include <mpi.h>

enum { WINDOW = 64, TAG = 1, WINDOW_TAG = 2 };

static void send_all(const struct peer_turn *turn)
{
    unsigned char *memory = messages_memory(WINDOW, turn->bytes);
    MPI_Request requests[WINDOW];
    uint64_t next = 0;
    while (next < turn->messages) {
        int count = 0;
        for (; count < WINDOW && next < turn->messages; count++, next++) {
            unsigned char *message = memory + (size_t)count * turn->bytes;
            fill(message, turn->bytes, next);
            MPI_Isend(message, (int)turn->bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD,
                      &requests[count]);
        }
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        uint64_t word;
        MPI_Recv(&word, sizeof word, MPI_BYTE, 1, WINDOW_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    free(memory);
}

static void receive_all(const struct peer_turn *turn)
{
    unsigned char *memory = messages_memory(WINDOW, turn->bytes);
    MPI_Request requests[WINDOW];
    struct peer_sink sink = {0};
    while (sink.count < turn->messages) {
        uint64_t left = turn->messages - sink.count;
        int count = left < WINDOW ? (int)left : WINDOW;
        for (int at = 0; at < count; at++)
            MPI_Irecv(memory + (size_t)at * turn->bytes, (int)turn->bytes, MPI_BYTE, 0, TAG,
                      MPI_COMM_WORLD, &requests[at]);
        /* Messages of one sender and tag complete in order. */
        for (int at = 0; at < count; at++) {
            MPI_Wait(&requests[at], MPI_STATUS_IGNORE);
            take(&sink, memory + (size_t)at * turn->bytes, turn->bytes);
        }
        MPI_Send(&sink.count, sizeof sink.count, MPI_BYTE, 0, WINDOW_TAG, MPI_COMM_WORLD);
    }
    print_arrivals(&sink);
    free(memory);
}

static void ping(const struct peer_turn *turn)
{
    unsigned char *message = messages_memory(1, turn->bytes);
    uint64_t warm_up = turn->messages / 10;
    struct peer_sink sink = {0};
    printf("latency");
    for (uint64_t trip = 0; trip < warm_up + turn->messages; trip++) {
        int64_t start = now_ns();
        fill(message, turn->bytes, trip);
        MPI_Send(message, (int)turn->bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        MPI_Recv(message, (int)turn->bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        take(&sink, message, turn->bytes);
        if (trip >= warm_up)
            printf(" %" PRId64, (now_ns() - start) / 2);
    }
    printf("\n");
    free(message);
}

static void pong(const struct peer_turn *turn)
{
    unsigned char *message = messages_memory(1, turn->bytes);
    uint64_t trips = turn->messages / 10 + turn->messages;
    struct peer_sink sink = {0};
    for (uint64_t trip = 0; trip < trips; trip++) {
        MPI_Recv(message, (int)turn->bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        take(&sink, message, turn->bytes);
        fill(message, turn->bytes, trip);
        MPI_Send(message, (int)turn->bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
    free(message);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "version") == 0) {
        char text[MPI_MAX_LIBRARY_VERSION_STRING];
        int length;
        MPI_Get_library_version(text, &length);
        return puts(text) < 0;
    }
    MPI_Init(&argc, &argv);
    struct peer_turn turn = read_turn(argc, argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2)
        fail("a turn has two ranks");
    pin(rank == 0 ? turn.sending_core : turn.receiving_core);
    MPI_Barrier(MPI_COMM_WORLD);
    if (turn.is_latency)
        (rank == 0 ? ping : pong)(&turn);
    else
        (rank == 0 ? send_all : receive_all)(&turn);
    MPI_Finalize();
    return 0;
}
