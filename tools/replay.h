/* replay.h -- motions of a model, kept frame by frame to be looked at: on a page (replay_page.c), as glTF
 * (replay_glb.c).
 *
 * A replay has takes (a recording, a run), a take has tracks that are seen together: measured, simulated, by one law
 * and by another. A track has frames: poses of all bodies, contacts with their forces, energy.
 */
#ifndef TRIBO_TOOLS_REPLAY_H
#define TRIBO_TOOLS_REPLAY_H
#include "shapes.h"
#include <stddef.h>
#include <tribo/dynamics.h>
#include <tribo/sim.h>

/* Numbers of a pose: position, m, and unit quaternion w x y z; all NaN where it was not observed. */
enum { REPLAY_POSE = 7 };

typedef struct replay_contact {
    float point[3], force[3]; /* m, N, world: on what moves; of two bodies that do, on the second */
    unsigned char mode;       /* tribo_mode */
    bool bounced;             /* it was between two frames only; its force is a mean over that time */
} replay_contact;

typedef struct replay_track {
    char *name;
    int take;
    bool measured, forces; /* forces: contacts are known */
    int frames;
    double *time;                   /* (frames) s */
    double *pose;                   /* (frames,nbody,REPLAY_POSE) */
    double *energy, *normal, *slip; /* (frames) J; N, all contacts' normal and tangential forces, means since the frame
                                       before; NaN where unknown */
    size_t *contact_at;             /* (frames+1) where a frame's contacts begin */
    replay_contact *contact;
    size_t ncontact, contact_room;
} replay_track;

typedef struct replay {
    const tribo_model *m;
    int nbody;
    scene_shapes shapes;
    tribo_dynamics *motion;
    int ntake, ntrack;
    char **take;
    replay_track *track;
} replay;

/* @param m, p (np): what is seen, kept by pointer and by value. @return false without memory; free it in any case. */
bool replay_start(replay *r, const tribo_model *m, const double *p);
void replay_free(replay *r);
/* The tracks that follow belong to a take of this name. */
bool replay_take(replay *r, const char *name);
/* A track without frames, with room for some; NULL without memory. */
replay_track *replay_track_new(replay *r, const char *name, bool measured, int frames);
/* Another frame; its contacts are those added since the one before. False where the state has no pose. */
bool replay_frame(replay *r, replay_track *t, double time, const double *x);
bool replay_contact_add(replay_track *t, const replay_contact *c);

/* States as they are, thinned to what a page can bear.
 * @param time (n). @param x (n,nx). @param observed (n,nx), NULL = all; a free body is seen where its position was
 * @param p (np) for the energy, NULL = unknown */
bool replay_states(replay *r, const char *name, bool measured, int n, const double *time, const double *x,
                   const bool *observed, const double *p);

/* A simulation whose steps fill the time between rows, as the verb `simulate` has them. */
typedef struct replay_run {
    const char *name;
    const double *p, *x0;                                     /* (np), (nx) */
    int rows;                                                 /* at least 1 */
    const double *time;                                       /* (rows) s, rising */
    tribo_options options;                                    /* dt: the longest step */
    void (*control)(const void *ctx, double time, double *u); /* fills u (nu); NULL = none */
    const void *ctx;
    double *end;        /* [out] (nx) where it ended; NULL = skip */
    long steps, failed; /* [out] made; of these not converged */
    double reached;     /* [out] s: the time of the last row that there is */
    int wanted;         /* [out] step_wanted() of the step it ended at */
} replay_run;
/* @return the status of the step at which it ended: below 0 there are only the frames before it. */
tribo_status replay_simulate(replay *r, replay_run *run);

/* Frames a second that n bodies over some seconds are kept at, before thinning. */
double replay_rate(int nbody, double seconds);
/* Leave out frames evenly until the replay has no more than `bytes` on a page, or `rate` frames a second. */
void replay_thin(replay *r, size_t bytes, double rate);
/* Bytes of frames and contacts on a page, before base64. */
size_t replay_bytes(const replay *r);

#endif
