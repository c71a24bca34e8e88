/* ranks.h -- one command as several processes: worlds and recordings dealt out over the ranks of MPI, where the command
 * was built with it (-Dmpi=enabled) and started by mpirun. Elsewhere there is one rank, and nothing to do.
 *
 * Every rank reads the same files and makes the same random numbers; rank 0 alone says and writes something. */
#ifndef TRIBO_TOOLS_RANKS_H
#define TRIBO_TOOLS_RANKS_H
#include <stdbool.h>
#include <stddef.h>
#include <tribo/sysid.h>

/* For what is not shared over ranks, before anything else: whether this is the only process. MPI is left again. Without
 * MPI it goes by what mpirun writes into the environment. */
bool ranks_alone(void);
/* Called once, before the command says anything: ranks but the first become silent. */
void ranks_begin(void);
/* @return the status that the process ends with; a rank that has trouble of its own, and was not interrupted, ends the
 * job. */
int ranks_end(int status);
/* An exit status before work is shared: EXIT_SUCCESS if all ranks have that, else the worst, after a message. */
int ranks_agree(int status);
/* How a fit is shared; NULL = there is one rank. */
const tribo_ranks *ranks_of_fit(void);
/* The processors that this rank has to itself. */
int ranks_processors(void);
int ranks_count(void);
int ranks_own(void);
/* The share of a rank in n things: [*first, *end). Shares follow each other. */
void ranks_share(int rank, int n, int *first, int *end);
/* rows (n,bytes): every rank has its share of them, rank 0 gets all. */
void ranks_gather(void *rows, int n, size_t bytes);
/* Whether any rank says so: all hear it. */
bool ranks_any(bool here);
/* Whether any rank was interrupted. */
bool ranks_interrupted(void);

#endif
