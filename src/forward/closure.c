/* closure.c -- what holds: loops of bodies and gears, as rows c = 0 of the problem, and the reverse of those.
 * docs/math.md eq. (161)-(163). */
#include "forward/frame.h"
#include <string.h>

static const ti_equality *equality_of(const tribo_ws *ws, const ti_con *c) {
    return &ws->model->equality[c->v];
}

/* ---- places ---- */

/* The point that is held, on side 0 (a) or 1 (b). */
static ti_vec anchor(const tribo_ws *ws, const ti_con *c, int side) {
    const ti_equality *e = equality_of(ws, c);
    ti_vec at = ti_load3(side ? e->pos_b : e->pos_a);
    int body = side ? e->b : e->a;
    return body < 0 ? at : ti_add(ws->link[body].xo, ti_mul(&ws->link[body].R, at));
}

/* The axes of b, and where they are to be in a. */
static void axes(const tribo_ws *ws, const ti_con *c, ti_mat *is, ti_mat *wanted) {
    static const ti_mat one = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    const ti_equality *e = equality_of(ws, c);
    ti_mat turn = ti_quat_mat(e->quat);
    *is = e->b < 0 ? one : ws->link[e->b].R;
    *wanted = e->a < 0 ? turn : ti_matmul(&ws->link[e->a].R, &turn);
}

/* The polynomial at joint b, its slope and how that bends. */
static void polynomial(const tribo_ws *ws, const ti_equality *e, double *value, double *slope, double *bend) {
    const double *a = e->polynomial;
    const ti_joint *j = e->b < 0 ? NULL : &ws->model->joint[e->b];
    double x = j ? ws->motion.q[j->q] - j->ref : 0;
    *value = a[0] + x * (a[1] + x * (a[2] + x * (a[3] + x * a[4])));
    *slope = a[1] + x * (2 * a[2] + x * (3 * a[3] + x * 4 * a[4]));
    *bend = 2 * (a[2] + 3 * x * (a[3] + 2 * x * a[4]));
    if (!j) *value = a[0], *slope = *bend = 0;
}

/* What is to be zero, eq. (162); its rate is J v. */
static void error_of(const tribo_ws *ws, const ti_con *c, double *error) {
    const ti_equality *e = equality_of(ws, c);
    memset(error, 0, 3 * sizeof *error);
    if (c->kind == TI_CON_COUPLING) {
        const ti_joint *j = &ws->model->joint[e->a];
        double value, slope, bend;
        polynomial(ws, e, &value, &slope, &bend);
        error[2] = value - (ws->motion.q[j->q] - j->ref);
    } else if (c->kind == TI_CON_CONNECT) {
        ti_store3(error, ti_sub(anchor(ws, c, 1), anchor(ws, c, 0)));
    } else {
        ti_mat is, wanted;
        axes(ws, c, &is, &wanted);
        for (int k = 0; k < 3; k++) ti_add3(error, ti_scale(0.5, ti_cross(ti_col(&wanted, k), ti_col(&is, k))));
    }
}

/* ---- rows ---- */

/* As a contact half way between the points of both sides, with the world's axes for its tangents and normal: at one
 * place, so that what holds pushes with no torque, however far they have come apart. */
static ti_con between(const tribo_ws *ws, const ti_con *c) {
    ti_con out = *c;
    out.touch.point = ti_scale(0.5, ti_add(anchor(ws, c, 0), anchor(ws, c, 1))), out.touch.normal = ti_vec3(0, 0, 1);
    out.t1 = ti_vec3(1, 0, 0), out.t2 = ti_vec3(0, 1, 0);
    return out;
}

/* Rows of the spin of a body about the world's axes. */
static void spin_rows(const ti_link *l, double sign, double *R) {
    memset(R, 0, 3 * TI_TWIST * sizeof *R);
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) R[TI_TWIST * r + 3 + k] = sign * l->R.m[r][k];
}

/* The velocity of joint e->a (side 0) or e->b in its tree. */
static int velocity_of(const tribo_ws *ws, const ti_equality *e, int side) {
    const ti_joint *j = &ws->model->joint[side ? e->b : e->a];
    return j->v - ws->model->tree[ws->model->body[j->body].tree].v;
}

void ti_closure_rows(tribo_ws *ws, const ti_con *c, int side, int width, double *J) {
    const ti_equality *e = equality_of(ws, c);
    double sign = side ? 1 : -1, R[3 * TI_TWIST];
    if (c->kind == TI_CON_COUPLING) {
        double value, slope, bend;
        polynomial(ws, e, &value, &slope, &bend);
        J[2 * width + velocity_of(ws, e, side)] += side ? slope : -1;
        return;
    }
    const ti_link *l = &ws->link[side ? c->b : c->a];
    if (c->kind == TI_CON_TURN) {
        spin_rows(l, sign, R);
    } else {
        ti_con at = between(ws, c);
        ti_rows(&at, l, sign, R);
    }
    ti_link_rows(ws, side ? c->b : c->a, R, J);
}

/* ---- what takes an error back ---- */

/* Of what recovery takes back in a step, the share that is left to velocities: more than what a step's own motion makes
 * of second order, which is theirs. */
static const double DRIFT = 0.25;

/* The share of an error of this length that the velocity takes back, and how it changes with that. A displacement takes
 * back the rest. */
typedef struct shares {
    double velocity, velocity_length;
} shares;

/* docs/math.md eq. (475). */
static shares shares_of(const tribo_ws *ws, double length) {
    double drift = DRIFT * ws->options.recovery * ws->options.dt;
    shares s = {1, 0};
    if (length <= drift) return s;
    s.velocity = length < 2 * drift ? 2 * drift / length - 1 : 0;
    s.velocity_length = length < 2 * drift ? -2 * drift / (length * length) : 0;
    return s;
}

static double length_of(const double *error) {
    return ti_norm(ti_load3(error));
}

void ti_closure_reference(const tribo_ws *ws, const ti_con *c, double *ref) {
    error_of(ws, c, ref);
    double share = shares_of(ws, length_of(ref)).velocity;
    for (int r = 0; r < 3; r++) ref[r] = share * ref[r] / ws->options.dt;
}

double ti_closure_drift(const tribo_ws *ws, const ti_con *c) {
    double error[3];
    error_of(ws, c, error);
    return shares_of(ws, length_of(error)).velocity;
}

void ti_closure_apart(const tribo_ws *ws, const ti_con *c, bool all, double *ref) {
    error_of(ws, c, ref);
    double share = all ? 1 : 1 - shares_of(ws, length_of(ref)).velocity;
    for (int r = 0; r < 3; r++) ref[r] *= share;
}

/* How far from the world's origin what is held is: places are known to rounding of that, directions to that of 1. */
static double distance(const tribo_ws *ws, const ti_con *c) {
    double far = 0;
    for (int side = 0; side < 2 && c->kind == TI_CON_CONNECT; side++) {
        int body = side ? c->b : c->a;
        far = ti_max(far, ti_norm(anchor(ws, c, side)));
        if (body >= 0) far = ti_max(far, ti_norm(ws->link[body].xo));
    }
    return c->kind == TI_CON_CONNECT ? far : 1;
}

double ti_closure_rounding(const tribo_ws *ws, const ti_con *c) {
    return 1e-12 * distance(ws, c);
}

/* Products of the rows J, of both sides, with one another. */
static void gram(const int width[2], const double *J, double G[3][3]) {
    memset(G, 0, 9 * sizeof(double));
    for (int side = 0; side < 2; J += 3 * width[side++])
        for (int r = 0; r < 3; r++)
            for (int e = 0; e < 3; e++)
                for (int k = 0; k < width[side]; k++) G[r][e] += J[r * width[side] + k] * J[e * width[side] + k];
}

static void clear_row(const int width[2], double *J, int r) {
    for (int side = 0; side < 2; J += 3 * width[side++])
        memset(J + r * width[side], 0, sizeof(double) * (size_t)width[side]);
}

/* Rows that others of the three give, the larger first, are nothing, if what they are apart by, left (3), is given by
 * those, too: docs/math.md eq. (480). */
static void settle_together(const int width[2], double *J, double *left, double *ref, double rounding) {
    const double share = 1e-7;
    double G[3][3];
    bool kept[3] = {false, false, false};
    gram(width, J, G);
    double largest = ti_max(G[0][0], ti_max(G[1][1], G[2][2]));
    for (int n = 0; n < 3; n++) {
        int p = -1;
        for (int r = 0; r < 3; r++)
            if (!kept[r] && (p < 0 || G[r][r] > G[p][p])) p = r;
        if (G[p][p] <= share * share * largest) break;
        kept[p] = true;
        for (int r = 0; r < 3; r++) {
            double f = kept[r] ? 0 : G[r][p] / G[p][p];
            for (int k = 0; k < 3; k++) G[r][k] -= f * G[p][k];
            left[r] -= f * left[p];
        }
    }
    for (int r = 0; r < 3; r++) {
        if (kept[r] || !(fabs(left[r]) <= rounding + share * sqrt(largest))) continue;
        clear_row(width, J, r);
        ref[r] = 0;
    }
}

void ti_closure_settle(const tribo_ws *ws, const ti_con *c, const int width[2], double *J, double *ref) {
    const double entry = 1e-14;
    double size = distance(ws, c), apart[3];
    for (int k = 0; k < 3 * (width[0] + width[1]); k++)
        if (fabs(J[k]) < entry * size) J[k] = 0;
    error_of(ws, c, apart);
    settle_together(width, J, apart, ref, ti_closure_rounding(ws, c));
}

int ti_closure_column(const tribo_ws *ws, const ti_con *c, int side) {
    return velocity_of(ws, equality_of(ws, c), side);
}

/* ---- reverse ---- */

static void anchor_vjp(tribo_ws *ws, const ti_con *c, int side, ti_vec point_bar) {
    const ti_equality *e = equality_of(ws, c);
    int body = side ? e->b : e->a;
    if (body < 0) return;
    ti_link_diff *d = &ws->scratch->motion_bar.link[body];
    ti_vec at = ti_load3(side ? e->pos_b : e->pos_a), own = ti_tmul(&ws->link[body].R, point_bar);
    d->xo = ti_add(d->xo, point_bar), d->th = ti_add(d->th, ti_cross(at, own));
}

/* Of sign l' R w for each product. */
static void spin_vjp(tribo_ws *ws, int body, double sign, int n, const ti_row_product *met) {
    ti_motion_bar *bar = &ws->scratch->motion_bar;
    const ti_link *l = &ws->link[body];
    for (int k = 0; k < n; k++) {
        double twist[TI_TWIST], twist_bar[TI_TWIST] = {0};
        ti_vec F = ti_tmul(&l->R, ti_scale(sign, ti_load3(met[k].l)));
        ti_motion_twist(&ws->motion, body, met[k].v, twist);
        ti_store3(twist_bar + 3, F);
        ti_motion_twist_vjp(&ws->motion, body, met[k].v, twist_bar, bar);
        bar->link[body].th = ti_add(bar->link[body].th, ti_cross(ti_load3(twist + 3), F));
    }
}

void ti_closure_side_vjp(tribo_ws *ws, const ti_con *c, int side, int n, ti_row_product *met) {
    const ti_equality *e = equality_of(ws, c);
    int body = side ? c->b : c->a;
    if (c->kind == TI_CON_CONNECT) {
        ti_con at = between(ws, c);
        double frame_bar[12] = {0};
        ti_side_run run;
        run.n = 0;
        ti_side_vjp(ws, &run, &at, side, 0, n, met, frame_bar);
        for (int end = 0; end < 2; end++) anchor_vjp(ws, c, end, ti_scale(0.5, ti_load3(frame_bar)));
    } else if (c->kind == TI_CON_TURN) {
        spin_vjp(ws, body, side ? 1 : -1, n, met);
    } else if (side) {
        double value, slope, bend, sum = 0;
        polynomial(ws, e, &value, &slope, &bend);
        for (int k = 0; k < n; k++) sum += met[k].l[2] * met[k].v[velocity_of(ws, e, 1)];
        ws->scratch->motion_bar.own[ws->model->joint[e->b].v] += bend * sum;
    }
}

/* Of an error (3) that is to be zero. */
static void error_vjp(tribo_ws *ws, const ti_con *c, const double *error_bar) {
    const ti_equality *e = equality_of(ws, c);
    ti_motion_bar *bar = &ws->scratch->motion_bar;
    ti_vec g = ti_load3(error_bar);
    if (c->kind == TI_CON_COUPLING) {
        double value, slope, bend;
        polynomial(ws, e, &value, &slope, &bend);
        bar->own[ws->model->joint[e->a].v] -= g.z;
        if (e->b >= 0) bar->own[ws->model->joint[e->b].v] += slope * g.z;
    } else if (c->kind == TI_CON_CONNECT) {
        anchor_vjp(ws, c, 1, g), anchor_vjp(ws, c, 0, ti_scale(-1, g));
    } else {
        ti_mat is, wanted;
        ti_vec turn[2] = {{0, 0, 0}, {0, 0, 0}}; /* of a and of b, in the world */
        axes(ws, c, &is, &wanted);
        for (int k = 0; k < 3; k++) {
            ti_vec x = ti_col(&wanted, k), y = ti_col(&is, k);
            turn[0] = ti_axpy(turn[0], 0.5, ti_cross(x, ti_cross(y, g)));
            turn[1] = ti_axpy(turn[1], 0.5, ti_cross(y, ti_cross(g, x)));
        }
        for (int side = 0; side < 2; side++) {
            int body = side ? e->b : e->a;
            if (body < 0) continue;
            ti_link_diff *d = &bar->link[body];
            d->th = ti_add(d->th, ti_tmul(&ws->link[body].R, turn[side]));
        }
    }
}

/* Of a share of the error, which changes with its length. */
static void share_vjp(tribo_ws *ws, const ti_con *c, double share, double share_length, const double *error,
                      const double *bar) {
    double length = length_of(error), along = ti_dot(ti_load3(error), ti_load3(bar)), error_bar[3];
    for (int r = 0; r < 3; r++)
        error_bar[r] = share * bar[r] + (share_length != 0 ? share_length * along * error[r] / length : 0);
    error_vjp(ws, c, error_bar);
}

void ti_closure_reference_vjp(tribo_ws *ws, const ti_con *c, const double *ref_bar) {
    double error[3], bar[3];
    error_of(ws, c, error);
    shares s = shares_of(ws, length_of(error));
    for (int r = 0; r < 3; r++) bar[r] = ref_bar[r] / ws->options.dt;
    share_vjp(ws, c, s.velocity, s.velocity_length, error, bar);
}

void ti_closure_apart_vjp(tribo_ws *ws, const ti_con *c, bool all, const double *ref_bar) {
    double error[3];
    error_of(ws, c, error);
    shares s = all ? (shares){0, 0} : shares_of(ws, length_of(error));
    share_vjp(ws, c, 1 - s.velocity, -s.velocity_length, error, ref_bar);
}
