/* mpi.c: a medium over MPI, for processing elements that are ranks of one MPI job.
 *
 *   thalweg medium build mpi      compiles this file with the site's mpicc
 *   mpirun -n 2 thalweg run -F mpi --fuse none --media-path . examples/hello/Hello.spl
 *
 *     sender                                               receiver
 *       | <------ hello: token, number of the data tag -------|
 *       | ==== data: the bytes of whole blocks, no header ==> | receives that are posted ahead
 *       | <------ credit: bytes released so far, closed ------|
 *       | ---- end: a message of no bytes ------------------> |
 *       | ---- refusal: a message of 1 byte ----------------> | of a ticket that was used before
 *
 * Every end of an edge has a number of its own in its process, and tags are made of these numbers, so
 * that messages of two edges never meet. Ranks are of the same job and may lie only by a mistake; the
 * hello shows the job's token all the same.
 *
 *   mpi/job.c             this process in the MPI job, and the lock around MPI
 *   mpi/peer.c            messages of a sender to one of its receivers
 *   mpi/sender.c          the sending end: buffers, batches, the table's functions
 *   mpi/receiver.c        the receiving end: receives posted ahead, credit
 *   mpi/receiver_calls.c  the table's functions for a receiving end
 *   mpi/rounds.c          what the MPI thread does for ends that do not call
 *   mpi/membership.c      joining the job and leaving it; bytes that rank 0 shares
 *
 * These files are parts of this one, in this order: the library is one translation unit.
 *
 * Threads. The MPI thread joins the job, looks after ends that sleep, that were closed or that keep
 * something back, and leaves the job. The threads of the ends call MPI by themselves, under one lock
 * for the process, which also guards all that an end shares with the MPI thread. If MPI wants one
 * thread to make all calls, it is the MPI thread, and the others wait for it.
 *
 * No call blocks: MPI_Isend, MPI_Irecv, MPI_Test and MPI_Improbe are all that an end uses. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "thalweg_medium.h"

#include "mpi/job.c"
#include "mpi/peer.c"
#include "mpi/sender.c"
#include "mpi/receiver.c"
#include "mpi/receiver_calls.c"
#include "mpi/rounds.c"
#include "mpi/membership.c"

const thalweg_medium thalweg_medium_table = {
    .version = THALWEG_MEDIUM_VERSION,
    .bytes = sizeof(thalweg_medium),
    .about = "messages of MPI, between ranks of mpirun or srun",
    .caps = {.crosses_processes = 1,
             .crosses_hosts = 1,
             .is_untrusted = 1,
             .is_one_to_many = 1,
             .receivers_max = THALWEG_MEDIUM_RECEIVERS_MAX},
    .open = mpi_open,
    .accept = mpi_accept,
    .claim = mpi_claim,
    .commit = mpi_commit,
    .flush = mpi_flush,
    .queued = mpi_queued,
    .lost = mpi_lost,
    .arm_sender = mpi_arm_sender,
    .disarm_sender = mpi_disarm_sender,
    .close_sender = mpi_close_sender,
    .poll = mpi_poll,
    .release = mpi_release,
    .arm_receiver = mpi_arm_receiver,
    .disarm_receiver = mpi_disarm_receiver,
    .close_receiver = mpi_close_receiver,
};

const thalweg_medium_ranks thalweg_medium_ranks_table = {
    .version = THALWEG_MEDIUM_VERSION,
    .bytes = sizeof(thalweg_medium_ranks),
    .join = mpi_join,
    .share = mpi_share,
};
