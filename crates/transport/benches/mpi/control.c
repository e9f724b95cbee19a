/* control.c: bare MPI between two ranks, to compare the medium mpi with.
 *
 *   control trip COUNT BYTES LEVEL   a message there and back by MPI_Send and MPI_Recv, COUNT times
 *   control rate COUNT BYTES LEVEL   COUNT messages one way, timed in groups
 *
 * LEVEL is `serialized`, for a process with several threads, or `single`, for one with one thread.
 *
 * Rank 0 prints the median nanoseconds of one way, or of a message at the slower of both ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Messages that are timed together: about as long for large ones as for small ones. */
#define GROUP_BYTES 65536
#define GROUP_MAX 500

static double *times;

static int compare(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static double median(long count) {
    qsort(times, (size_t)count, sizeof *times, compare);
    return times[count / 2];
}

static void send(int rank, char *bytes, int len) {
    MPI_Send(bytes, len, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
}

static void receive(int rank, char *bytes, int len) {
    MPI_Recv(bytes, len, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double trips(int rank, long count, char *bytes, int len) {
    for (long at = 0; at < count; at++) {
        double begin = MPI_Wtime();
        if (rank == 0)
            send(rank, bytes, len);
        receive(rank, bytes, len);
        if (rank == 1)
            send(rank, bytes, len);
        times[at] = (MPI_Wtime() - begin) * 1e9 / 2;
    }
    return median(count);
}

static double one_way(int rank, long count, char *bytes, int len) {
    double begin = MPI_Wtime(), other = 0;
    long group = GROUP_BYTES / len < GROUP_MAX ? GROUP_BYTES / len : GROUP_MAX;
    for (long at = 0; at < count; at++) {
        if (rank == 0)
            send(rank, bytes, len);
        else
            receive(rank, bytes, len);
        if (at % group == group - 1) {
            double now = MPI_Wtime();
            times[at / group] = (now - begin) * 1e9 / (double)group;
            begin = now;
        }
    }
    double own = median(count / group);
    MPI_Allreduce(&own, &other, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return other;
}

int main(int argc, char **argv) {
    int rank, given;
    if (argc != 5)
        return 2;
    int level = !strcmp(argv[4], "serialized") ? MPI_THREAD_SERIALIZED : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, level, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long count = atol(argv[2]);
    int len = atoi(argv[3]);
    char *bytes = calloc(1, (size_t)len + 1);
    times = calloc((size_t)count, sizeof *times);
    double ns = !strcmp(argv[1], "trip") ? trips(rank, count, bytes, len) : one_way(rank, count, bytes, len);
    if (rank == 0)
        printf("%.1f\n", ns);
    MPI_Finalize();
    free(bytes), free(times);
    return 0;
}
