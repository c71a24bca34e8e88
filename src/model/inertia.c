/* inertia.c -- what a solid weighs and how it turns; which numbers no solid can have. docs/math.md eq. (2)-(4). */
#include "model/inertia.h"
#include "base/base.h"
#include "math/vec.h"
#include "model/model.h"
#include "model/shape.h"

void ti_geom_inertia(const tribo_geom_def *g, const ti_mesh *mesh, double *mass, double com[3], double inertia[6]) {
    const ti_shape_row *shape = ti_shape_of(g->shape);
    double m = !shape->bounded ? 0 : g->mass >= 0 ? g->mass : g->density * shape->volume(mesh, g->size);
    for (int i = 0; i < 3; i++) com[i] = g->pos[i], inertia[3 + i] = 0;
    shape->inertia(mesh, m, g->size, inertia); /* its principal moments */
    ti_mat R = ti_quat_mat(g->quat);
    ti_turn_inertia(&R, inertia);
    *mass = m;
}

void ti_turn_inertia(const ti_mat *R, double inertia[6]) {
    static const int at[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    ti_mat I = ti_sym(inertia), RI = ti_matmul(R, &I), T = ti_transpose(R), turned = ti_matmul(&RI, &T);
    for (int e = 0; e < 6; e++) inertia[e] = turned.m[at[e][0]][at[e][1]];
}

void ti_add_parallel(double inertia[6], double m, const double r[3]) {
    inertia[0] += m * (r[1] * r[1] + r[2] * r[2]);
    inertia[1] += m * (r[0] * r[0] + r[2] * r[2]);
    inertia[2] += m * (r[0] * r[0] + r[1] * r[1]);
    inertia[3] -= m * r[0] * r[1];
    inertia[4] -= m * r[0] * r[2];
    inertia[5] -= m * r[1] * r[2];
}

/* Turn the products so that those of i and j vanish, and the axes with them. */
static void rotate(double A[3][3], ti_mat *R, int i, int j) {
    double theta = (A[j][j] - A[i][i]) / (2 * A[i][j]);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < 3; k++) {
        double x = A[k][i], y = A[k][j];
        A[k][i] = c * x - s * y, A[k][j] = s * x + c * y;
    }
    for (int k = 0; k < 3; k++) {
        double x = A[i][k], y = A[j][k];
        A[i][k] = c * x - s * y, A[j][k] = s * x + c * y;
    }
    for (int k = 0; k < 3; k++) {
        double x = R->m[k][i], y = R->m[k][j];
        R->m[k][i] = c * x - s * y, R->m[k][j] = s * x + c * y;
    }
}

ti_mat ti_principal_axes(const double product[6], double second[3]) {
    double A[3][3] = {{product[0], product[3], product[4]},
                      {product[3], product[1], product[5]},
                      {product[4], product[5], product[2]}};
    double size = A[0][0] + A[1][1] + A[2][2];
    ti_mat R = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (int sweep = 0; sweep < 50; sweep++) {
        int turned = 0;
        for (int i = 0; i < 2; i++)
            for (int j = i + 1; j < 3; j++)
                if (fabs(A[i][j]) > 1e-15 * size) rotate(A, &R, i, j), turned++;
        if (!turned) break;
    }
    for (int i = 0; i < 3; i++) second[i] = A[i][i];
    return R;
}

void ti_quat_of(const ti_mat *R, double q[4]) {
    const double(*m)[3] = R->m;
    double four[4] = {1 + m[0][0] + m[1][1] + m[2][2], 1 + m[0][0] - m[1][1] - m[2][2], 1 - m[0][0] + m[1][1] - m[2][2],
                      1 - m[0][0] - m[1][1] + m[2][2]};
    int k = 0;
    for (int i = 1; i < 4; i++)
        if (four[i] > four[k]) k = i;
    double s = 0.5 / sqrt(four[k]), skew[3] = {m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]};
    q[k] = 0.5 * sqrt(four[k]);
    for (int i = 0; i < 3; i++) {
        if (k == 0) q[i + 1] = s * skew[i];
        if (k == i + 1) q[0] = s * skew[i];
        if (k && k != i + 1) q[i + 1] = s * (m[i][k - 1] + m[k - 1][i]);
    }
    double n = 1 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) q[i] *= n;
}

/* Is the symmetric matrix (xx yy zz xy xz yz) positive definite, each pivot above `least`? False for NaN. */
static bool positive_definite(const double a[6], double least) {
    double d0 = a[0];
    if (!(d0 > least)) return false;
    double l1 = a[3] / d0, l2 = a[4] / d0;
    double d1 = a[1] - l1 * a[3];
    if (!(d1 > least)) return false;
    double u = a[5] - l1 * a[4];
    double d2 = a[2] - l2 * a[4] - u * u / d1;
    return d2 > least;
}

const char *ti_inertia_flaw(const double I[6]) {
    double trace = I[0] + I[1] + I[2];
    if (!ti_finite(I, 6)) return "inertia is not finite";
    if (!positive_definite(I, 1e-14 * trace)) return "inertia is not positive definite";
    /* The triangle inequality says that the second moments of mass, tr(I)/2 - I, are not negative. A flat plate has
     * one that is zero: allow for its rounding. */
    double second[6] = {trace / 2 - I[0], trace / 2 - I[1], trace / 2 - I[2], -I[3], -I[4], -I[5]};
    for (int i = 0; i < 3; i++) second[i] += 1e-9 * trace;
    if (!positive_definite(second, 0)) return "inertia violates the triangle inequality: no solid has it";
    return NULL;
}

const char *ti_matter_flaw(double mass, const double I[6], bool welded) {
    double trace = I[0] + I[1] + I[2], lifted[6];
    if (!(mass >= 0 && isfinite(mass)) || (mass == 0 && !welded)) return "mass must be > 0";
    bool nothing = welded && trace == 0 && I[3] == 0 && I[4] == 0 && I[5] == 0;
    for (int e = 0; e < 6; e++) lifted[e] = I[e] + (welded && e < 3 ? 1e-9 * trace : 0);
    return nothing ? NULL : ti_inertia_flaw(lifted);
}

const char *ti_material_flaw(const tribo_material *m) {
    const double all[] = {m->friction, m->stiction, m->restitution, m->baumgarte,
                          m->slop,     m->torsion,  m->rolling,     m->compliance};
    if (!ti_finite(all, sizeof all / sizeof *all)) return "material has a number that is not finite";
    if (m->friction < 0) return "friction must be >= 0";
    if (m->stiction < 0) return "stiction must be >= 0 (static friction no less than kinetic)";
    if (m->restitution < 0 || m->restitution > 1) return "restitution must be in 0..1";
    if (m->baumgarte < 0 || m->baumgarte > 1) return "baumgarte must be in 0..1";
    if (m->slop < 0) return "slop must be >= 0";
    if (m->torsion < 0) return "torsion must be >= 0";
    if (m->rolling < 0) return "rolling must be >= 0";
    if (m->compliance < 0) return "compliance must be >= 0";
    return NULL;
}

const char *ti_free_flaw(const double *p) {
    if (!ti_finite(p, TI_P_FREE)) return "a number of its free joint is not finite";
    if (!(p[TI_P_DAMPING] >= 0)) return "damping must be >= 0";
    if (!(p[TI_P_ARMATURE] >= 0)) return "armature must be >= 0";
    return p[TI_P_FREE_LOSS] >= 0 ? NULL : "frictionloss must be >= 0";
}

const char *ti_joint_flaw(const double *p, bool limited) {
    if (!ti_finite(p, TI_P_JOINT)) return "a number is not finite";
    if (!(p[TI_P_DAMPING] >= 0)) return "damping must be >= 0";
    if (!(p[TI_P_ARMATURE] >= 0)) return "armature must be >= 0";
    if (!(p[TI_P_STIFFNESS] >= 0)) return "stiffness must be >= 0";
    if (!(p[TI_P_FRICTIONLOSS] >= 0)) return "frictionloss must be >= 0";
    if (!(p[TI_P_BOUNCE] >= 0 && p[TI_P_BOUNCE] <= 1)) return "restitution must be in 0..1";
    return limited && !(p[TI_P_LOWER] < p[TI_P_UPPER]) ? "its range must be two numbers in rising order" : NULL;
}
