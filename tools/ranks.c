/* ranks.c -- see ranks.h. */
#define _POSIX_C_SOURCE 200809L
#include "ranks.h"
#include "common.h"
#include "progress.h"
#include "recordings.h"
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

void ranks_share(int rank, int n, int *first, int *end) {
    long long count = ranks_count();
    *first = (int)(n * (long long)rank / count), *end = (int)(n * (long long)(rank + 1) / count);
}

bool ranks_interrupted(void) {
    return ranks_any(*interrupts_flag != 0);
}

#ifdef HAVE_MPI
#include <mpi.h>

static int count = 1, own, nearby = 1; /* a process is a rank once; nearby: how many are on this machine */
static int voice = -1;                 /* standard error of a silent rank */

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
    MPI_Comm machine;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, own, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &nearby), MPI_Comm_free(&machine);
    if (own == 0) return;
    voice = dup(STDERR_FILENO);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) abort();
}

int ranks_end(int status) {
    int begun = 0, over = 0;
    MPI_Initialized(&begun), MPI_Finalized(&over);
    if (!begun || over) return status;
    if (count > 1 && status == EXIT_TROUBLE && !*interrupts_flag) {
        if (voice >= 0) dprintf(voice, "tribo: rank %d of %d could not go on\n", own, count);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, status);
    }
    MPI_Finalize();
    return own ? EXIT_SUCCESS : status;
}

int ranks_agree(int status) {
    int mine[2] = {status, own}, worst[2] = {status, own};
    char place[MPI_MAX_PROCESSOR_NAME] = "";
    int n = 0;
    if (count == 1) return status;
    MPI_Allreduce(mine, worst, 1, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD);
    if (worst[0] == EXIT_SUCCESS || worst[1] != own || own == 0) return worst[0];
    MPI_Get_processor_name(place, &n);
    dprintf(voice, "tribo: rank %d of %d, on %s, could not make out what the first did\n", own, count, place);
    return worst[0];
}

/* Bytes of data as numbers of eight each, so that counts are small enough. */
static tribo_status exchange(void *context, void *data, const size_t *at) {
    int *n = calloc(2 * (size_t)count, sizeof *n), *from = n + count;
    (void)context;
    if (!n) return TRIBO_E_NOMEM;
    for (int r = 0; r < count; r++) from[r] = (int)(at[r] / 8), n[r] = (int)((at[r + 1] - at[r]) / 8);
    int bad = at[count] / 8 > INT_MAX;
    if (!bad) bad = MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, n, from, MPI_DOUBLE, MPI_COMM_WORLD);
    free(n);
    return bad ? TRIBO_E_IO : TRIBO_OK;
}

const tribo_ranks *ranks_of_fit(void) {
    static tribo_ranks by;
    by = (tribo_ranks){.count = count, .own = own, .exchange = exchange};
    return count > 1 ? &by : NULL;
}

int ranks_processors(void) {
    int all = processors();
    return all > nearby ? all / nearby : 1;
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
int ranks_agree(int status) {
    return status;
}
const tribo_ranks *ranks_of_fit(void) {
    return NULL;
}
int ranks_processors(void) {
    return processors();
}
#endif
