/* tangents.c -- an orthonormal frame on a contact normal, without branches. docs/math.md eq. (30). */
#include "collide/collide.h"

/* The shortest turn from the pole s z (s = 1 above the equator, -1 below) to n, applied to x and s y; a = -1/(s + z).
 */
void ti_tangents(ti_vec n, ti_vec *t1, ti_vec *t2) {
    double s = n.z >= 0 ? 1.0 : -1.0, a = -1 / (s + n.z), b = n.x * n.y * a;
    *t1 = ti_vec3(1 + s * n.x * n.x * a, s * b, -s * n.x);
    *t2 = ti_vec3(b, s + n.y * n.y * a, -n.y);
}

void ti_tangents_jac(ti_vec n, ti_mat *D1, ti_mat *D2) {
    double s = n.z >= 0 ? 1.0 : -1.0, a = -1 / (s + n.z), x = n.x, y = n.y;
    double xa = x * a, ya = y * a; /* da/dz = a^2 */
    *D1 = (ti_mat){{{2 * s * xa, 0, s * xa * xa}, {s * ya, s * xa, s * xa * ya}, {-s, 0, 0}}};
    *D2 = (ti_mat){{{ya, xa, xa * ya}, {0, 2 * ya, ya * ya}, {0, -1, 0}}};
}
