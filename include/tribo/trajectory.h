/* trajectory.h -- recorded motion and controls as tables: CSV with a header, the body's name before the column's.
 *
 *   time,cube.px,cube.py,cube.pz,cube.qw,cube.qx,cube.qy,cube.qz,cube.vx,cube.vy,cube.vz,cube.wx,cube.wy,cube.wz
 *   time,cube.fx,cube.fy,cube.fz,cube.tx,cube.ty,cube.tz
 *   time,corner.px,corner.py,corner.pz
 *   time,plate.fx,plate.fy,plate.fz
 *
 * The third is a site's, a marker that was seen there: m, in the world. Where a body has the same name it is the
 * body's. The last, in a recording, is of what contacts push a geom with, or all geoms of a link: N, in the world, the
 * mean since the row before. Forces under the name of a free body are those that are applied to it, and belong in a
 * table of controls. Units and frames are those of the state and the control, see sim.h. Any subset of the columns, in
 * any order; a missing column, an empty cell and `nan` say that a number was not observed (of a control: that it is
 * zero). The four of a quaternion come together. Times rise from row to row and need not be evenly spaced. Numbers are
 * read and written with a decimal point, whatever the locale.
 */
#ifndef TRIBO_TRAJECTORY_H
#define TRIBO_TRAJECTORY_H
#include <tribo/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tribo_trajectory tribo_trajectory; /**< immutable: share freely */
typedef struct tribo_controls tribo_controls;     /**< immutable: share freely */

/** Read a trajectory of this model's bodies.
 *  @param diag [out] the line of the file and what is wrong there
 *  @return TRIBO_OK; TRIBO_E_PARSE (unknown columns, ragged rows, text for numbers, numbers beyond 1e12, times that do
 *          not rise, quaternions that are partial or not of length 1 to 1 %, no rows, not UTF-8); TRIBO_E_IO;
 *          TRIBO_E_ARG; TRIBO_E_NOMEM. */
TRIBO_API TRIBO_CHECK tribo_status tribo_trajectory_load(const char *path, const tribo_model *m,
                                                         const tribo_allocator *a, tribo_trajectory **t,
                                                         tribo_diag *diag);
/** The same from memory. */
TRIBO_API TRIBO_CHECK tribo_status tribo_trajectory_load_memory(const char *text, size_t bytes, const tribo_model *m,
                                                                const tribo_allocator *a, tribo_trajectory **t,
                                                                tribo_diag *diag);
TRIBO_API void tribo_trajectory_free(tribo_trajectory *t); /**< NULL is fine */

TRIBO_API int tribo_trajectory_rows(const tribo_trajectory *t);            /**< n, >= 1 */
TRIBO_API const double *tribo_trajectory_times(const tribo_trajectory *t); /**< (n) s, rising */
/** (n,nx) states; quaternions unit; what was not observed is as in the model's initial state. */
TRIBO_API const double *tribo_trajectory_states(const tribo_trajectory *t);
TRIBO_API const bool *tribo_trajectory_observed(const tribo_trajectory *t); /**< (n,nx) was this number in the file? */

/** (n,3 nsite) m, where sites were seen; NaN = not observed. NULL where the file has no such column. */
TRIBO_API const double *tribo_trajectory_markers(const tribo_trajectory *t);

/** (n,3 (ngeom + nbody)) N, what contacts pushed each geom with, then each body, the mean since the row before; NaN =
 * not observed. NULL where the file has no such column. */
TRIBO_API const double *tribo_trajectory_forces(const tribo_trajectory *t);

/** Write n states with a full header. The file appears whole or not at all.
 *  @param times (n) s; @param x (n,nx); NaN becomes an empty cell
 *  @return TRIBO_OK; TRIBO_E_ARG; TRIBO_E_IO. */
TRIBO_API TRIBO_CHECK tribo_status tribo_trajectory_save(const char *path, const tribo_model *m, int n,
                                                         const double *times, const double *x, tribo_diag *diag);

/** Read controls. @return as tribo_trajectory_load(). */
TRIBO_API TRIBO_CHECK tribo_status tribo_controls_load(const char *path, const tribo_model *m, const tribo_allocator *a,
                                                       tribo_controls **c, tribo_diag *diag);
/** The same from memory. */
TRIBO_API TRIBO_CHECK tribo_status tribo_controls_load_memory(const char *text, size_t bytes, const tribo_model *m,
                                                              const tribo_allocator *a, tribo_controls **c,
                                                              tribo_diag *diag);
TRIBO_API void tribo_controls_free(tribo_controls *c); /**< NULL is fine */

TRIBO_API int tribo_controls_rows(const tribo_controls *c);             /**< n, >= 1 */
TRIBO_API const double *tribo_controls_times(const tribo_controls *c);  /**< (n) s, rising */
TRIBO_API const double *tribo_controls_values(const tribo_controls *c); /**< (n,nu) */
/** The control in force at a time: the last row not after it (to 1e-9 s, less where rows are nearer to
 *  one another); zero before the first row.
 *  @param u [out] (nu) */
TRIBO_API void tribo_controls_at(const tribo_controls *c, double time, double *u);

#ifdef __cplusplus
}
#endif
#endif
