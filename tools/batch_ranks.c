/* batch_ranks.c -- see batch_ranks.h. */
#define _POSIX_C_SOURCE 200809L
#include "batch_ranks.h"
#include "common.h"
#include <stdlib.h>
#include <unistd.h>

void ranks_share(int rank, int n, int *first, int *end) {
    long long count = ranks_count();
    *first = (int)(n * (long long)rank / count), *end = (int)(n * (long long)(rank + 1) / count);
}

#ifdef HAVE_MPI
#include <mpi.h>

static int count = 1, own; /* a process is a rank once */
static int voice = -1;     /* standard error of a silent rank */

/* Without mpirun there is one rank, and MPI need not start. */
static bool started_by_mpirun(void) {
    static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (getenv(marks[i])) return true;
    return false;
}

void ranks_begin(void) {
    int provided;
    if (!started_by_mpirun() || MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return;
    MPI_Comm_size(MPI_COMM_WORLD, &count), MPI_Comm_rank(MPI_COMM_WORLD, &own);
    if (own == 0) return;
    voice = dup(STDERR_FILENO);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) abort();
}

int ranks_end(int status) {
    int running = 0;
    MPI_Initialized(&running);
    if (!running) return status;
    if (own && status == EXIT_TROUBLE && voice >= 0) {
        dprintf(voice, "tribo: rank %d of %d could not go on\n", own, count);
        MPI_Abort(MPI_COMM_WORLD, status);
    }
    MPI_Finalize();
    return own ? EXIT_SUCCESS : status;
}

bool ranks_alone(void) {
    ranks_begin();
    return count == 1 && ranks_end(EXIT_SUCCESS) == EXIT_SUCCESS;
}

int ranks_count(void) {
    return count;
}
int ranks_own(void) {
    return own;
}

void ranks_gather(void *rows, int n, size_t bytes) {
    int first, end;
    MPI_Datatype row;
    if (count == 1) return;
    MPI_Type_contiguous((int)bytes, MPI_BYTE, &row), MPI_Type_commit(&row);
    ranks_share(own, n, &first, &end);
    if (own) MPI_Send((char *)rows + (size_t)first * bytes, end - first, row, 0, 0, MPI_COMM_WORLD);
    for (int rank = 1; own == 0 && rank < count; rank++) {
        ranks_share(rank, n, &first, &end);
        MPI_Recv((char *)rows + (size_t)first * bytes, end - first, row, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&row);
}

bool ranks_any(bool here) {
    int mine = here, any = here;
    if (count > 1) MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return any != 0;
}
#else
bool ranks_alone(void) {
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *size = getenv(sizes[i]);
        if (size && strtol(size, NULL, 10) > 1) return false;
    }
    return true;
}
void ranks_begin(void) {}
int ranks_end(int status) {
    return status;
}
int ranks_count(void) {
    return 1;
}
int ranks_own(void) {
    return 0;
}
void ranks_gather(void *rows, int n, size_t bytes) {
    (void)rows, (void)n, (void)bytes;
}
bool ranks_any(bool here) {
    return here;
}
#endif
