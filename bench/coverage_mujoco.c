/* coverage_mujoco.c -- see coverage_mujoco.h. What MuJoCo's own identification does, as its documentation has it:
 * nonlinear least squares of rollouts, finite differences by every unknown, bounds.
 *
 * MuJoCo has no restitution: what is fitted is the damping of a contact at the stiffness of its default, and what is
 * told is how much of its velocity the first recording's body keeps in its first impact under the answer. Differences
 * are over 1e-7: over 1e-6 to 1e-3 those by a start at rest see corners lift, and fits of a slide end 1 to 40 % off. */
#include "coverage_mujoco.h"
#include <stdio.h>
#ifdef HAVE_MUJOCO
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PASSES = 60, TRIES = 8 };

/* One fit: theta, then the starts' tangents (2 nv) of each recording, taken out recording by recording. */
typedef struct fit {
    const rival *r;
    mjModel *m;
    mjData *d;
    int n, nv, nq, ns;     /* free numbers; of a state's tangent 2 nv */
    double *theta, *trial; /* (n) */
    double *x, *xtry;      /* (nrec,nq + nv) starts */
    double *y, *moved, *J; /* residuals (nrec,rows,nv); of one moved; (nrec,rows,nv,n + ns) */
    double *A, *b;         /* (n + ns)^2, (n + ns) of a recording */
    double *H, *g, *step;  /* (n,n), (n), (n) starts taken out */
    double *back;          /* (nrec,ns,n + 1) */
    long numbers;
    int rows; /* of the longest recording, times nv */
} fit;

static int joint_of(const mjModel *m, const char *name, size_t n) {
    for (int j = 0; j < m->njnt; j++) {
        const char *own = m->names + m->name_jntadr[j];
        if (strlen(own) == n && !strncmp(own, name, n)) return m->jnt_dofadr[j];
    }
    return -1;
}

/* Where MuJoCo has a number; of a restitution the damping that goes with it. */
static bool set(mjModel *m, const char *name, double value) {
    const char *slash = strchr(name, '/');
    char owner[64];
    size_t n = slash ? (size_t)(slash - name) : 0;
    if (!n || n >= sizeof owner) return false;
    memcpy(owner, name, n), owner[n] = 0;
    int geom = mj_name2id(m, mjOBJ_GEOM, owner), pair = mj_name2id(m, mjOBJ_PAIR, owner),
        body = mj_name2id(m, mjOBJ_BODY, owner), dof = joint_of(m, name, n);
    if (!strcmp(slash, "/friction") && geom >= 0) return m->geom_friction[3 * geom] = value, true;
    if (!strcmp(slash, "/restitution") && (geom >= 0 || pair >= 0)) {
        double *solref = geom >= 0 ? m->geom_solref + mjNREF * geom : m->pair_solref + mjNREF * pair;
        const double stiffness = 1 / (0.95 * 0.95 * 0.02 * 0.02); /* of the default solref and solimp */
        double decay = -log(value), ratio = decay / sqrt(mjPI * mjPI + decay * decay);
        solref[0] = -stiffness, solref[1] = -2 * ratio * sqrt(stiffness);
        return true;
    }
    if (!strcmp(slash, "/mass") && body >= 0) return m->body_mass[body] = value, true;
    if (!strncmp(slash, "/com/", 5) && body >= 0) return m->body_ipos[3 * body + slash[5] - 'x'] = value, true;
    if (!strcmp(slash, "/damping") && dof >= 0) return m->dof_damping[dof] = value, true;
    if (!strcmp(slash, "/frictionloss") && dof >= 0) return m->dof_frictionloss[dof] = value, true;
    return false;
}

static double least(const char *name) {
    return strstr(name, "/com/") ? -10 : strstr(name, "restitution") ? 1e-3 : strstr(name, "/mass") ? 1e-3 : 0;
}

static bool set_all(fit *f, const double *theta) {
    bool known = true;
    for (int i = 0; i < f->n; i++) {
        known &= set(f->m, f->r->name[i], theta[i]);
        if (!known) return fprintf(stderr, "MuJoCo has no %s\n", f->r->name[i]), false;
    }
    mj_setConst(f->m, f->d);
    return true;
}

static bool turns(const fit *f, int dof) {
    int kind = f->m->jnt_type[f->m->dof_jntid[dof]], first = f->m->jnt_dofadr[f->m->dof_jntid[dof]];
    return kind == mjJNT_FREE ? dof - first > 2 : kind != mjJNT_SLIDE;
}

/* Residuals of a rollout from x, in units of noise. */
static void roll(const fit *f, int rec, const double *x, double *out) {
    const tribo_recording *r = &f->r->rec[rec];
    int nx = f->nq + f->nv, nu = f->nv + f->m->nu;
    mj_resetData(f->m, f->d);
    memcpy(f->d->qpos, x, (size_t)f->nq * sizeof *x), memcpy(f->d->qvel, x + f->nq, (size_t)f->nv * sizeof *x);
    for (int k = 0; k < r->n; k++) {
        double *at = out + k * f->nv;
        mj_differentiatePos(f->m, at, 1, r->x + (size_t)k * (size_t)nx, f->d->qpos);
        for (int i = 0; i < f->nv; i++) at[i] /= turns(f, i) ? f->r->rotation : f->r->position;
        int steps = k + 1 < r->n ? (int)floor((r->time[k + 1] - r->time[k]) / f->r->step + 0.5) : 0;
        if (r->u) memcpy(f->d->qfrc_applied, r->u + (size_t)k * (size_t)nu, (size_t)f->nv * sizeof *x);
        for (int s = 0; s < steps; s++) mj_step(f->m, f->d);
    }
}

static double square_of(const double *y, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += y[i] * y[i];
    return isfinite(sum) ? sum : HUGE_VAL;
}

static double cost(fit *f, const double *theta, const double *x) {
    double sum = 0;
    if (!set_all(f, theta)) return HUGE_VAL;
    for (int i = 0; i < f->r->nrec; i++) {
        roll(f, i, x + i * (f->nq + f->nv), f->moved);
        sum += square_of(f->moved, f->r->rec[i].n * f->nv);
    }
    return sum;
}

/* A start moved by its tangent. */
static void move(const fit *f, const double *x, const double *dx, double *out) {
    memcpy(out, x, (size_t)(f->nq + f->nv) * sizeof *x);
    mj_integratePos(f->m, out, dx, 1);
    for (int i = 0; i < f->nv; i++) out[f->nq + i] += dx[f->nv + i];
}

/* J of one recording by forward differences. */
static void differences(fit *f, int rec, const double *x) {
    const double tiny = 1e-7;
    int all = f->n + f->ns, rows = f->r->rec[rec].n * f->nv;
    double *dx = calloc((size_t)(f->ns + f->nq + f->nv), sizeof *dx), *from = dx + f->ns;
    double *y = f->y + (size_t)rec * (size_t)f->rows, *J = f->J + (size_t)rec * (size_t)(f->rows * all);
    roll(f, rec, x, y);
    for (int j = 0; j < all; j++) {
        double h = tiny * (j < f->n && fabs(f->theta[j]) > 1 ? fabs(f->theta[j]) : 1);
        memcpy(f->trial, f->theta, (size_t)f->n * sizeof *dx);
        if (j < f->n) f->trial[j] += h;
        if (j >= f->n) dx[j - f->n] = h;
        set_all(f, f->trial);
        move(f, x, dx, from);
        roll(f, rec, from, f->moved);
        if (j >= f->n) dx[j - f->n] = 0;
        for (int i = 0; i < rows; i++) J[i * all + j] = (f->moved[i] - y[i]) / h;
    }
    set_all(f, f->theta);
    free(dx);
}

/* Lower Cholesky factor in place, and its solve of m right sides. */
static bool solve(int n, double *A, int m, double *B) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = A[i * n + j];
            for (int k = 0; k < j; k++) sum -= A[i * n + k] * A[j * n + k];
            if (i == j && !(sum > 0)) return false;
            A[i * n + j] = i == j ? sqrt(sum) : sum / A[j * n + j];
        }
    for (int c = 0; c < m; c++) {
        for (int i = 0; i < n; B[i * m + c] /= A[i * n + i], i++)
            for (int k = 0; k < i; k++) B[i * m + c] -= A[i * n + k] * B[k * m + c];
        for (int i = n - 1; i >= 0; B[i * m + c] /= A[i * n + i], i--)
            for (int k = i + 1; k < n; k++) B[i * m + c] -= A[k * n + i] * B[k * m + c];
    }
    return true;
}

/* One recording's start out of its normal equations. */
static bool eliminate(fit *f, int rec, double lambda) {
    int n = f->n, ns = f->ns, all = n + ns, rows = f->r->rec[rec].n * f->nv, nb = n + 1;
    double *S = calloc((size_t)(ns * ns), sizeof *S), *B = f->back + (size_t)rec * (size_t)(ns * nb);
    memset(f->A, 0, (size_t)(all * all) * sizeof *S), memset(f->b, 0, (size_t)all * sizeof *S);
    for (int i = 0; i < rows; i++) {
        const double *row = f->J + ((size_t)rec * (size_t)f->rows + (size_t)i) * (size_t)all;
        for (int a = 0; a < all; a++) {
            f->b[a] += row[a] * f->y[(size_t)rec * (size_t)f->rows + (size_t)i];
            for (int c = 0; c < all; c++) f->A[a * all + c] += row[a] * row[c];
        }
    }
    for (int i = 0; i < ns; i++) {
        for (int j = 0; j < ns; j++) S[i * ns + j] = f->A[(n + i) * all + n + j];
        S[i * ns + i] += lambda * S[i * ns + i] + 1e-9;
        for (int a = 0; a < n; a++) B[i * nb + a] = f->A[(n + i) * all + a];
        B[i * nb + n] = f->b[n + i];
    }
    bool good = solve(ns, S, nb, B);
    for (int a = 0; a < n && good; a++) {
        f->g[a] += f->b[a];
        for (int i = 0; i < ns; i++) f->g[a] -= f->A[a * all + n + i] * B[i * nb + n];
        for (int c = 0; c < n; c++) {
            f->H[a * n + c] += f->A[a * all + c];
            for (int i = 0; i < ns; i++) f->H[a * n + c] -= f->A[a * all + n + i] * B[i * nb + c];
        }
    }
    free(S);
    return good;
}

/* Derivatives of all recordings at theta and their starts. */
static bool linearise(fit *f) {
    bool good = set_all(f, f->theta);
    for (int i = 0; i < f->r->nrec && good; i++) differences(f, i, f->x + i * (f->nq + f->nv));
    return good;
}

/* H and g of theta there, starts taken out. */
static bool normal(fit *f, double lambda) {
    bool good = true;
    memset(f->H, 0, (size_t)(f->n * f->n) * sizeof(double)), memset(f->g, 0, (size_t)f->n * sizeof(double));
    for (int i = 0; i < f->r->nrec && good; i++) good = eliminate(f, i, lambda);
    return good;
}

/* A step of theta and all starts by the last elimination. */
static void attempt(fit *f, double *dx) {
    int nb = f->n + 1, nx = f->nq + f->nv;
    for (int a = 0; a < f->n; a++) {
        f->trial[a] = fmax(f->theta[a] + f->step[a], least(f->r->name[a]));
        if (strstr(f->r->name[a], "restitution")) f->trial[a] = fmin(f->trial[a], 0.999);
    }
    for (int i = 0; i < f->r->nrec; i++) {
        const double *B = f->back + (size_t)i * (size_t)(f->ns * nb);
        for (int j = 0; j < f->ns; j++) {
            dx[j] = -B[j * nb + f->n];
            for (int a = 0; a < f->n; a++) dx[j] -= B[j * nb + a] * (f->trial[a] - f->theta[a]);
        }
        move(f, f->x + i * nx, dx, f->xtry + i * nx);
    }
}

static bool descend(fit *f, int *iterations) {
    double lambda = 1e-3, *dx = calloc((size_t)f->ns, sizeof *dx), now = cost(f, f->theta, f->x), before = HUGE_VAL;
    double *H = calloc((size_t)(f->n * f->n), sizeof *H);
    size_t starts = (size_t)(f->r->nrec * (f->nq + f->nv)) * sizeof *dx;
    bool good = isfinite(now);
    for (*iterations = 0; good && *iterations < PASSES && before - now > 1e-6 * now; ++*iterations) {
        bool moved = false;
        before = now;
        good = linearise(f);
        for (int tries = 0; tries < TRIES && good && !moved; tries++, lambda *= 10) {
            good = normal(f, lambda);
            memcpy(H, f->H, (size_t)(f->n * f->n) * sizeof *H);
            for (int a = 0; a < f->n; a++) H[a * (f->n + 1)] *= 1 + lambda, f->step[a] = -f->g[a];
            if (!good || !solve(f->n, H, 1, f->step)) continue;
            attempt(f, dx);
            double *theta = calloc((size_t)f->n, sizeof *theta);
            memcpy(theta, f->trial, (size_t)f->n * sizeof *theta);
            double then = cost(f, theta, f->xtry);
            moved = then < now;
            if (moved) now = then, memcpy(f->theta, theta, (size_t)f->n * sizeof *theta), memcpy(f->x, f->xtry, starts);
            free(theta);
        }
        lambda = fmax(1e-9, lambda * 1e-2);
        if (!moved) break;
    }
    free(dx), free(H);
    return good;
}

/* The first row, and the slope of the first few. */
static void first_guess(fit *f) {
    enum { ROWS = 5 };
    for (int i = 0; i < f->r->nrec; i++) {
        const tribo_recording *r = &f->r->rec[i];
        int nx = f->nq + f->nv;
        double *x = f->x + i * nx, weight = 0, *d = f->moved;
        memcpy(x, r->x, (size_t)f->nq * sizeof *x), memset(x + f->nq, 0, (size_t)f->nv * sizeof *x);
        for (int k = 1; k < ROWS && k < r->n; k++) {
            double t = r->time[k] - r->time[0];
            mj_differentiatePos(f->m, d, 1, r->x, r->x + (size_t)k * (size_t)nx);
            for (int j = 0; j < f->nv; j++) x[f->nq + j] += t * d[j];
            weight += t * t;
        }
        for (int j = 0; j < f->nv; j++) x[f->nq + j] /= weight;
    }
}

/* What is told of a free number: itself, or the velocity after the first impact over that before it. */
static double told(fit *f, const double *theta, int a) {
    if (!strstr(f->r->name[a], "restitution")) return theta[a];
    set_all(f, theta);
    mj_resetData(f->m, f->d);
    memcpy(f->d->qpos, f->x, (size_t)f->nq * sizeof *theta);
    memcpy(f->d->qvel, f->x + f->nq, (size_t)f->nv * sizeof *theta);
    double last = f->d->qvel[2], before = last;
    bool rises = false;
    for (int k = 0; k < 2000; k++) {
        mj_step(f->m, f->d);
        if (rises && f->d->qvel[2] < last) break;
        rises |= f->d->qvel[2] > last;
        last = f->d->qvel[2];
        if (!rises) before = last;
    }
    set_all(f, f->theta);
    return -last / before;
}

/* Intervals by the slope at the answer, noise by what is left. */
static bool judge(fit *f, tribo_estimate *est) {
    const double normal_quantile = 1.96;
    int n = f->n;
    double *C = calloc((size_t)(n * n), sizeof *C), left = cost(f, f->theta, f->x);
    bool good = linearise(f) && normal(f, 0);
    for (int a = 0; a < n; a++) C[a * (n + 1)] = 1;
    good = good && solve(n, f->H, n, C);
    double variance = left / (double)(f->numbers - n - f->r->nrec * f->ns);
    for (int a = 0; a < n && good; a++) {
        const double h = 1e-3;
        memcpy(f->trial, f->theta, (size_t)n * sizeof *C);
        f->trial[a] += h;
        double value = told(f, f->theta, a), slope = (told(f, f->trial, a) - value) / h;
        double error = sqrt(variance * C[a * (n + 1)]) * fabs(slope);
        est[a] = (tribo_estimate){.start = f->r->start[a], .estimate = value, .std_error = error, .identifiable = true};
        est[a].low95 = value - normal_quantile * error, est[a].high95 = value + normal_quantile * error;
    }
    free(C);
    return good;
}

static mjModel *load(const rival *r) {
    char error[500] = "", path[] = "/tmp/coverageXXXXXX";
    int file = r->path ? -1 : mkstemp(path);
    bool written = file >= 0 && write(file, r->xml, strlen(r->xml)) == (ssize_t)strlen(r->xml);
    mjModel *m = r->path || written ? mj_loadXML(r->path ? r->path : path, NULL, error, sizeof error) : NULL;
    if (file >= 0) close(file), unlink(path);
    if (!m) fprintf(stderr, "MuJoCo: %s\n", error);
    return m;
}

bool rival_fit(const rival *r, tribo_estimate *est, int *iterations) {
    fit f = {.r = r, .n = r->nfree, .m = load(r)};
    size_t rows = 0, nrec = (size_t)r->nrec, n = (size_t)r->nfree;
    if (!f.m) return false;
    f.m->opt.timestep = r->step > 0 ? r->step : f.m->opt.timestep;
    f.d = mj_makeData(f.m), f.nv = f.m->nv, f.nq = f.m->nq, f.ns = 2 * f.nv;
    rival own = *r;
    own.step = f.m->opt.timestep, f.r = &own;
    for (size_t i = 0; i < nrec; i++) {
        rows = (size_t)r->rec[i].n > rows ? (size_t)r->rec[i].n : rows;
        f.numbers += (long)r->rec[i].n * f.nv;
    }
    f.rows = (int)rows * f.nv;
    size_t nv = (size_t)f.nv, ns = (size_t)f.ns, nx = (size_t)(f.nq + f.nv), all = n + ns;
    double **part[] = {&f.theta, &f.trial, &f.x, &f.xtry, &f.y,    &f.moved, &f.J,
                       &f.A,     &f.b,     &f.H, &f.g,    &f.step, &f.back};
    size_t size[] = {n,   n,     nrec * nx, nrec * nx, nrec * rows * nv,   rows * nv, nrec * rows * nv * all, all * all,
                     all, n * n, n,         n,         nrec * ns * (n + 1)};
    for (int i = 0; i < 13; i++) *part[i] = calloc(size[i] + 1, sizeof(double));
    memcpy(f.theta, r->start, n * sizeof(double));
    first_guess(&f);
    bool good = descend(&f, iterations) && judge(&f, est);
    for (int i = 0; i < 13; i++) free(*part[i]);
    mj_deleteData(f.d), mj_deleteModel(f.m);
    return good;
}

struct rival_world {
    mjModel *m;
    mjData *d;
};

rival_world *rival_world_new(const char *xml, int n, const char *const *name, const double *value) {
    const rival r = {.xml = xml};
    rival_world *w = calloc(1, sizeof *w);
    w->m = load(&r);
    bool good = w->m != NULL;
    for (int i = 0; i < n && good; i++)
        if (strstr(name[i], "restitution")) good = set(w->m, name[i], value[i]);
    if (!good) return free(w), NULL;
    w->d = mj_makeData(w->m);
    return w;
}

/* Angular velocities are in the body's frame in both. */
bool rival_world_next(void *world, double *x) {
    rival_world *w = world;
    size_t nq = (size_t)w->m->nq * sizeof *x, nv = (size_t)w->m->nv * sizeof *x;
    mj_resetData(w->m, w->d);
    memcpy(w->d->qpos, x, nq), memcpy(w->d->qvel, x + w->m->nq, nv);
    for (int i = 0; i < (int)(0.01 / w->m->opt.timestep + 0.5); i++) mj_step(w->m, w->d);
    memcpy(x, w->d->qpos, nq), memcpy(x + w->m->nq, w->d->qvel, nv);
    return true;
}

void rival_world_free(rival_world *w) {
    mj_deleteData(w->d), mj_deleteModel(w->m), free(w);
}
#else
rival_world *rival_world_new(const char *xml, int n, const char *const *name, const double *value) {
    (void)xml, (void)n, (void)name, (void)value;
    fprintf(stderr, "there is no MuJoCo here\n");
    return NULL;
}
bool rival_world_next(void *world, double *x) {
    (void)world, (void)x;
    return false;
}
void rival_world_free(rival_world *w) {
    (void)w;
}
bool rival_fit(const rival *r, tribo_estimate *est, int *iterations) {
    (void)r, (void)est, (void)iterations;
    fprintf(stderr, "there is no MuJoCo here\n");
    return false;
}
#endif
