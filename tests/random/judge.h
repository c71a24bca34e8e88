/* judge.h -- what is asked of every random scene, and what was found. */
#ifndef RANDOM_JUDGE_H
#define RANDOM_JUDGE_H
#include "maths.h"
#include "scene.h"

/* X(NAME, word, what a failure means) */
#define FLAW_LIST(X)                                                                                                   \
    X(BUILD, "build", "the model is refused")                                                                          \
    X(STATUS, "status", "a step failed, or said OK with a residual that is not")                                       \
    X(UNCONVERGED, "unconverged", "a step that did not converge")                                                      \
    X(ENERGY, "energy", "energy rose in a step")                                                                       \
    X(ENERGY_RUN, "energy-run", "energy rose over the run")                                                            \
    X(MOMENTUM, "momentum", "momentum of bodies that touch only one another changed")                                  \
    X(BALANCE, "balance", "velocities are not those that the impulses make")                                           \
    X(MOTION, "motion", "a body moved by more than its speeds allow")                                                  \
    X(OVERLAP, "overlap", "bodies overlap by more than curvature of a step explains")                                  \
    X(CONE, "cone", "an impulse outside the friction cone")                                                            \
    X(APPROACH, "approach", "a contact that goes on approaching, or pushes while it parts")                            \
    X(FRICTION, "friction", "a sticking contact slips, or sliding is not opposed")                                     \
    X(ROTATION, "rotation", "the scene turned, with gravity, moves otherwise")                                         \
    X(MIRROR, "mirror", "the scene mirrored moves otherwise")                                                          \
    X(ORDER, "order", "another order of bodies moves otherwise")                                                       \
    X(FRAME, "frame", "other body frames move otherwise")                                                              \
    X(UNITS, "units", "in other units it moves otherwise")                                                             \
    X(WELD, "weld", "a body in two parts, welded together, moves otherwise")                                           \
    X(THREE_WAYS, "three-ways", "forward, reverse and Jacobian differ")                                                \
    X(WRONG, "gradient", "a gradient that claims to be right is wrong")                                                \
    X(EXPLODED, "exploded", "a gradient that claims to be right is not finite, or absurd")                             \
    X(SILENT_KINK, "silent-kink", "slopes differ from side to side, and nothing is counted")

typedef enum flaw {
#define X(NAME, word, text) NAME,
    FLAW_LIST(X)
#undef X
        FLAWS
} flaw;

/* Of one scene. */
typedef struct verdict {
    bool found[FLAWS];
    int step[FLAWS];    /* the first in which it was */
    double size[FLAWS]; /* and how large, in units of what is allowed */
    char what[FLAWS][120];
    long asked[FLAWS]; /* how often it was asked: steps, contacts, directions */
    long unresolved;   /* directions along which differences do not settle */
    long kinks;        /* directions with two slopes, counted as such */
    bool claims;       /* the rollout whose gradient was judged: all OK, nothing counted */
} verdict;

const char *flaw_word(flaw f);
const char *flaw_text(flaw f);
/* Note the flaw unless one is noted: `size` times what is allowed. */
void note(verdict *v, flaw f, int step, double size, const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Ask: is `is` at most `may`? NaN is not. */
void ask(verdict *v, flaw f, int step, double is, double may, const char *what);

/* One step, seen from outside. */
typedef struct moment {
    const scene *s;
    int k;
    tribo_status status;
    tribo_step_info info;
    const tribo_contact *c;
    int nc;
    const double *x, *next;
    motion before[MAX_BODIES], after[MAX_BODIES];
    int island[MAX_BODIES]; /* bodies that impulses connect have the same number, which is the least of theirs */
    int group[MAX_BODIES];  /* the same of all contacts that were found: what is solved together */
    bool held[MAX_BODIES];  /* of an island: the world pushes */
} moment;

/* Energies of a run so far. */
typedef struct ledger {
    double start, work, allowed, worst;
} ledger;

int contact_body(const scene *s, const tribo_contact *c, int side); /* side 0: a, 1: b; TRIBO_WORLD */
double contact_material(const scene *s, const tribo_contact *c, double *stiction, double *restitution);
double contact_compliance(const scene *s, const tribo_contact *c);
/* The skin of a contact, m: overlap by less is taken back by the velocities of one step, docs/math.md eq. (11). */
double contact_skin(const scene *s, const tribo_contact *c);
/* Velocity of side's material at the contact, world, with velocities v and w. */
void point_velocity(const moment *t, const tribo_contact *c, int side, const motion *m, double out[3]);

/* Whether a step has one answer, which no rounding changes. */
bool clear_of_kinks(const tribo_step_info *i, tribo_status status);
void step_look(moment *t, const scene *s, int k, tribo_status status, const tribo_ws *ws, const double *x,
               const double *next);
void judge_energy(const moment *t, ledger *book, verdict *v);
void judge_momentum(const moment *t, verdict *v);
void judge_motion(const moment *t, verdict *v);
void judge_contacts(const moment *t, verdict *v);
void judge_overlap(const moment *t, verdict *v);
void judge_symmetries(const moment *t, dice *d, verdict *v);
void judge_gradients(const scene *s, const world *w, const double *x, verdict *v);

/* robot.c: what applies to trees with joints. */
void run_robot(const scene *s, flaw only, verdict *v);

/* run.c: everything. `only`: judge this flaw alone where that saves time; FLAWS = all. */
void run(const scene *s, flaw only, verdict *v);
/* shrink.c: a smaller scene with the same flaw. */
void shrink(scene *s, flaw f);

#endif
