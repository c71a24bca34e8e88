/* ring.c -- bodies that friction holds in a ring: their load is a stress of which compliance decides, and places decide
 * whether there is one. docs/math.md eq. (117). And bodies that stand on more geoms than hold them, whose load is
 * shared by the places of these. eq. (610). */
#include "contact/work/workspace.h"
#include "forward/frame.h"

/* The share of what places ask for that no motion gives, above which contacts hold one another in a ring. Elsewhere it
 * is what a small compliance takes, a millionth. */
static const double SHARE = 1e-4;

/* Whether contacts connect bodies in a circle. Those of one pair of geoms lie in a plane, and count as one, unless they
 * hold against a turn besides: two ways to hold a face, or a rod. */
static bool has_circle(tribo_ws *ws, const ti_frame *f, const ti_island *is, ti_phase phase, int end) {
    const unsigned char *mode = f->phase[phase].mode;
    int *root = ws->root;
    int64_t last = -1;
    bool several = false;                                      /* contacts of this pair */
    if (ws->model->chains || phase == TI_REBOUND) return true; /* through joints, or of a joint with itself */
    for (int b = 0; b <= is->nblk; b++) root[b] = b;
    for (int i = is->con0; i < end; i++) {
        if (f->con[i].kind == TI_CON_ROLL && mode[i] == TRIBO_STICK) return true;
        if (f->con[i].kind == TI_CON_TWIST && mode[i] == TRIBO_STICK && several) return true;
        if (mode[i] == TRIBO_BREAK || ti_con_spins(&f->con[i])) continue;
        several = f->con[i].rank == last;
        if (several) continue;
        int a = ws->blk_a[i], b = ws->blk_b[i] >= 0 ? ws->blk_b[i] : is->nblk; /* the world is one, too */
        last = f->con[i].rank;
        if (ti_root(root, a) == ti_root(root, b)) return true;
        ti_unite(root, a, b);
    }
    return false;
}

/* Some displacement of the bodies, of no particular direction, in units of the root of energy. */
static void displace(const tribo_ws *ws, const ti_island *is, double *to) {
    for (int b = is->blk0, k = 0; b < is->blk0 + is->nblk; b++)
        for (int j = 0, w = ws->width[b]; j < w; j++, k++) {
            double golden = 0.6180339887498949 * (k + 1), part = golden - (int)golden;
            to[ws->at_v[b] + j] = (k % 3 == 1 ? -0.5 - part : 0.5 + part) / sqrt(ws->M[ws->at_M[b] + j * (w + 1)]);
        }
}

/* A number that no sum tells from chance, -1 to 1, at least half of that: the next of a sequence. */
static double scattered(uint64_t *z) {
    *z = *z * 6364136223846793005u + 1442695040888963407u;
    double part = 0.5 + (double)(*z >> 12) * 0x1p-53;
    return *z & 0x800 ? part : -part;
}
static uint64_t sequence(int k) {
    uint64_t z = ((uint64_t)k + 1) * 0x9e3779b97f4a7c15u;
    return (z ^ (z >> 31)) * 0xbf58476d1ce4e5b9u;
}

/* By how much the surface of a geom at `at` comes along the normal n as the geom alone moves, turns about `o` by as
 * much as moves it by `length` there, and, of a height field, is stretched along its axes: what touches other shapes in
 * several points does so in a plane, which stays one. */
static double part_comes(const ti_shape *s, int geom, ti_vec at, ti_vec o, double length, ti_vec n) {
    double d[6];
    uint64_t z = sequence(geom);
    for (int i = 0; i < 6; i++) d[i] = scattered(&z);
    ti_vec moved = ti_axpy(ti_cross(ti_load3(d + 3), ti_sub(at, o)), length, ti_load3(d));
    if (s->shape == TRIBO_HFIELD) {
        ti_vec in = ti_tmul(&s->R, ti_sub(at, s->x));
        double stretch[3] = {scattered(&z) * in.x, scattered(&z) * in.y, scattered(&z) * in.z};
        moved = ti_add(moved, ti_mul(&s->R, ti_load3(stretch)));
    }
    return ti_dot(n, moved);
}

/* By how much the gap of contact i opens as each geom moves by itself, and each limit. */
static double part_opens(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i) {
    const ti_con *con = &f->con[i];
    uint64_t z = sequence(ws->model->size.ngeom + i - is->con0);
    if (con->kind != TI_CON_CONTACT) return scattered(&z);
    ti_vec o = f->con[is->con0].touch.point, at = con->touch.point, n = con->touch.normal;
    const ti_shape *a = &ws->shape[con->pair.a], *b = &ws->shape[con->pair.b];
    return part_comes(b, con->pair.b, at, o, con->pair.length, n) -
           part_comes(a, con->pair.a, at, o, con->pair.length, n);
}

/* How the bodies of a contact turn by velocities v (nv of the frame), against one another. */
static ti_vec turn_of(const tribo_ws *ws, const ti_con *c, const double *v) {
    ti_vec sum = {0, 0, 0};
    for (int side = 0; side < 2; side++) {
        int body = side ? c->b : c->a;
        double twist[TI_TWIST];
        if (body < 0) continue;
        ti_motion_twist(&ws->motion, body, v + ws->at_v[ti_blk_of_body(ws, body)], twist);
        sum = ti_axpy(sum, side ? 1 : -1, ti_mul(&ws->link[body].R, ti_load3(twist + 3)));
    }
    return sum;
}

/* What contact i asks of the velocities v more, after that displacement: c (3). *by_gap: and for each metre of its gap.
 */
static void ask(const tribo_ws *ws, const ti_frame *f, const ti_island *is, int i, const double *moved, const double *v,
                double *c, double *by_gap) {
    const ti_con *con = &f->con[i];
    c[0] = c[1] = c[2] = *by_gap = 0;
    if (con->kind == TI_CON_TWIST)
        c[2] = con->pair.length * ti_dot(con->touch.normal, ti_cross(turn_of(ws, con, moved), turn_of(ws, con, v)));
    for (int r = 0; ti_con_holds(con) && !is->bare && r < 3; r++)
        c[r] = ti_closure_drift(ws, con) * ti_row_velocity(ws, f, i, r, moved) / ws->options.dt;
    if (!ti_con_opens(con)) return;
    double ref_gap = ti_frame_reference(ws, f, (int)(is - f->island), i).ref_gap;
    if (ref_gap != 0) c[2] = ref_gap * ti_row_velocity(ws, f, i, 2, moved);
    *by_gap = ref_gap;
}

/* The same in an impact: what is hit is hit sooner after that displacement, and slower by what forces do in the time.
 */
static void ask_hit(const tribo_ws *ws, const ti_frame *f, int i, const double *moved, double *c) {
    const ti_con *con = &f->con[i];
    double come = fabs(con->uf);
    c[0] = c[1] = 0;
    c[2] = ti_con_opens(con) && come > 0 ? con->an / come * ti_row_velocity(ws, f, i, 2, moved) : 0;
}

/* docs/math.md eq. (590): the same in a rebound, of velocities v, of what the world throws back: what sticks as it
 * opens goes on turning, and a tilt has each of its corners go another way across the normal, as they are no longer
 * level. */
static void ask_back(const tribo_ws *ws, const ti_frame *f, int i, const double *moved, const double *v, double *c) {
    const ti_con *con = &f->con[i];
    c[0] = c[1] = c[2] = 0;
    if (!ti_con_opens(con) || (con->a >= 0 && con->b >= 0)) return;
    ti_vec at = ti_sub(con->touch.point, ws->link[con->b >= 0 ? con->b : con->a].xc);
    ti_vec more = ti_cross(turn_of(ws, con, v), ti_cross(turn_of(ws, con, moved), at));
    c[0] = ti_dot(con->t1, more), c[1] = ti_dot(con->t2, more);
}

/* Speed across the normal of contact i, of velocities v (nv of the frame). Joints have none. */
static double slip(const tribo_ws *ws, const ti_frame *f, int i, const double *v) {
    if (ti_con_is_row(&f->con[i])) return 0;
    return hypot(ti_row_velocity(ws, f, i, 0, v), ti_row_velocity(ws, f, i, 1, v));
}

/* Whether contact i has all of its friction, so that others may hold it. */
static bool may_be_held(const tribo_ws *ws, const ti_frame *f, ti_phase phase, int i) {
    return f->phase[phase].mode[i] >= TRIBO_SLIDE && ws->mu[i] > 0 && ti_con_opens(&f->con[i]);
}

/* The fastest slip of the free motion, as far as departure() asks. */
static double fastest_slip(const tribo_ws *ws, const ti_frame *f, ti_phase phase, int con0, int end) {
    double fastest = 0;
    bool asked = false;
    for (int i = con0; i < end && !asked; i++) asked = may_be_held(ws, f, phase, i);
    for (int i = con0; i < end && asked; i++) fastest = ti_max(fastest, slip(ws, f, i, ws->vfree));
    return fastest;
}

/* By how much contact i of a solved phase departs from its mode for that displacement, in its units: impulses that only
 * a compliance bounds, and a slip of what has all of its friction and is held by others. eq. (590) in a rebound. */
static double departure(const tribo_ws *ws, const ti_frame *f, const ti_island *is, ti_phase phase, int i,
                        double slow) {
    const ti_phase_data *d = &f->phase[phase];
    const double *l = ws->scratch->lambda_dot + 3 * i;
    ti_law_compliance R = ti_contact_compliance(is->phase[phase].compliance[0]);
    if (phase == TI_REBOUND) return d->mode[i] == TI_REBOUND_STICK ? R.t * hypot(l[0], l[1]) : 0;
    double stress = R.n * fabs(l[2]);
    bool held = may_be_held(ws, f, phase, i) && slip(ws, f, i, d->v[TI_SOLVED]) <= slow;
    return held ? ti_max(stress, slip(ws, f, i, ws->scratch->v_dot)) : stress;
}

/* The most that any of n contacts which do not break asks by itself, of all its rows or of the last. */
static double most_of(const unsigned char *mode, int n, const double *c, bool rows) {
    double most = 0;
    for (int i = 0; i < n; i++)
        for (int r = rows ? 0 : 2; mode[i] != TRIBO_BREAK && r < 3; r++) most = ti_max(most, fabs(c[3 * i + r]));
    return most;
}

/* c += what is asked as geoms and limits move, each by itself, by three fifths of what the bodies ask. more (3 n): of
 * the last of three what a gap asks for each metre; overwritten. */
static void add_apart(const tribo_ws *ws, const ti_frame *f, const ti_island *is, const unsigned char *mode, int n,
                      double *more, double *c) {
    double most = most_of(mode, n, c, true);
    for (int i = 0; i < n; i++)
        if (more[3 * i + 2] != 0) more[3 * i + 2] *= part_opens(ws, f, is, is->con0 + i);
    double unit = most_of(mode, n, more, false);
    const double less = 0.618; /* where one contact asks alone, both may be alike but for their sign */
    if (unit > 0 && most > 0) unit = less * most / unit;
    for (int i = 0; i < n; i++) c[3 * i + 2] += unit * more[3 * i + 2];
}

/* The velocities and impulses of a phase after that displacement, to first order; the most that is asked, and whether
 * anything is. @param apart geoms and limits move by themselves besides */
static tribo_status respond(tribo_ws *ws, const ti_frame *f, int k, ti_phase phase, bool apart, double *most,
                            bool *asks) {
    const ti_island *is = &f->island[k];
    ti_scratch *s = ws->scratch;
    ti_contact_problem problem = ti_step_problem(ws, f, k, phase);
    ti_contact_solution at = ti_frame_solution(f, k, phase);
    double *v_dot = s->v_dot + is->v0, *lambda_dot = s->lambda_dot + 3 * is->con0;
    double *c = s->c_dot[0] + 3 * is->con0, *more = s->c_dot[1] + 3 * is->con0;
    *asks = false;
    displace(ws, is, s->v_work);
    for (int i = 0; i < problem.nc; i++) {
        if (phase == TI_REBOUND)
            ask_back(ws, f, is->con0 + i, s->v_work, f->phase[phase].v[TI_SOLVED], c + 3 * i);
        else if (phase == TI_IMPACT)
            ask_hit(ws, f, is->con0 + i, s->v_work, c + 3 * i);
        else
            ask(ws, f, is, is->con0 + i, s->v_work, f->phase[phase].v[TI_SOLVED], c + 3 * i, more + 3 * i + 2);
    }
    if (apart) add_apart(ws, f, is, at.mode, problem.nc, more, c);
    for (int i = 0; i < 3 * problem.nc; i++) *asks = *asks || c[i] != 0;
    *most = most_of(at.mode, problem.nc, c, true);
    if (!*asks) return TRIBO_OK;
    bool last = phase == TI_AFTER || is->phase[TI_IMPACT].npoint == 0; /* of the phases, to be solved */
    if (last && ti_contact_respond(ws->contact, &problem, c, v_dot, lambda_dot)) return TRIBO_OK;
    tribo_status status = ti_contact_factor(ws->contact, &problem, &at, 0);
    if (status < 0) return status;
    ti_contact_jvp(ws->contact, &problem, 1, ws->zero, c, NULL, v_dot, lambda_dot);
    return TRIBO_OK;
}

/* How many contacts depart from their modes, of one phase: 0 also where it has no derivative. */
static tribo_status departures(tribo_ws *ws, const ti_frame *f, int k, ti_phase phase, bool apart, int *many) {
    const ti_island *is = &f->island[k];
    int end = is->con0 + (phase == TI_HOLD ? is->nhold : is->ncon);
    double most;
    bool asks;
    *many = 0;
    tribo_status status = respond(ws, f, k, phase, apart, &most, &asks);
    if (status < 0) return status == TRIBO_E_SINGULAR ? TRIBO_OK : status;
    double slow = asks ? 1e-9 * fastest_slip(ws, f, phase, is->con0, end) : 0;
    for (int i = is->con0; asks && i < end; i++)
        *many += f->phase[phase].mode[i] != TRIBO_BREAK && departure(ws, f, is, phase, i, slow) > SHARE * most;
    return TRIBO_OK;
}

/* Of one phase. What departs as geoms move by themselves, too, is asked first: as a rule nothing does. */
static tribo_status ring(tribo_ws *ws, const ti_frame *f, int k, ti_phase phase, struct ti_solved *out) {
    const ti_island *is = &f->island[k];
    tribo_contact_info *info = &out->info;
    int end = is->con0 + (phase == TI_HOLD ? is->nhold : is->ncon), apart = 0, many = 0;
    bool moves = phase == TI_HOLD || phase == TI_AFTER;
    if (is->phase[phase].npoint == 0 || info->margin == 0 || !has_circle(ws, f, is, phase, end)) return TRIBO_OK;
    tribo_status status = moves ? departures(ws, f, k, phase, true, &apart) : TRIBO_OK;
    if (status >= 0 && (apart > 0 || !moves)) status = departures(ws, f, k, phase, false, &many);
    if (status < 0) return status;
    if (many > 0)
        info->ndegenerate += many, info->margin = 0;
    else
        info->ndegenerate += apart, out->nshared += apart;
    return TRIBO_OK;
}

/* Whether friction against turning holds in an impact. */
static bool grips(const ti_frame *f, const ti_island *is) {
    bool any = false;
    for (int i = is->con0; i < is->con0 + is->ncon && is->phase[TI_IMPACT].npoint > 0 && !any; i++)
        any = ti_con_spins(&f->con[i]) && f->phase[TI_IMPACT].mode[i] == TRIBO_STICK;
    return any;
}

/* Whether two contacts at least stick while they open. */
static bool sticks_back(const ti_frame *f, const ti_island *is) {
    int count = 0;
    if (is->phase[TI_REBOUND].npoint == 0) return false;
    for (int i = is->con0; i < is->con0 + is->ncon; i++) count += f->phase[TI_REBOUND].mode[i] == TI_REBOUND_STICK;
    return count > 1;
}

tribo_status ti_island_ring(tribo_ws *ws, const ti_frame *f, int k, struct ti_solved *out) {
    const ti_island *is = &f->island[k];
    out->nshared = 0;
    if (ws->options.law.law == TRIBO_LAW_STOCHASTIC) return TRIBO_OK;
    tribo_status status = ring(ws, f, k, is->phase[TI_AFTER].npoint > 0 ? TI_AFTER : TI_HOLD, out);
    if (status == TRIBO_OK && grips(f, is)) status = ring(ws, f, k, TI_IMPACT, out);
    return status == TRIBO_OK && sticks_back(f, is) ? ring(ws, f, k, TI_REBOUND, out) : status;
}
