/* write.c -- a scene as MJCF, to the last bit, so that the command can replay it; its forces as a table of controls. */
#include "maths.h"
#include "scene.h"

static void numbers(FILE *f, const char *name, const double *a, int n) {
    fprintf(f, " %s=\"", name);
    for (int i = 0; i < n; i++) fprintf(f, "%s%.17g", i ? " " : "", a[i]);
    fprintf(f, "\"");
}

static void custom(FILE *f, int i, const char *word, double value, double usual) {
    if (value != usual) fprintf(f, "<numeric name=\"g%d/%s\" data=\"%.17g\"/>\n", i, word, value);
}

static void write_geom(FILE *f, const geom *g, int i) {
    static const char *const shapes[] = {"plane", "sphere", "box", "capsule"};
    static const int nsize[] = {3, 1, 3, 2};
    static const double field[3] = {5, 5, 0.1};
    fprintf(f, "<geom name=\"g%d\" type=\"%s\"", i, shapes[g->shape]);
    numbers(f, "size", g->shape == TRIBO_PLANE ? field : g->size, nsize[g->shape]);
    numbers(f, "pos", g->pos, 3), numbers(f, "quat", g->quat, 4),
        numbers(f, "friction", (double[]){g->friction, g->torsion, g->rolling}, 3);
    fprintf(f, "%s/>\n", g->rolling > 0 ? " condim=\"6\"" : g->torsion > 0 ? " condim=\"4\"" : "");
}

static void write_body(FILE *f, const scene *s, int body) {
    const solid *b = &s->b[body];
    fprintf(f, "<body name=\"b%d\"", body);
    numbers(f, "pos", b->pos, 3), numbers(f, "quat", b->quat, 4);
    fprintf(f, "><freejoint/>\n<inertial");
    numbers(f, "mass", &b->mass, 1), numbers(f, "pos", b->com, 3), numbers(f, "fullinertia", b->inertia, 6);
    fprintf(f, "/>\n");
    for (int i = 0; i < s->ngeom; i++)
        if (s->g[i].body == body) write_geom(f, &s->g[i], i);
    fprintf(f, "</body>\n");
}

void scene_write(const scene *s, FILE *f, const char *remark) {
    double x[NX * MAX_BODIES];
    scene_state(s, x);
    fprintf(f, "<mujoco model=\"hunt\">\n<!-- seed %llu, %s: %s -->\n<compiler angle=\"radian\"/>\n<option",
            (unsigned long long)s->seed, s->story, remark);
    numbers(f, "timestep", &s->dt, 1), numbers(f, "gravity", s->gravity, 3);
    fprintf(f, "/>\n<custom>\n");
    for (int i = 0; i < s->ngeom; i++) {
        const geom *g = &s->g[i];
        custom(f, i, "restitution", g->restitution, 0), custom(f, i, "stiction", g->stiction, 0);
        custom(f, i, "baumgarte", g->baumgarte, 1), custom(f, i, "slop", g->slop, 0);
        custom(f, i, "compliance", g->compliance, 0), custom(f, i, "edge_radius", g->edge, 0);
    }
    fprintf(f, "</custom>\n<worldbody>\n");
    for (int i = 0; i < s->ngeom; i++)
        if (s->g[i].body < 0) write_geom(f, &s->g[i], i);
    for (int i = 0; i < s->nbody; i++) write_body(f, s, i);
    fprintf(f, "</worldbody>\n<keyframe><key");
    numbers(f, "qpos", x, 7 * s->nbody), numbers(f, "qvel", x + 7 * s->nbody, 6 * s->nbody);
    fprintf(f, "/></keyframe>\n</mujoco>\n");
}

void scene_write_control(const scene *s, FILE *f) {
    static const char *const names[NU] = {"fx", "fy", "fz", "tx", "ty", "tz"};
    double u[NU * MAX_BODIES];
    scene_control(s, u);
    fprintf(f, "time");
    for (int i = 0; i < s->nbody * NU; i++) fprintf(f, ",b%d.%s", i / NU, names[i % NU]);
    fprintf(f, "\n0");
    for (int i = 0; i < s->nbody * NU; i++) fprintf(f, ",%.17g", u[i]);
    fprintf(f, "\n");
}
