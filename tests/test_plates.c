/* test_plates.c -- contact forces that were measured: they say what poses cannot, with intervals that hold. */
#include "cubes.h"
#include "math/vec.h"
#include "sysid/kicked/kicked.h"
#include "sysid_data.h"

typedef struct pressed {
    data d;
    double force[RECORDINGS][ROWS * 3 * OWNERS];
} pressed;

/* A step's impulses over the time from row to row, by geom and by body, in the order of a recording. */
static void add(void *context, int i, int k, const tribo_ws *ws) {
    pressed *f = context;
    int n = 0, owners = f->d.z.ngeom + f->d.z.nbody;
    const tribo_contact *c = tribo_last_contacts(ws, &n);
    if (k >= ROWS) return;
    for (int j = 0; j < n; j++)
        for (int side = 0; side < 2; side++) {
            int geom = side ? c[j].geom_b : c[j].geom_a, body = f->d.m->geom[geom].body;
            for (int a = 0; a < 3; a++) {
                double share = (side ? 1 : -1) / 0.01 *
                               (c[j].impulse[0] * c[j].tangent[0][a] + c[j].impulse[1] * c[j].tangent[1][a] +
                                c[j].impulse[2] * c[j].normal[a]);
                f->force[i][3 * (k * owners + geom) + a] += share;
                if (body >= 0) f->force[i][3 * (k * owners + f->d.z.ngeom + body) + a] += share;
            }
        }
}

/* Poses with noise of 1 mm, and forces of one owner with noise in N. */
static void record(pressed *f, const char *xml, const double *speed, int owner, double noise, uint64_t seed) {
    memset(f, 0, sizeof *f);
    simulate(&f->d, xml, speed, 1, add, f);
    int owners = f->d.z.ngeom + f->d.z.nbody;
    bool free = f->d.z.nq == 7;
    for (int i = 0; i < RECORDINGS; i++) {
        for (int k = 0; k < ROWS; k++) {
            double *x = f->d.x[i] + k * f->d.z.nx, turn[4], r[3];
            for (int j = 0; j < (free ? 3 : f->d.z.nq); j++) x[j] += 1e-3 * cubes_gauss(&seed);
            for (int j = 0; j < 3; j++) r[j] = 5e-3 * cubes_gauss(&seed);
            ti_quat_exp(ti_load3(r), turn);
            if (free) ti_quat_mul(x + 3, turn, x + 3);
            for (int j = f->d.z.nq; j < f->d.z.nx; j++) x[j] = NAN;
            for (int j = 0; j < 3 * owners; j++) {
                double *y = f->force[i] + 3 * k * owners + j;
                *y = j / 3 == owner ? *y + noise * cubes_gauss(&seed) : (double)NAN;
            }
        }
        f->d.rec[i].force = f->force[i];
    }
}

static const char *slide_xml = SLIDE("");
static const char *drop_xml = DROP("0.7", "");
/* A finger of one hinge whose tip falls onto a plate and stays there. */
static const char *finger_xml =
    "<mujoco>" OPTION "<worldbody><geom name='plate' type='box' pos='0.5 0 0.05' size='0.3 0.3 0.05' friction='0.3'/>"
    "<body name='finger' pos='0 0 0.35'><joint name='pin' axis='0 1 0' damping='0.05'/>"
    "<geom name='link' type='capsule' fromto='0 0 0 0.5 0 0' size='0.02' mass='0.6'/>"
    "<geom name='tip' type='sphere' pos='0.5 0 0' size='0.05' mass='0.4'/></body></worldbody></mujoco>";

/* Of poses alone the mass of what slides is unknown; the plate weighs it, and sees friction beside the way. */
START_TEST(a_plate_weighs_what_slides) {
    static pressed f;
    const double speed[6] = {1.5, 0.3}, noise = 0.3;
    double square[2] = {0};
    enum { SETS = 10 };
    for (uint64_t seed = 0; seed < SETS; seed++) {
        record(&f, slide_xml, speed, 0, noise, 3 + 11 * seed);
        tribo_free_param free[2] = {named(&f.d, "cube/mass", 2.5), named(&f.d, "floor/friction", 0.5)};
        tribo_sysid_def def = define(&f.d, free, 2);
        tribo_estimate e[2];
        tribo_errors off;
        tribo_sysid *s = fitted(&f.d, &def, e, NULL);
        near_truth(e, 1, 0.005, "mass"), near_truth(e + 1, 0.25, 2e-3, "friction");
        /* a mean over rows of the weight, and of friction while it slides */
        ck_assert_double_gt(e[0].std_error, 0.7 * noise / 9.81 / sqrt(RECORDINGS * (ROWS - 1)));
        square[0] += pow((e[0].estimate - 1) / e[0].std_error, 2);
        square[1] += pow((e[1].estimate - 0.25) / e[1].std_error, 2);
        ck_assert_int_eq(tribo_sysid_errors(s, NULL, 1, &off), TRIBO_OK);
        ck_assert_double_eq_tol(off.force_mean, noise * 1.596, 0.2 * noise); /* of three normal numbers */
        tribo_sysid_free(s);
        for (int i = 0; i < RECORDINGS; i++) f.d.rec[i].force = NULL;
        if (!seed) {
            s = fitted(&f.d, &def, e, NULL);
            ck_assert(!e[0].identifiable && e[1].identifiable);
            ck_assert_int_eq(tribo_sysid_errors(s, NULL, 1, &off), TRIBO_OK);
            ck_assert(isnan(off.force_mean));
            tribo_sysid_free(s);
        }
        tribo_model_free(f.d.m);
    }
    for (int i = 0; i < 2; i++)
        ck_assert_msg(square[i] / SETS > 0.2 && square[i] / SETS < 2.6, "%d: %g", i, square[i] / SETS);
}
END_TEST

/* Impacts of 200 N between rows of nothing: their instants are told by poses; the force of rest weighs the ball. */
START_TEST(what_bounces_and_rests) {
    static pressed f;
    const double speed[6] = {0.5, 0, -4};
    record(&f, DROP("0.3", ""), speed, 0, 0.2, 7);
    tribo_free_param free[2] = {named(&f.d, "ball/mass", 0.5), named(&f.d, "floor/restitution", 0.5)};
    tribo_sysid_def def = define(&f.d, free, 2);
    tribo_estimate e[2];
    tribo_sysid_free(fitted(&f.d, &def, e, NULL));
    near_truth(e, 1, 0.02, "mass"), near_truth(e + 1, 0.3, 0.01, "restitution");
    tribo_model_free(f.d.m);
    record(&f, drop_xml, (double[6]){0}, 3, 0.2, 9); /* the ball's own, a body's: in the air nothing but impacts */
    ck_assert_int_eq(f.d.z.ngeom, 2);
    tribo_model_free(f.d.m);
}
END_TEST

START_TEST(a_finger_on_a_plate) {
    static pressed f;
    const double speed = 2;
    record(&f, finger_xml, &speed, 0, 0.02, 5);
    tribo_free_param free[2] = {named(&f.d, "finger/mass", 2), named(&f.d, "pin/damping", 0.1)};
    tribo_sysid_def def = define(&f.d, free, 2);
    tribo_estimate e[2];
    tribo_sysid_free(fitted(&f.d, &def, e, NULL));
    near_truth(e, 1, 0.05, "mass"), near_truth(e + 1, 0.05, 0.02, "damping");
    tribo_model_free(f.d.m);
}
END_TEST

/* Forces until row k + 1 from the state at row k, moved by dx and theta. */
static void forces(tribo_sysid *s, int k, const double *dx, const double *theta, double *out) {
    double x[NX_MOST], rows[3 * ROWS];
    ti_at(s, theta), tribo_sysid_map_jac(s, theta, s->P);
    tribo_state_add(s->m, s->shooting->path->x + k * s->z.nx, dx, x);
    memcpy(s->worker->x, x, (size_t)s->z.nx * sizeof *x);
    ck_assert_int_ge(ti_advance(s->worker, s->track, k, s->p), 0);
    ti_plates_keep(s->worker, s->track, k, rows);
    memcpy(out, rows + 3 * (k + 1), 3 * sizeof *out);
}

START_TEST(forces_move_as_differences_say) {
    static pressed f;
    const double speed[6] = {1.5, 0.3, 0, 0, 0, 2}, h = 1e-6;
    double dx[2 * NX_MOST] = {0}, theta[2], up[3], down[3];
    record(&f, slide_xml, speed, 0, 0.1, 3);
    f.d.rec[0].n = 12;
    tribo_free_param free[2] = {named(&f.d, "cube/mass", 1.2), named(&f.d, "floor/friction", 0.2)};
    tribo_sysid_def def = define(&f.d, free, 2);
    def.nrec = 1;
    tribo_sysid *s = make(&f.d, &def);
    tribo_sysid_theta(s, theta);
    ti_at(s, theta), tribo_sysid_map_jac(s, theta, s->P);
    ti_scales_init(s), ti_scales_weigh(s);
    s->shooting->path->end = 12;
    ck_assert_int_ge(ti_path_guess(s->worker, 0, s->p), 0);
    ck_assert_int_ge(ti_path_linearise(s->worker, 0, s->p, s->P), 0);
    int nd = f.d.z.ndx + 2, row = 4, checked = 0;
    const double *Psi = s->shooting->path->Psi + row * 3 * nd;
    for (int j = 0; j < nd; j++) {
        double *at = j < f.d.z.ndx ? &dx[j] : &theta[j - f.d.z.ndx], was = *at;
        if (j >= 2 && j < 5) continue; /* off the floor or into it: a kink */
        if (j >= 8 && j < 11) continue;
        *at = was + h, forces(s, row, dx, theta, up);
        *at = was - h, forces(s, row, dx, theta, down);
        *at = was;
        for (int i = 0; i < 3; i++, checked++)
            ck_assert_msg(fabs((up[i] - down[i]) / (2 * h) - Psi[i * nd + j]) < 1e-4 * (1 + fabs(Psi[i * nd + j])),
                          "%d by %d: %g, %g", i, j, (up[i] - down[i]) / (2 * h), Psi[i * nd + j]);
    }
    ck_assert_int_ge(checked, 20);
    tribo_sysid_free(s), tribo_model_free(f.d.m);
}
END_TEST

START_TEST(columns_of_a_file) {
    tribo_model *m = NULL;
    tribo_trajectory *t = NULL;
    tribo_diag diag = {0};
    const char *text = "time,tip.fz,pin.q,finger.fx,plate.fy\n0,3,1,,\n1,nan,2,0.1,5\n",
               *wrong = "time,plate.tx\n0,1\n";
    ck_assert_int_eq(tribo_model_load_memory(finger_xml, strlen(finger_xml), "test", NULL, &m, NULL), TRIBO_OK);
    ck_assert_int_eq(tribo_trajectory_load_memory(text, strlen(text), m, NULL, &t, &diag), TRIBO_OK);
    const double *y = tribo_trajectory_forces(t);
    ck_assert_ptr_null(tribo_trajectory_markers(t));
    for (int i = 0; i < 2 * 12; i++) { /* plate, link, tip, then finger */
        double is = i == 8 ? 3 : i == 12 + 9 ? 0.1 : i == 12 + 1 ? 5 : (double)NAN;
        ck_assert_msg(y[i] == is || (isnan(is) && isnan(y[i])), "%d: %g", i, y[i]);
    }
    tribo_trajectory_free(t), t = NULL;
    ck_assert_int_eq(tribo_trajectory_load_memory(wrong, strlen(wrong), m, NULL, &t, &diag), TRIBO_E_PARSE);
    ck_assert_ptr_null(tribo_trajectory_forces(NULL));
    tribo_model_free(m);
}
END_TEST

START_TEST(what_makes_no_sense_is_refused) {
    static pressed f;
    const double speed[6] = {1.5, 0.3};
    tribo_sysid *s = NULL;
    record(&f, slide_xml, speed, 0, 0.1, 3);
    tribo_sysid_def def = define(&f.d, NULL, 0);
    f.force[1][3 * 3 * 5 + 2] = INFINITY;
    ck_assert_int_eq(tribo_sysid_new(f.d.m, &def, &s, NULL), TRIBO_E_NONFINITE);
    tribo_model_free(f.d.m);
}
END_TEST

static Suite *suite(void) {
    Suite *s = suite_create("plates");
    TCase *t = tcase_create("long"), *few = tcase_create("short");
    tcase_set_timeout(t, 120);
    tcase_add_test(few, a_finger_on_a_plate);
    tcase_add_test(few, forces_move_as_differences_say);
    tcase_add_test(few, columns_of_a_file);
    tcase_add_test(few, what_makes_no_sense_is_refused);
    tcase_add_test(t, a_plate_weighs_what_slides);
    tcase_add_test(t, what_bounces_and_rests);
    suite_add_tcase(s, few), suite_add_tcase(s, t);
    return s;
}
