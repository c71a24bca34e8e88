/* test_shooting.c -- multiple shooting: truths found from poses alone and from far starts, with intervals that hold. */
#include "cubes.h"
#include "sysid/kicked/kicked.h"
#include "sysid_data.h"

enum { NX = 13 };

static const char *slide_xml = SLIDE("");
static const char *drop_xml = DROP("0.7", "");
static const char *skid_xml =
    "<mujoco>" OPTION RESTITUTION("0.7") "<worldbody>" FLOOR("0.05") BALL_OPEN "</body></worldbody></mujoco>";

static void put(data *d, int i, int k, const cube *c, double noise, uint64_t *seed) {
    double *x = d->x[i] + k * NX;
    cube_measure(c, noise, noise / 0.1, seed, x);
    for (int j = 7; j < NX; j++) x[j] = NAN;
}

/* Slides in closed form, until the cube stops. */
static void slides(data *d, double noise, uint64_t seed) {
    const double a = 0.25 * 9.81;
    cube_world world = {.n = 1, .half = 0.1};
    load(d, slide_xml);
    for (int i = 0; i < RECORDINGS; i++) {
        cube c = cube_standing(&world, 1, 0, 0, 0, 0);
        double v = 1.2 + 0.3 * i, stop = v / a;
        for (int k = 0; k < ROWS; k++) {
            double t = fmin(0.01 * k, stop), way = v * t - a * t * t / 2;
            c.x[0] = way * cos(i), c.x[1] = way * sin(i);
            put(d, i, k, &c, noise, &seed);
        }
    }
}

/* A ball that falls and bounces, restitution 0.7 and what it is off by at each bounce, without spin. */
static void uneven_drops(data *d, double noise, double off, uint64_t seed) {
    const double g = 9.81, radius = 0.1;
    load(d, drop_xml);
    for (int i = 0; i < RECORDINGS; i++) {
        cube c = {.x = {0, 0, radius + 0.2 + 0.1 * i}, .R = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
        for (int k = 0; k < ROWS; k++) {
            put(d, i, k, &c, noise, &seed);
            for (double left = 0.01; left > 0;) {
                double gap = fmax(0, c.x[2] - radius), hit = (c.v[2] + sqrt(c.v[2] * c.v[2] + 2 * g * gap)) / g;
                double t = fmin(hit, left);
                c.x[2] += c.v[2] * t - g * t * t / 2, c.v[2] -= g * t;
                if (hit < left) c.v[2] *= -0.7 - (off > 0 ? off * cubes_gauss(&seed) : 0);
                left = hit < left ? left - t : 0;
            }
        }
    }
}

static void drops(data *d, double noise, uint64_t seed) {
    uneven_drops(d, noise, 0, seed);
}

/* Balls that come with a spin about y and slip wherever they bounce: restitution 0.7, friction 0.05. */
static void skids(data *d, double noise, uint64_t seed) {
    const double g = 9.81, radius = 0.1, e = 0.7, mu = 0.05;
    load(d, skid_xml);
    for (int i = 0; i < RECORDINGS; i++) {
        double v = 3 * cubes_uniform(&seed) - 1.5, spin = 4 * cubes_uniform(&seed) - 2, angle = 0;
        cube c = {.x = {0, 0, radius + 0.2 + 0.3 * cubes_uniform(&seed)}};
        for (int k = 0; k < ROWS; k++) {
            memcpy(c.R, (double[3][3]){{cos(angle), 0, sin(angle)}, {0, 1, 0}, {-sin(angle), 0, cos(angle)}},
                   sizeof c.R);
            put(d, i, k, &c, noise, &seed);
            for (double left = 0.01; left > 0;) {
                double gap = fmax(0, c.x[2] - radius), hit = (c.v[2] + sqrt(c.v[2] * c.v[2] + 2 * g * gap)) / g;
                double t = fmin(hit, left), most = mu * (1 + e) * (g * t - c.v[2]);
                c.x[0] += v * t, c.x[2] += c.v[2] * t - g * t * t / 2, c.v[2] -= g * t, angle += spin * t;
                left = hit < left ? left - t : 0;
                if (!(left > 0)) continue;
                double push = fmax(-most, fmin(2. / 7 * (v - radius * spin), most));
                v -= push, spin += 2.5 / radius * push, c.v[2] *= -e;
            }
        }
    }
}

/* One free number. */
static tribo_sysid_def one(const data *d, tribo_free_param *free, const char *name, double start) {
    *free = named(d, name, start);
    return define(d, free, 1);
}

/* Fit to the end. */
static tribo_estimate fit(const data *d, const tribo_sysid_def *def, tribo_progress *now) {
    tribo_estimate e;
    tribo_sysid_free(fitted(d, def, &e, now));
    return e;
}

START_TEST(friction_from_far_starts_with_one_answer) {
    static const double starts[] = {0.025, 0.1, 0.25, 0.8, 2.5};
    data d;
    tribo_free_param f;
    slides(&d, 1e-3, 5);
    for (int k = 0; k < 5; k++) {
        tribo_progress now;
        tribo_sysid_def def = one(&d, &f, "floor/friction", starts[k]);
        def.search = 16;
        tribo_estimate e = fit(&d, &def, &now);
        ck_assert_msg(e.low95 < 0.25 && 0.25 < e.high95, "from %g: %g to %g", starts[k], e.low95, e.high95);
        ck_assert_msg(e.std_error > 1e-4 && e.std_error < 2e-3, "from %g: +- %g", starts[k], e.std_error);
        ck_assert(now.converged && now.starts >= 1 && now.agreed >= 1);
    }
    tribo_model_free(d.m);
}
END_TEST

/* Under friction with which nothing slips no slope leads to less: it is sought along its range, between the places that
 * are looked at there, and where motions that suit rolling have others first. With the last two sets the first rows
 * already leave so much that such a fit is given up. */
START_TEST(friction_of_bounces_from_where_nothing_slips) {
    static const double starts[] = {0.02, 0.13, 0.25, 0.45};
    static const uint64_t seeds[] = {4, 5, 6, 57};
    data d;
    skids(&d, 1e-3, seeds[_i]);
    for (int k = 0; k < 4; k++) {
        tribo_free_param f[2] = {named(&d, "floor/restitution", 0.5), named(&d, "floor/friction", starts[k])};
        tribo_estimate e[2];
        tribo_sysid_def def = define(&d, f, 2);
        def.search = 32;
        tribo_sysid_free(fitted(&d, &def, e, NULL));
        ck_assert_msg(fabs(e[1].estimate - 0.05) < 1e-3, "from %g: %g +- %g", starts[k], e[1].estimate, e[1].std_error);
        ck_assert_msg(fabs(e[0].estimate - 0.7) < 2e-3, "from %g: %g +- %g", starts[k], e[0].estimate, e[0].std_error);
    }
    tribo_model_free(d.m);
}
END_TEST

START_TEST(intervals_hold_the_truth_where_the_start_is_estimated_too) {
    enum { SETS = 40 };
    int held = 0;
    double square = 0, told = 0;
    for (int k = 0; k < SETS; k++) {
        data d;
        tribo_free_param f;
        drops(&d, 1e-3, 1000 + 77 * (uint64_t)k);
        tribo_sysid_def def = one(&d, &f, "floor/restitution", 0.5);
        tribo_estimate e = fit(&d, &def, NULL);
        held += e.low95 <= 0.7 && 0.7 <= e.high95;
        square += (e.estimate - 0.7) * (e.estimate - 0.7), told += e.std_error * e.std_error;
        tribo_model_free(d.m);
    }
    ck_assert_msg(held >= 35, "%d of %d", held, SETS);
    double ratio = sqrt(square / told);
    ck_assert_msg(ratio > 0.6 && ratio < 1.4, "errors are %g of what was said", ratio);
}
END_TEST

START_TEST(the_smoothed_motion_is_nearer_to_the_truth_and_says_by_how_much) {
    data noisy, exact;
    tribo_free_param f;
    static double X[ROWS * NX], cov[ROWS * 12 * 12];
    drops(&exact, 0, 1), drops(&noisy, 1e-3, 9);
    tribo_sysid_def def = one(&noisy, &f, "floor/restitution", 0.6);
    tribo_sysid *s = make(&noisy, &def);
    ck_assert_int_eq(tribo_sysid_smooth(s, 0, X, cov), TRIBO_E_ARG);
    ck_assert_int_eq(tribo_sysid_fit(s, 200, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_sysid_smooth(s, 3, X, cov), TRIBO_E_ARG);
    for (int i = 0; i < RECORDINGS; i++) {
        double off = 0, raw = 0, said = 0;
        ck_assert_int_eq(tribo_sysid_smooth(s, i, X, cov), TRIBO_OK);
        for (int k = 0; k < ROWS; k++)
            for (int j = 0; j < 3; j++) {
                double truth = exact.x[i][k * NX + j];
                off += pow(X[k * NX + j] - truth, 2), raw += pow(noisy.x[i][k * NX + j] - truth, 2);
                said += cov[k * 144 + j * 13];
            }
        ck_assert_msg(off < 0.15 * raw, "%g of %g", off, raw);
        ck_assert_msg(off < 6 * said && off > said / 12, "%g, said %g", off, said);
    }
    tribo_sysid_free(s);
    tribo_model_free(exact.m), tribo_model_free(noisy.m);
}
END_TEST

START_TEST(what_ends_at_a_bound_or_moves_nothing_is_told) {
    data d;
    tribo_free_param f;
    slides(&d, 1e-3, 3);
    tribo_sysid_def def = one(&d, &f, "floor/friction", 0.1);
    f.lower = 0.05, f.upper = 0.2;
    tribo_estimate e = fit(&d, &def, NULL);
    ck_assert(e.at_bound && e.estimate == 0.2);
    def = one(&d, &f, "cube/mass", 3);
    e = fit(&d, &def, NULL);
    ck_assert_msg(!e.identifiable && !e.at_bound && fabs(e.estimate / 3 - 1) < 0.1, "%d %d %g +- %g", e.identifiable,
                  e.at_bound, e.estimate, e.std_error);
    tribo_model_free(d.m);
}
END_TEST

START_TEST(workers_change_no_bit) {
    data d;
    tribo_free_param f;
    uint64_t hash[2];
    drops(&d, 1e-3, 4);
    for (int k = 0; k < 2; k++) {
        double theta;
        static double X[ROWS * NX];
        tribo_sysid_def def = one(&d, &f, "floor/restitution", 0.4);
        def.workers = k ? 4 : 1, def.search = 8;
        tribo_sysid *s = make(&d, &def);
        ck_assert_int_ge(tribo_sysid_fit(s, 12, NULL), 0);
        tribo_sysid_theta(s, &theta);
        ck_assert_int_eq(tribo_sysid_smooth(s, 1, X, NULL), TRIBO_OK);
        hash[k] = tribo_hash(X, ROWS * NX, tribo_hash(&theta, 1, 0));
        tribo_sysid_free(s);
    }
    ck_assert(hash[0] == hash[1]);
    tribo_model_free(d.m);
}
END_TEST

START_TEST(noise_is_read_from_the_recordings_alone) {
    data d;
    tribo_free_param f;
    double noise[TRIBO_BLOCKS];
    slides(&d, 2e-3, 8);
    tribo_sysid_def def = one(&d, &f, "floor/friction", 0.2);
    tribo_sysid *s = make(&d, &def);
    ti_noise_guess(s, noise);
    ck_assert_msg(fabs(noise[0] / 2e-3 - 1) < 0.15, "%g m", noise[0]);
    ck_assert_msg(fabs(noise[1] / 2e-2 - 1) < 0.15, "%g rad", noise[1]);
    tribo_sysid_free(s);
    tribo_model_free(d.m);
}
END_TEST

/* A worker of a fit that has begun, its parameters in place. */
static ti_worker *begun(tribo_sysid *s) {
    ck_assert_int_ge(tribo_sysid_iterate(s, NULL), 0);
    tribo_sysid_params(s, s->theta, s->p);
    tribo_sysid_map_jac(s, s->theta, s->P);
    return s->worker;
}

/* A ball thrown from a height, state at row ROWS - 1 by steps of the loss. */
static void throw_ball(ti_worker *w, double height, const double *p, int ndir, const double *pd, double *x) {
    const ti_track *t = w->s->track;
    tribo_model_state0(w->s->m, w->x);
    w->x[2] = 0.1 + height, w->x[7] = 1;
    memset(w->xd, 0, (size_t)ndir * 12 * sizeof(double));
    for (int k = 0; k < ROWS - 1; k++) ck_assert_int_eq(ti_advance_jvp(w, t, k, p, ndir, pd), TRIBO_OK);
    memcpy(x, w->x, NX * sizeof(double));
}

/* How far the spin of a ball that lands and slides is from going evenly with the height thrown from. */
static double roughness(ti_worker *w, double *p) {
    double x[NX], spin[3] = {0}, most = 0;
    double *e = p + tribo_param_find(w->s->m, "floor/restitution"),
           *mu = p + tribo_param_find(w->s->m, "floor/friction");
    const double kept[2] = {*e, *mu};
    *e = 0, *mu = 0.02;
    for (int i = 0; i < 60; i++) {
        throw_ball(w, 0.2 + 2e-4 * i, p, 0, NULL, x);
        spin[i % 3] = x[11];
        if (i > 1) most = fmax(most, fabs(spin[i % 3] - 2 * spin[(i + 2) % 3] + spin[(i + 1) % 3]));
    }
    *e = kept[0], *mu = kept[1];
    return most;
}

/* Where it is by the closed form, and how long after its last bounce. */
static double bounced(double g, double e, double fallen, double time) {
    double v = sqrt(2 * g * fallen), t = time - v / g;
    for (v *= e; t > 2 * v / g; v *= e) t -= 2 * v / g;
    return 0.1 + v * t - g * t * t / 2;
}

START_TEST(steps_that_see_a_hit_leave_no_jumps) {
    data d;
    tribo_free_param f[2];
    double x[NX], before[NX], after[NX], time = 0.01 * (ROWS - 1), dt = 0.002;
    drops(&d, 0, 1);
    tribo_sysid_def def = one(&d, f, "floor/restitution", 0.7);
    f[1] = tribo_default_free(), f[1].index = 2, def.nfree = 2;
    tribo_sysid *s = make(&d, &def);
    ti_worker *w = begun(s);
    int np = s->z.np, e = f[0].index;
    double *p = calloc((size_t)np, sizeof *p), *pd = w->pd + s->z.ndx * np; /* to the numbers themselves */
    memcpy(p, s->p, (size_t)np * sizeof *p), memset(pd, 0, 2 * (size_t)np * sizeof *pd);
    p[e] = 0.7, p[2] = -9.81, pd[e] = 1, pd[np + 2] = 1;
    /* from rest, a velocity of its steps is g dt / 2 behind that of the parabola: it starts so much faster */
    throw_ball(w, 0.2, p, 2, pd, x);
    double moved[2] = {w->xd[2], w->xd[12 + 2]};
    double lead = 9.81 * dt / 2, fallen = 0.2 + lead * lead / 2 / 9.81;
    double off = x[2] - bounced(9.81, 0.7, fallen, time + lead / 9.81);
    ck_assert_msg(fabs(off) < 1e-6, "%g m off", off);
    double rough = roughness(w, p);
    ck_assert_msg(rough < 1e-12, "rough by %g", rough);
    for (int i = 0; i < 2; i++) {
        double h = 1e-7, *at = p + (i ? 2 : e), kept = *at;
        *at = kept - h, throw_ball(w, 0.2, p, 0, NULL, before);
        *at = kept + h, throw_ball(w, 0.2, p, 0, NULL, after);
        *at = kept;
        double slope = (after[2] - before[2]) / (2 * h);
        ck_assert_msg(fabs(moved[i] - slope) < 1e-5 * (1 + fabs(slope)), "%d: %g, differences %g", i, moved[i], slope);
    }
    free(p);
    tribo_sysid_free(s), tribo_model_free(d.m);
}
END_TEST

/* Spoil the start of a recording's motion, simulate it anew. @return its cost. */
static double spoil(ti_worker *w, int i, const double *by) {
    tribo_sysid *s = w->s;
    ti_path *path = s->shooting->path + i;
    for (int j = 0; j < 6; j++) path->x[7 + j] += by[j];
    memcpy(w->x, path->x, NX * sizeof(double));
    for (int k = 0; k < ROWS - 1; k++) {
        ck_assert_int_eq(ti_advance(w, s->track + i, k, s->p), TRIBO_OK);
        memcpy(path->x + (k + 1) * NX, w->x, NX * sizeof(double));
    }
    return path->cost = ti_path_cost(w, i, path->x, path->w, path->touch);
}

/* Other starts of one motion. */
static tribo_status draw(tribo_sysid *s, int recording) {
    for (int i = 0; i < RECORDINGS; i++) s->shooting->path[i].sought = i == recording;
    return ti_shooting_draw_starts(s);
}

START_TEST(a_start_in_the_wrong_place_is_led_back_or_drawn_anew) {
    data d;
    tribo_free_param f;
    static const double by[6] = {0.05, 0, 0.3, 2, 0, 0};
    drops(&d, 1e-3, 6);
    tribo_sysid_def def = one(&d, &f, "floor/restitution", 0.7);
    tribo_sysid *s = make(&d, &def);
    ck_assert_int_eq(tribo_sysid_fit(s, 200, NULL), TRIBO_OK);
    ti_worker *w = s->worker;
    ck_assert_int_ge(ti_shooting_curvature(s), 0);
    for (int i = 0; i < RECORDINGS; i++) {
        ti_path *path = s->shooting->path + i;
        double best = path->cost, bad = spoil(w, i, by);
        ck_assert_msg(bad > 10 * best, "%g and %g", best, bad);
        ck_assert_int_eq(draw(s, i), TRIBO_OK);
        ck_assert_msg(path->cost < 0.5 * bad, "drawn: %g of %g, best %g", path->cost, bad, best);
        ck_assert_double_eq(path->cost, ti_path_cost(w, i, path->x, path->w, path->touch));
        spoil(w, i, by);
        ck_assert_int_eq(ti_path_grow(w, i, s->p, s->P), TRIBO_OK);
        ck_assert_msg(path->cost < 1.02 * best + 1, "led: %g, best %g", path->cost, best);
        ck_assert_double_eq(path->cost, ti_path_cost(w, i, path->x, path->w, path->touch));
        /* nothing is better than the best: it stays */
        double now = path->cost;
        ck_assert_int_eq(draw(s, i), TRIBO_OK);
        ck_assert(path->cost <= now);
    }
    tribo_sysid_free(s), tribo_model_free(d.m);
}
END_TEST

/* Sums over the recordings of a fit that is over: scatter over blocks and curvature. */
static double scatter_ratio(data *d, const char *name, double start) {
    tribo_free_param f;
    double blocks = 0, H = 0;
    tribo_sysid_def def = one(d, &f, name, start);
    tribo_sysid *s = make(d, &def);
    ck_assert_int_eq(tribo_sysid_fit(s, 200, NULL), TRIBO_OK);
    ck_assert_int_ge(ti_shooting_curvature(s), 0);
    for (int i = 0; i < RECORDINGS; i++) {
        int n = ti_path_scatter(s->worker, i, &blocks);
        ck_assert_int_eq(n, (ROWS + 7) / 8);
        H += s->shooting->path[i].H[0];
    }
    tribo_sysid_free(s);
    return blocks / H;
}

START_TEST(the_scatter_over_blocks_is_the_curvature_unless_errors_go_on) {
    enum { SETS = 12 };
    double white = 0, lasting = 0;
    for (int k = 0; k < SETS; k++) {
        data d;
        slides(&d, 1e-3, 50 + 9 * (uint64_t)k);
        white += scatter_ratio(&d, "floor/friction", 0.2) / SETS;
        uint64_t seed = 900 + (uint64_t)k;
        for (int i = 0; i < RECORDINGS; i++) /* as much as the noise, the same for eight rows */
            for (int row = 0; row < ROWS; row += 8) {
                double off[2] = {9e-4 * cubes_gauss(&seed), 9e-4 * cubes_gauss(&seed)};
                for (int b = row; b < row + 8 && b < ROWS; b++)
                    for (int j = 0; j < 2; j++) d.x[i][b * NX + j] += off[j];
            }
        lasting += scatter_ratio(&d, "floor/friction", 0.2) / SETS;
        tribo_model_free(d.m);
    }
    ck_assert_msg(white > 0.5 && white < 1.5, "%g", white);
    ck_assert_msg(lasting > 2 * white, "%g, with white noise %g", lasting, white);
}
END_TEST

/* A block has as much of a gradient as there is in it, of what weighs too much to be remembered as well. */
START_TEST(one_block_is_the_gradient) {
    static const double given[] = {0, 1e-7};
    data d;
    tribo_free_param f;
    double S = 0, noise = given[_i], left = 1;
    slides(&d, _i ? 1e-6 : 1e-3, 2);
    for (int i = 0; i < RECORDINGS; i++) d.rec[i].n = 8;
    tribo_sysid_def def = one(&d, &f, "floor/friction", 0.4);
    if (noise > 0) def.weight[0] = def.weight[1] = 1 / noise, def.robust = TRIBO_ROBUST_NONE;
    tribo_sysid *s = make(&d, &def);
    ck_assert_int_ge(ti_shooting_begin((ti_scales_init(s), s), false, false), 0);
    ck_assert_int_ge(ti_shooting_curvature(s), 0);
    for (int i = 0; i < RECORDINGS; i++) {
        double g = s->shooting->path[i].g[0];
        S = 0;
        ck_assert_int_eq(ti_path_scatter(s->worker, i, &S), 1);
        ck_assert_msg(fabs(S - g * g) < 1e-6 * g * g, "%g, gradient squared %g", S, g * g);
        for (int k = 1; k < d.rec[i].n; k++) left *= s->shooting->path[i].left[k];
    }
    ck_assert_msg((left < 1) == (noise > 0), "%g is left", left);
    tribo_sysid_free(s), tribo_model_free(d.m);
}
END_TEST

/* With kicks at every row and another restitution, motions touch here at one iteration and there at the next. */
START_TEST(the_motion_that_a_step_was_taken_for_is_the_one_linearised_next) {
    enum { ROUNDS = 8 };
    data d;
    tribo_free_param f;
    static double kept[RECORDINGS][ROWS * NX];
    drops(&d, 1e-3, 4);
    tribo_sysid_def def = one(&d, &f, "floor/restitution", 0.3);
    def.window = 1;
    tribo_sysid *s = make(&d, &def);
    ck_assert_int_ge(ti_shooting_begin((ti_scales_init(s), s), true, false), 0);
    for (int k = 0; k < ROUNDS; k++) {
        bool done;
        int kicks = 0;
        ck_assert_int_eq(ti_shooting_step(s, &done), TRIBO_OK);
        ck_assert(s->kick[TI_KICK_LINEAR] > 0);
        for (int i = 0; i < RECORDINGS; i++) memcpy(kept[i], s->shooting->path[i].x, sizeof kept[i]);
        ck_assert_int_ge(ti_shooting_curvature(s), 0);
        for (int i = 0; i < RECORDINGS; i++) {
            const ti_path *path = s->shooting->path + i;
            ck_assert_msg(memcmp(kept[i], path->x, sizeof kept[i]) == 0, "step %d, recording %d", k, i);
            for (int row = 0; row < ROWS; row++) kicks += ti_path_node(s, s->track + i, path->touch, row);
        }
        ck_assert_int_gt(kicks, 0);
    }
    tribo_sysid_free(s), tribo_model_free(d.m);
}
END_TEST

/* Kicks of one kind that have died out leave of states what kicks of hardly any size leave. */
START_TEST(kicks_that_have_died_out_leave_no_doubt) {
    data d;
    tribo_free_param f;
    enum { NDX = 12 };
    static double none[RECORDINGS][ROWS * NDX * NDX];
    drops(&d, 1e-3, 4);
    tribo_sysid_def def = one(&d, &f, "floor/restitution", 0.7);
    def.window = 3;
    tribo_sysid *s = make(&d, &def);
    ck_assert_int_ge(ti_shooting_begin((ti_scales_init(s), s), true, false), 0);
    for (int least = 0; least < 2; least++) {
        s->kick[TI_KICK_LINEAR] = 0.1, s->kick[TI_KICK_ANGULAR] = least ? 1e-9 : 0;
        if (!least) ck_assert_int_ge(ti_shooting_guess(s, s->theta), 0);
        ck_assert_int_ge(ti_shooting_curvature(s), 0);
        ck_assert_int_ge(ti_shooting_spread(s), 0);
        for (int i = 0; i < RECORDINGS; i++) {
            const double *cov = s->shooting->path[i].cov;
            if (!least) memcpy(none[i], cov, sizeof none[i]);
            for (int k = 0; k < ROWS * NDX; k++) {
                double want = cov[k * NDX + k % NDX], got = none[i][k * NDX + k % NDX];
                ck_assert_msg(fabs(got - want) < 1e-3 * want, "row %d, %d: %g, %g", k / NDX, k % NDX, got, want);
            }
        }
    }
    tribo_sysid_free(s), tribo_model_free(d.m);
}
END_TEST

/* No two bounces have the same restitution: what the answer is depends on how soon after one a kick may come, and the
 * interval knows. The rest is what it is where that number of rows is named, to the bit, scales and motions too. */
START_TEST(rows_between_kicks_that_are_not_named_are_in_the_interval) {
    data d;
    tribo_free_param f;
    tribo_estimate e[2];
    tribo_sysid *s[2];
    uneven_drops(&d, 1e-3, 0.1, 40 + 7 * (uint64_t)_i);
    for (int i = 0; i < 2; i++) {
        tribo_sysid_def def = one(&d, &f, "floor/restitution", 0.6);
        def.window = i ? TRIBO_SHOOTING_ROWS : 0;
        s[i] = fitted(&d, &def, &e[i], NULL);
    }
    const struct ti_shooting *chosen = s[0]->shooting, *told = s[1]->shooting;
    ck_assert(ti_kicked(s[0]) && chosen->by_rows[0] != 0 && told->by_rows[0] == 0);
    ck_assert_double_eq(e[0].estimate, e[1].estimate);
    ck_assert_int_eq(s[0]->window, s[1]->window);
    ck_assert(memcmp(s[0]->kick, s[1]->kick, sizeof s[0]->kick) == 0);
    for (int k = 0; k < 2 * s[0]->ngroup; k++) ck_assert_double_eq(chosen->noise[k], told->noise[k]);
    for (int i = 0; i < RECORDINGS; i++)
        ck_assert(memcmp(chosen->path[i].x, told->path[i].x, sizeof(double[ROWS * NX])) == 0);
    double off = chosen->by_rows[0] * s[0]->P[s[0]->unknown[0].index];
    ck_assert_double_eq_tol(e[0].std_error, hypot(e[1].std_error, off), 1e-12);
    ck_assert(e[0].low95 < e[1].low95 && e[0].high95 > e[1].high95);
    tribo_sysid_free(s[0]), tribo_sysid_free(s[1]), tribo_model_free(d.m);
}
END_TEST

START_TEST(an_answer_beside_the_best_one_is_found_out) {
    data d;
    tribo_free_param f;
    tribo_estimate slope, wider;
    bool found = true;
    slides(&d, 1e-3, 4);
    tribo_sysid_def def = one(&d, &f, "floor/friction", 0.4);
    tribo_sysid *s = make(&d, &def);
    struct ti_shooting *h = s->shooting;
    ck_assert_int_eq(tribo_sysid_fit(s, 200, NULL), TRIBO_OK);
    /* a slide is what its slope says */
    ck_assert_int_ge(ti_shooting_doubt(s, &found), 0);
    ck_assert(!found && h->wide[0] == 1 && h->wide[1] == 1);
    ck_assert_int_eq(tribo_sysid_observe(s, &slope, NULL, NULL, NULL, NULL), TRIBO_OK);
    h->wide[0] = 2, h->wide[1] = 1;
    ck_assert_int_eq(tribo_sysid_observe(s, &wider, NULL, NULL, NULL, NULL), TRIBO_OK);
    ck_assert_double_eq_tol(wider.estimate - wider.low95, 2 * (slope.estimate - slope.low95), 1e-12);
    ck_assert_double_eq(wider.high95, slope.high95);
    ck_assert_double_eq_tol(wider.std_error, sqrt(2.5) * slope.std_error, 1e-12);
    /* three standard errors beside it, starts as good as they can be there */
    double answer = s->theta[0], off = 3 * sqrt(h->cov[0]);
    s->theta[0] += off;
    tribo_sysid_params(s, s->theta, s->p);
    tribo_sysid_map_jac(s, s->theta, s->P);
    for (int i = 0; i < RECORDINGS; i++) ck_assert_int_ge(ti_path_settle(s->worker, i, s->p, s->P), 0);
    ck_assert_int_ge(ti_shooting_doubt(s, &found), 0);
    ck_assert(found);
    ck_assert_msg(fabs(s->theta[0] - answer) < 0.5 * off, "%g of %g", s->theta[0] - answer, off);
    tribo_sysid_free(s), tribo_model_free(d.m);
}
END_TEST

/* ---- what no single descent finds ---- */

/* Angles of a pendulum in the steps of the library, or in parts of them, until it sticks. */
static void swing(data *d, double fast, int parts, double noise, uint64_t seed) {
    static const char *xml =
        "<mujoco><compiler angle='radian'/>" OPTION "<worldbody><body name='rod' pos='0 0 1'>"
        "<joint name='hinge' axis='0 1 0' damping='0.02' frictionloss='0.12'/>"
        "<geom name='rod' type='capsule' size='0.02' fromto='0 0 0 0 0 -0.3' mass='0.5'/></body></worldbody></mujoco>";
    const double speed[1] = {fast};
    simulate(d, xml, speed, parts, NULL, NULL);
    for (int i = 0; i < RECORDINGS; i++)
        for (int k = 0; k < ROWS; k++) d->x[i][2 * k] += noise * cubes_gauss(&seed), d->x[i][2 * k + 1] = NAN;
}

/* Steps in which friction turns round are followed within, and leave the loss smooth: from either side a fit comes to
 * one answer, without hops. */
START_TEST(dry_friction_comes_to_one_answer) {
    static const double start[2][2] = {{0.03, 0.08}, {0.3, 0.005}}, truth[2] = {0.12, 0.02};
    data d;
    tribo_estimate e[2][2];
    swing(&d, 2.5, 20, 1e-4, 2);
    for (int k = 0; k < 2; k++) {
        tribo_free_param f[2] = {named(&d, "hinge/frictionloss", start[k][0]), named(&d, "hinge/damping", start[k][1])};
        tribo_sysid_def def = define(&d, f, 2);
        tribo_progress now;
        def.nrec = 1, def.search = 4, def.seed = 7 + (uint64_t)k;
        tribo_sysid *s = fitted(&d, &def, e[k], &now);
        ck_assert(now.converged && s->shooting->hops == 0);
        for (int i = 0; i < 2; i++) near_truth(&e[k][i], truth[i], 0.5 * truth[i], i ? "damping" : "frictionloss");
        tribo_sysid_free(s);
    }
    for (int i = 0; i < 2; i++) ck_assert_double_eq_tol(e[0][i].estimate, e[1][i].estimate, 1e-3 * e[0][i].std_error);
    tribo_model_free(d.m);
}
END_TEST

/* What hardly matters where a fit ends goes back to its start, and the motion with it: a pendulum that has stuck says
 * little of its damping, which another start goes with. */
START_TEST(what_is_put_back_does_not_spoil_the_answer) {
    static const double noise[3] = {2e-3, 1e-2, 3e-2};
    for (int i = 0; i < 3; i++) {
        data d;
        swing(&d, 0.5, 1, noise[i], 3);
        tribo_free_param f[2] = {named(&d, "hinge/frictionloss", 0.03), named(&d, "hinge/damping", 0.08)};
        tribo_sysid_def def = define(&d, f, 2);
        def.nrec = 1;
        tribo_sysid *s = make(&d, &def);
        struct ti_shooting *h = s->shooting;
        ck_assert_int_eq(tribo_sysid_fit(s, 200, NULL), TRIBO_OK);
        double told = h->cost;
        ck_assert_int_ge(ti_shooting_curvature(s), 0);
        ck_assert_msg(h->cost < told + 1, "%g, told %g", h->cost, told);
        ck_assert_msg(h->cost < 1.1 * h->freedom, "%g of %g numbers", h->cost, h->freedom);
        tribo_sysid_free(s), tribo_model_free(d.m);
    }
}
END_TEST

/* A slide in closed form that somebody pushes at row `at`. */
static void pushed_slide(data *d, int at, double push, double noise, uint64_t seed) {
    const double a = 0.25 * 9.81;
    cube_world world = {.n = 1, .half = 0.1};
    cube c = cube_standing(&world, 1, 0, 0, 0, 0);
    load(d, slide_xml);
    double v = 2;
    for (int k = 0; k < ROWS; k++) {
        put(d, 0, k, &c, noise, &seed);
        if (k == at) v += push;
        double t = fmin(0.01, v / a);
        c.x[0] += v * t - a * t * t / 2, v -= a * t;
    }
}

/* However far off first motions are: with a wider noise gravity would go where impacts want it. */
START_TEST(flights_have_the_noise_of_their_rows_from_the_first_motions_on) {
    data d;
    tribo_free_param f;
    drops(&d, 1e-3, 3);
    tribo_sysid_def def = one(&d, &f, "gravity/z", -20);
    tribo_sysid *s = make(&d, &def);
    const struct ti_shooting *h = s->shooting;
    ti_scales_init(s);
    ck_assert_int_eq(ti_shooting_begin(s, true, true), TRIBO_OK);
    ck_assert_int_gt(s->track[0].nflight, 10);
    for (int i = 0; i < 2; i++) {
        double flight = h->noise[s->ngroup + i] / h->noise_shown[s->ngroup + i];
        ck_assert_msg(flight < 2.001, "%g of what rows show", flight);
    }
    ck_assert_msg(h->noise[0] > 10 * h->noise_shown[0], "%g m", h->noise[0]);
    tribo_sysid_free(s), tribo_model_free(d.m);
}
END_TEST

/* No motion without kicks follows a slide with a push that the model does not know: one with kicks has the push where
 * it was, and its friction is that of the rest. */
START_TEST(a_push_from_outside_is_a_kick) {
    enum { AT = 20, NV = 6 };
    static const double start[2] = {0.12, 0.75}, push = 1;
    for (int i = 0; i < 2; i++) {
        data d;
        tribo_free_param f;
        tribo_estimate e;
        tribo_progress now;
        tribo_options o = tribo_default_options();
        pushed_slide(&d, AT, push, 1e-3, 5);
        tribo_sysid_def def = one(&d, &f, "floor/friction", start[i]);
        d.rec[0].n = 2 * AT + 1, o.dt = 0.01;
        def.nrec = 1, def.search = 2, def.options = &o;
        tribo_sysid *s = fitted(&d, &def, &e, &now);
        const struct ti_shooting *h = s->shooting;
        const double *w = h->path[0].w;
        ck_assert(now.starts > 2 && s->kick[TI_KICK_LINEAR] > 0 && h->best > 0 && h->kicked[h->best]);
        near_truth(&e, 0.25, 0.03, "friction");
        double most = 0, there = 0;
        for (int k = 0; k < 2 * AT; k++) {
            if (abs(k - AT) < 2)
                there += w[k * NV];
            else
                most = fmax(most, fabs(w[k * NV]));
        }
        ck_assert_msg(fabs(there - push) < 0.1, "%g m/s", there);
        ck_assert_msg(most < 0.1, "%g m/s elsewhere", most);
        tribo_sysid_free(s), tribo_model_free(d.m);
    }
}
END_TEST

/* Rows of cubes: one that stands until it is hit between the fifth and the sixth, one that creeps all along, and one
 * that is hit after four rows in succession, which say too little. */
static void few_rows_before(data *d, double *time, double *even) {
    static const double thin[6] = {0, 0.02, 0.05, 0.07, 0.11, 0.14};
    cube_world world = {.n = 1, .half = 0.1};
    uint64_t seed = 5;
    load(d, slide_xml);
    for (int k = 0; k < ROWS; k++) time[k] = k < 6 ? thin[k] : 0.14 + 0.01 * (k - 5), even[k] = 0.01 * k;
    for (int i = 0; i < RECORDINGS; i++) {
        cube c = cube_standing(&world, 1, 0, 0, 0, 0);
        d->rec[i].time = i < 2 ? time : even;
        for (int k = 0; k < ROWS; k++) {
            double t = fmin(d->rec[i].time[k] - (i == 0 ? 0.12 : 0.035), 0.4);
            c.x[0] = i == 1 ? 0.06 * time[k] : t > 0 ? t - 0.25 * 9.81 * t * t / 2 : 0;
            put(d, i, k, &c, 1e-3, &seed);
        }
    }
}

START_TEST(what_is_hit_soon_stood_still_before_where_its_rows_say_so) {
    data d;
    tribo_free_param f;
    double time[ROWS], even[ROWS];
    few_rows_before(&d, time, even);
    tribo_sysid_def def = one(&d, &f, "floor/friction", 0.2);
    def.start = TRIBO_START_ALONG;
    tribo_sysid *s = make(&d, &def);
    for (int i = 0; i < RECORDINGS; i++) ck_assert_int_eq(s->track[i].nstand, 1);
    ck_assert(s->track[0].rest[0] && !s->track[1].rest[0] && !s->track[2].rest[0]);
    ck_assert(s->track[0].x0[7] == 0 && fabs(s->track[0].x0[0]) < 2e-3);
    tribo_sysid_free(s);
    tribo_model_free(d.m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("shooting");
    TCase *t = tcase_create("long"), *few = tcase_create("short");
    tcase_set_timeout(t, 300);
    tcase_add_test(few, the_smoothed_motion_is_nearer_to_the_truth_and_says_by_how_much);
    tcase_add_test(few, workers_change_no_bit);
    tcase_add_test(few, noise_is_read_from_the_recordings_alone);
    tcase_add_test(few, what_is_hit_soon_stood_still_before_where_its_rows_say_so);
    tcase_add_test(few, steps_that_see_a_hit_leave_no_jumps);
    tcase_add_test(few, a_start_in_the_wrong_place_is_led_back_or_drawn_anew);
    tcase_add_loop_test(few, one_block_is_the_gradient, 0, 2);
    tcase_add_test(few, the_motion_that_a_step_was_taken_for_is_the_one_linearised_next);
    tcase_add_test(few, dry_friction_comes_to_one_answer);
    tcase_add_test(few, what_is_put_back_does_not_spoil_the_answer);
    tcase_add_test(few, flights_have_the_noise_of_their_rows_from_the_first_motions_on);
    tcase_add_test(few, a_push_from_outside_is_a_kick);
    tcase_add_test(few, kicks_that_have_died_out_leave_no_doubt);
    tcase_add_loop_test(few, rows_between_kicks_that_are_not_named_are_in_the_interval, 0, 2);
    tcase_add_test(few, an_answer_beside_the_best_one_is_found_out);
    tcase_add_test(t, friction_from_far_starts_with_one_answer);
    tcase_add_loop_test(few, friction_of_bounces_from_where_nothing_slips, 0, 4);
    tcase_add_test(t, intervals_hold_the_truth_where_the_start_is_estimated_too);
    tcase_add_test(t, what_ends_at_a_bound_or_moves_nothing_is_told);
    tcase_add_test(t, the_scatter_over_blocks_is_the_curvature_unless_errors_go_on);
    suite_add_tcase(s, few), suite_add_tcase(s, t);
    return s;
}
