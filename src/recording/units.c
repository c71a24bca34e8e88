/* units.c -- what touches nothing falls, and nothing lies inside of anything: the scale of lengths and times. */
#include "recording/questions.h"

enum { FLIGHT_ROWS = 6 };
static const double slow = 0.5;  /* s between rows: nothing can be told of impacts from that */
static const double clear = 0.3; /* of the extent: nearer than that may be in contact */
static const double sure = 6;    /* standard errors */
static const double deep = 0.35; /* of the extent: no noise and no wrong size of a body is as deep */
static const double turned = 3;  /* of the extent: no turn of a body that is not known takes it as far */

/* A scale of lengths and times, and how the recording looks under it. */
typedef struct scale {
    double length, time;
    const char *words;
    int touching, inside, floating, falling; /* rows of bodies */
    double fall;                             /* m/s^2, of the longest flight that does not fall as it should */
    int row, body;
} scale;

/* Centre of mass of a body in row k, m. */
static void centre_of(tribo_checked *c, int k, int body, double length, double *at) {
    const double *q = ti_pose(c, c->x, k, body);
    ti_mat R = ti_quat_mat(q + 3);
    ti_vec r = ti_mul(&R, ti_load3(c->p + c->m->body[body].p + TI_P_COM));
    at[0] = length * q[0] + r.x, at[1] = length * q[1] + r.y, at[2] = length * q[2] + r.z;
}

/* Least squares of one coordinate over rows [from, to): y = a0 + a1 t + a2 t^2; 2 a2 and its standard error. */
static double acceleration(const double *t, const double *y, int n, double *error) {
    double A[3][4] = {{0}}, span = t[n - 1] - t[0], left = 0;
    for (int k = 0; k < n; k++) {
        double u = 2 * (t[k] - t[0]) / span - 1, p[3] = {1, u, u * u - 1. / 3};
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) A[i][j] += p[i] * p[j];
            A[i][3] += p[i] * y[k];
        }
    }
    double inverse = 0;
    for (int i = 0; i < 3; i++) /* elimination, in the order in which the last is solved first */
        for (int j = i + 1; j < 3; j++) {
            double f = A[j][i] / A[i][i];
            for (int l = i; l < 4; l++) A[j][l] -= f * A[i][l];
        }
    inverse = 1 / A[2][2];
    double a2 = A[2][3] * inverse, a1 = (A[1][3] - A[1][2] * a2) / A[1][1];
    double a0 = (A[0][3] - A[0][2] * a2 - A[0][1] * a1) / A[0][0];
    for (int k = 0; k < n; k++) {
        double u = 2 * (t[k] - t[0]) / span - 1, r = y[k] - a0 - a1 * u - a2 * (u * u - 1. / 3);
        left += r * r;
    }
    double unit = 8 / (span * span); /* d2/dt2 of u^2 */
    *error = unit * sqrt(left / (n - 3) * inverse);
    return unit * a2;
}

/* Does a flight from row `from` of n rows fall as it should? */
static void judge_flight(tribo_checked *c, int from, int n, int body, scale *s) {
    double difference = 0, error = 0, g = 0, a[3], *t = c->rate, *y = c->rate + n;
    if (n < FLIGHT_ROWS) return;
    for (int i = 0; i < 3; i++) {
        double e;
        for (int k = 0; k < n; k++) {
            double at[3];
            centre_of(c, from + k, body, s->length, at);
            t[k] = s->time * c->time[from + k], y[k] = at[i];
        }
        a[i] = acceleration(t, y, n, &e);
        double gi = c->p[TI_P_GRAVITY + i];
        difference += (a[i] - gi) * (a[i] - gi), error += e * e, g += gi * gi;
    }
    difference = sqrt(difference), error = sqrt(error), g = sqrt(g);
    if (difference > 0.5 * g + sure * error) {
        if (s->floating < n) s->fall = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), s->row = from, s->body = body;
        s->floating += n;
    } else if (error < 0.2 * g) {
        s->falling += n;
    }
}

/* m, that a body goes from row k to one of its neighbours: contact may be as far off as that. */
static double stride(tribo_checked *c, int k, int body, const scale *s) {
    double most = 0;
    for (int j = k - 1; j <= k + 1; j++) {
        if (j < 0 || j >= c->n || !c->posed[j * c->z.nbody + body]) continue;
        ti_vec d = ti_sub(ti_load3(ti_pose(c, c->x, j, body)), ti_load3(ti_pose(c, c->x, k, body)));
        most = fmax(most, ti_norm(d));
    }
    return most * s->length;
}

static bool pushed(const tribo_checked *c, int k, int body) {
    const double *u = c->u ? c->u + (size_t)k * (size_t)c->z.nu + c->m->body[body].v : NULL;
    for (int i = 0; u && i < 6; i++)
        if (u[i] != 0 && !isnan(u[i])) return true;
    return false;
}

/* How the motion of all bodies looks under a scale. */
static void judge(tribo_checked *c, scale *s) {
    const double off = c->extent * (c->unsure ? turned : clear), in = c->extent * (c->unsure ? turned : deep);
    s->touching = s->inside = s->floating = s->falling = 0;
    for (int b = 0; b < c->z.nbody; b++) {
        int flight = 0;
        for (int k = 0; k <= c->n; k++) {
            bool seen = k < c->n && c->posed[k * c->z.nbody + b];
            double far = seen ? 2 * stride(c, k, b, s) : 0, least = off > far ? off : far;
            double gap = seen ? ti_gap(c, c->x, k, b, least, s->length) : 0;
            bool torn = k && k < c->n && c->time[k] - c->time[k - 1] > 1.5 * c->spacing;
            s->inside += seen && gap < -in;
            s->touching += seen && fabs(gap) < 0.1 * c->extent;
            bool flies = seen && gap >= least && !pushed(c, k, b);
            if (flies && !torn) {
                flight++;
                continue;
            }
            judge_flight(c, k - flight, flight, b, s);
            flight = flies;
        }
    }
}

/* Do more rows speak against a scale than for it? */
static bool contradicted(const scale *s) {
    int rows = s->touching + s->falling;
    return s->floating > rows || s->inside > rows;
}

/* Does no row say anything of it? So it is where bodies are far from everything, and by so much faster. */
static bool unseen(const scale *s) {
    return s->touching + s->falling + s->floating + s->inside == 0;
}

static bool plausible(const tribo_checked *c, const scale *s) {
    return c->spacing * s->time <= slow && !contradicted(s) && s->touching + s->falling > 0;
}

static void apply(tribo_checked *c, const scale *s) {
    for (int k = 0; k < c->n; k++) {
        c->time[k] *= s->time;
        for (int b = 0; b < c->z.nbody; b++)
            for (int i = 0; i < 3; i++) {
                ti_pose(c, c->x, k, b)[i] *= s->length;
                /* where there are velocities they went with the poses: columns.c has seen to that */
                ti_rate(c, c->x, k, b)[i] *= s->length / s->time;
                ti_rate(c, c->x, k, b)[3 + i] /= s->time;
            }
    }
    c->noise *= s->length, c->spacing *= s->time;
    ti_found(c, s->time != 1 ? TRIBO_CONVENTION_TIME : TRIBO_CONVENTION_LENGTH, TRIBO_OUTCOME_MENDED, -1, -1,
             s->time != 1 ? s->time : s->length,
             "%s: only so do things fall as the scene's gravity says and lie on one another", s->words);
}

static void refuse(tribo_checked *c, const scale *s) {
    const char *name = tribo_model_body_name(c->m, s->body);
    if (c->spacing > slow)
        ti_found(c, TRIBO_CONVENTION_TIME, TRIBO_OUTCOME_REFUSED, -1, -1, c->spacing,
                 "rows are %.3g s apart: are the times in milliseconds? From so few nothing can be told of contact",
                 c->spacing);
    else if (s->floating > s->inside)
        ti_found(
            c, TRIBO_CONVENTION_SCENE, TRIBO_OUTCOME_REFUSED, s->body, s->row, s->fall,
            "%s touches nothing from row %d on and does not fall (its acceleration is %.3g m/s^2): units of length "
            "or time, axes, or the scene's floor are not those of the recording",
            name, s->row, s->fall);
    else
        ti_found(c, TRIBO_CONVENTION_SCENE, TRIBO_OUTCOME_REFUSED, -1, -1, s->inside,
                 "bodies lie inside of others, or of the floor, in %d rows: units of length, axes, sizes or the "
                 "scene's floor are not those of the recording",
                 s->inside);
}

void ti_check_units(tribo_checked *c) {
    static const double none = 1e-30;
    scale given = {.length = 1, .time = 1};
    scale others[] = {{.length = 1, .time = 1e-3, .words = "times are in milliseconds"},
                      {.length = 1e-3, .time = 1, .words = "positions are in millimetres"},
                      {.length = 1e-3, .time = 1e-3, .words = "times are in milliseconds and positions in millimetres"},
                      {.length = 1e-2, .time = 1, .words = "positions are in centimetres"},
                      {.length = 1, .time = 1e-6, .words = "times are in microseconds"},
                      {.length = 1, .time = 1e-9, .words = "times are in nanoseconds"},
                      {.length = 1e-3, .time = 1e-6, .words = "times are in microseconds and positions in millimetres"},
                      {.length = 1e-3, .time = 1e-9, .words = "times are in nanoseconds and positions in millimetres"}};
    const double *g = c->p + TI_P_GRAVITY;
    if (g[0] * g[0] + g[1] * g[1] + g[2] * g[2] < none) return;
    if (c->m->fluid) return; /* what falls in it need not fall by gravity alone */
    judge(c, &given);
    bool doubtful = c->spacing > slow || contradicted(&given);
    if (!doubtful && (c->unsure || !unseen(&given))) return;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        judge(c, &others[i]);
        /* where every row is in contact nothing says how long a second is */
        if (!plausible(c, &others[i]) || (c->spacing > slow && others[i].falling == 0)) continue;
        apply(c, &others[i]);
        return;
    }
    if (doubtful) refuse(c, &given);
}
