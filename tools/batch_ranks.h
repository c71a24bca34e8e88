/* batch_ranks.h -- one command as several processes: worlds dealt out over the ranks of MPI, where the command was
 * built with it (-Dmpi=enabled) and started by mpirun. Elsewhere there is one rank, and nothing to do.
 *
 * Every rank reads the same files and makes the same random numbers; rank 0 alone says and writes something. */
#ifndef TRIBO_TOOLS_BATCH_RANKS_H
#define TRIBO_TOOLS_BATCH_RANKS_H
#include <stdbool.h>
#include <stddef.h>

/* For what is not shared over ranks, before anything else: whether this is the only process. MPI is left again. Without
 * MPI it goes by what mpirun writes into the environment. */
bool ranks_alone(void);
/* Called once, before the command says anything: ranks but the first become silent. */
void ranks_begin(void);
/* @return the status that the process ends with; a rank that has trouble of its own ends the job. */
int ranks_end(int status);
int ranks_count(void);
int ranks_own(void);
/* The share of a rank in n things: [*first, *end). Shares follow each other. */
void ranks_share(int rank, int n, int *first, int *end);
/* rows (n,bytes): every rank has its share of them, rank 0 gets all. */
void ranks_gather(void *rows, int n, size_t bytes);
/* Whether any rank says so: all hear it. */
bool ranks_any(bool here);

#endif
