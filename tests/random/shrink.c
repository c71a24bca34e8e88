/* shrink.c -- a smaller scene with the same flaw: leave out what can be left out. */
#include "judge.h"

static bool still(const scene *s, flaw f, int *at) {
    verdict v;
    run(s, f, &v);
    *at = v.step[f];
    return v.found[f];
}

static void drop_body(scene *s, int body) {
    int kept = 0;
    for (int i = 0; i < s->ngeom; i++) {
        geom g = s->g[i];
        if (g.body == body) continue;
        if (g.body > body) g.body--;
        s->g[kept++] = g;
    }
    s->ngeom = kept;
    for (int i = body; i + 1 < s->nbody; i++) s->b[i] = s->b[i + 1];
    s->nbody--;
}

static void drop_geom(scene *s, int g) {
    for (int i = g; i + 1 < s->ngeom; i++) s->g[i] = s->g[i + 1];
    s->ngeom--;
}

/* A geom may go if it is the world's, or not the last of its body. */
static bool spare(const scene *s, int g) {
    int of_body = 0;
    for (int i = 0; i < s->ngeom; i++) of_body += s->g[i].body == s->g[g].body;
    return s->g[g].body < 0 || of_body > 1;
}

static void simpler(scene *s, int what) {
    for (int i = 0; i < s->ngeom; i++) {
        geom *g = &s->g[i];
        if (what == 0) g->stiction = 0;
        if (what == 1) g->slop = 0, g->baumgarte = 1;
        if (what == 2) g->restitution = 0;
        if (what == 3) g->friction = 0, g->stiction = 0;
        if (what == 9) g->compliance = 0;
        if (what == 10) g->torsion = 0;
        if (what == 11) g->rolling = 0;
        if (what == 12) g->edge = 0;
    }
    for (int i = 0; i < s->nbody; i++) {
        if (what == 4) memset(s->b[i].force, 0, sizeof s->b[i].force), memset(s->b[i].torque, 0, sizeof s->b[i].torque);
        if (what == 5) memset(s->b[i].vel, 0, sizeof s->b[i].vel);
        if (what == 6) memset(s->b[i].spin, 0, sizeof s->b[i].spin);
        if (what == 7) s->b[i].mass = 1, memset(s->b[i].com, 0, sizeof s->b[i].com);
    }
    if (what == 8) memset(s->gravity, 0, sizeof s->gravity);
}

/* Start in the step where it shows. */
static void start_late(scene *s, flaw f, int first) {
    scene late = *s;
    world w;
    double x[NX * MAX_BODIES], u[NU * MAX_BODIES];
    if (!world_new(&w, s, NULL)) {
        scene_state(s, x), scene_control(s, u);
        for (int k = 0; k < first; k++)
            if (tribo_step(w.ws, w.p, x, u, x, NULL) < 0) break;
        scene_restart(&late, x);
        late.steps -= first, late.graded = 0;
        int at;
        if (late.steps > 0 && still(&late, f, &at)) *s = late;
    }
    world_free(&w);
}

/* Fewer steps: of the run, or of the gradient. */
static void shorten(scene *s, flaw f, int at) {
    if (f < THREE_WAYS) {
        s->steps = at + 1;
        start_late(s, f, at);
        return;
    }
    s->steps = s->graded + 1;
    start_late(s, f, f == THREE_WAYS ? at : s->graded);
    for (scene t = *s; t.horizon > 1; *s = t)
        if (t.horizon--, !still(&t, f, &at)) break;
}

void shrink(scene *s, flaw f) {
    int at;
    s->thorough = true;
    if (!still(s, f, &at)) return;
    shorten(s, f, at);
    bool better = true;
    for (int round = 0; better && round < 4; round++) {
        better = false;
        for (int i = s->nbody - 1; i >= 0 && s->nbody > 1; i--) {
            scene t = *s;
            drop_body(&t, i);
            if (still(&t, f, &at)) *s = t, better = true;
        }
        for (int i = s->ngeom - 1; i >= 0; i--) {
            scene t = *s;
            if (!spare(s, i)) continue;
            drop_geom(&t, i);
            if (still(&t, f, &at)) *s = t, better = true;
        }
        for (int what = 0; what < 13; what++) {
            scene t = *s;
            simpler(&t, what);
            if (memcmp(&t, s, sizeof t) && still(&t, f, &at)) *s = t, better = true;
        }
    }
}
