/* hull_make.c -- convex hulls by the qhull library, and which corners, edges and faces meet in them. */
#include "math/vec.h"
#include "model/mesh.h"
#include <libqhull_r/qhull_ra.h>
#include <stdio.h>

/* The arrays are written here, and read elsewhere through the constant pointers of the hull. */
#define WRITABLE(type, pointer) ((type)(uintptr_t)(pointer))

void ti_hull_carve(ti_arena *at, ti_hull *h, int nsides) {
    TI_CARVE(at, h->v, h->nv);
    TI_CARVE(at, h->edge, h->ne);
    TI_CARVE(at, h->face, h->nf);
    TI_CARVE(at, h->face_at, h->nf + 1);
    TI_CARVE(at, h->face_vertex, nsides);
    TI_CARVE(at, h->face_edge, nsides);
    TI_CARVE(at, h->vertex_at, h->nv + 1);
    TI_CARVE(at, h->vertex_edge, nsides);
    TI_CARVE(at, h->vertex_face, nsides);
}

/* ---- the furthest corner ---- */

static double along(const double *v, const double *d) {
    return v[0] * d[0] + v[1] * d[1] + v[2] * d[2];
}

/* Uphill over the edges. */
int ti_hull_climb(const ti_hull *h, const double d[3], int from) {
    double best = along(h->v[from], d);
    for (int at = -1; at != from;) {
        at = from;
        for (int k = h->vertex_at[at]; k < h->vertex_at[at + 1]; k++) {
            const int *e = h->edge[h->vertex_edge[k]];
            int other = e[0] == at ? e[1] : e[0];
            double height = along(h->v[other], d);
            if (height > best) best = height, from = other;
        }
    }
    return from;
}

double ti_hull_reach(const ti_hull *h, const double d[3]) {
    return along(h->v[ti_hull_climb(h, d, 0)], d);
}

/* ---- qhull ---- */

/* Number the corners; how many corners, faces and sides there are. */
static int count(qhT *qh, ti_hull *h) {
    facetT *facet;
    vertexT *vertex;
    int sides = 0;
    h->nv = h->nf = 0;
    FORALLvertices vertex->visitid = 0;
    FORALLfacets {
        setT *corners = qh_facet3vertex(qh, facet);
        sides += qh_setsize(qh, corners), h->nf++;
        qh_settempfree(qh, &corners);
    }
    FORALLvertices vertex->visitid = (unsigned)h->nv++;
    h->ne = sides / 2;
    return sides;
}

/* Corners in turn, against the clock seen from outside. */
static int fill_face(qhT *qh, facetT *facet, int from, int *out) {
    setT *corners = qh_facet3vertex(qh, facet);
    vertexT *vertex, **vertexp;
    int n = 0;
    FOREACHvertex_(corners) out[from + n++] = (int)vertex->visitid;
    qh_settempfree(qh, &corners);
    return n;
}

static void outward_normal(const ti_hull *h, const double *along, int from, int n, double *normal, int *corner) {
    ti_vec sum = {0, 0, 0}, first = ti_load3(h->v[corner[from]]);
    for (int k = 2; k < n; k++) {
        ti_vec u = ti_sub(ti_load3(h->v[corner[from + k - 1]]), first);
        sum = ti_add(sum, ti_cross(u, ti_sub(ti_load3(h->v[corner[from + k]]), first)));
    }
    if (ti_dot(sum, ti_load3(along)) < 0) {
        for (int i = 0, j = n - 1; i < j; i++, j--) {
            int swap = corner[from + i];
            corner[from + i] = corner[from + j], corner[from + j] = swap;
        }
        sum = ti_scale(-1, sum);
    }
    ti_store3(normal, ti_scale(1 / ti_norm(sum), sum));
}

static void fill_faces(qhT *qh, ti_hull *h) {
    facetT *facet;
    vertexT *vertex;
    double(*v)[3] = WRITABLE(double(*)[3], h->v), (*face)[3] = WRITABLE(double(*)[3], h->face);
    int *at = WRITABLE(int *, h->face_at), *corner = WRITABLE(int *, h->face_vertex), f = 0;
    FORALLvertices memcpy(v[vertex->visitid], vertex->point, sizeof *v);
    at[0] = 0;
    FORALLfacets {
        int n = fill_face(qh, facet, at[f], corner);
        outward_normal(h, facet->normal, at[f], n, face[f], corner);
        at[f + 1] = at[f] + n, f++;
    }
}

/* ---- edges ---- */

typedef struct side {
    int low, high, at; /* its corners; where it is in face_vertex */
} side;

static int by_corners(const void *a, const void *b) {
    const side *x = a, *y = b;
    if (x->low != y->low) return x->low < y->low ? -1 : 1;
    if (x->high != y->high) return x->high < y->high ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Each edge has two sides; false if it is not so. */
static bool fill_edges(ti_hull *h, side *s, int nsides) {
    int(*edge)[2] = WRITABLE(int(*)[2], h->edge), *face_edge = WRITABLE(int *, h->face_edge);
    for (int f = 0; f < h->nf; f++)
        for (int k = h->face_at[f]; k < h->face_at[f + 1]; k++) {
            int a = h->face_vertex[k], b = h->face_vertex[k + 1 < h->face_at[f + 1] ? k + 1 : h->face_at[f]];
            s[k] = (side){a < b ? a : b, a < b ? b : a, k};
        }
    qsort(s, (size_t)nsides, sizeof *s, by_corners);
    for (int k = 0; k + 1 < nsides; k += 2) {
        if (s[k].low != s[k + 1].low || s[k].high != s[k + 1].high) return false;
        edge[k / 2][0] = s[k].low, edge[k / 2][1] = s[k].high;
        face_edge[s[k].at] = face_edge[s[k + 1].at] = k / 2;
    }
    return nsides % 2 == 0 && h->nv - h->ne + h->nf == 2;
}

/* What is at each corner: as many edges as faces. */
static void fill_corners(ti_hull *h, int nsides) {
    int *at = WRITABLE(int *, h->vertex_at), *edge = WRITABLE(int *, h->vertex_edge),
        *face = WRITABLE(int *, h->vertex_face);
    for (int i = 0; i <= h->nv; i++) at[i] = 0;
    for (int k = 0; k < nsides; k++) at[h->face_vertex[k] + 1]++;
    for (int i = 0; i < h->nv; i++) at[i + 1] += at[i];
    for (int f = 0; f < h->nf; f++)
        for (int k = h->face_at[f]; k < h->face_at[f + 1]; k++) face[at[h->face_vertex[k]]++] = f;
    for (int i = h->nv; i > 0; i--) at[i] = at[i - 1];
    at[0] = 0;
    for (int e = 0; e < h->ne; e++)
        for (int i = 0; i < 2; i++) edge[at[h->edge[e][i]]++] = e;
    for (int i = h->nv; i > 0; i--) at[i] = at[i - 1];
    at[0] = 0;
}

/* ---- the hull ---- */

static tribo_status collect(qhT *qh, const tribo_allocator *a, ti_hull *h, void **block, size_t *bytes, char *flaw,
                            size_t room) {
    int nsides = count(qh, h);
    if (h->nv > TI_HULL_MOST) {
        snprintf(flaw, room, "its hull has %d corners, more than %d", h->nv, TI_HULL_MOST);
        return TRIBO_E_ARG;
    }
    ti_arena at = {0};
    side *sides;
    for (int pass = 0; pass < 2; pass++) {
        if (pass && !ti_arena_take(&at, a)) return TRIBO_E_NOMEM;
        ti_hull_carve(&at, h, nsides);
        TI_CARVE(&at, sides, nsides);
    }
    *block = at.base, *bytes = at.used;
    fill_faces(qh, h);
    if (fill_edges(h, sides, nsides)) return fill_corners(h, nsides), TRIBO_OK;
    ti_free(a, *block, *bytes);
    *block = NULL;
    snprintf(flaw, room, "its hull is too thin or too fine to be made");
    return TRIBO_E_ARG;
}

/* Of a hull that is to have few corners qhull takes the furthest of all points first, as MuJoCo asks it to, and ends
 * with those that the first four are beside. */
static void options_of(int most, bool triangles, char *text, size_t room) {
    const char *flat = triangles ? " Qt" : "";
    if (most > 0)
        snprintf(text, room, "qhull%s Q9 TA%d", flat, most - 4);
    else
        snprintf(text, room, "qhull%s", flat);
}

tribo_status ti_hull_make(const double *points, int n, int most, const tribo_allocator *a, ti_hull *hull, void **block,
                          size_t *bytes, char *flaw, size_t room) {
    char options[40];
    tribo_status status = TRIBO_E_ARG;
    *block = NULL;
    for (int attempt = 0; attempt < 2 && status == TRIBO_E_ARG; attempt++) {
        qhT qh;
        FILE *messages = fopen("/dev/null", "w"); /* qhull wants one for its errors */
        if (!messages) return TRIBO_E_NOMEM;
        options_of(most, attempt > 0, options, sizeof options);
        qh_zero(&qh, messages);
        int error = qh_new_qhull(&qh, 3, n, WRITABLE(double *, points), 0, options, NULL, messages);
        if (!error)
            status = collect(&qh, a, hull, block, bytes, flaw, room);
        else if (error == qh_ERRmem)
            status = TRIBO_E_NOMEM;
        else
            snprintf(flaw, room, "its points lie in a plane or nearly: no volume");
        int current, total;
        qh_freeqhull(&qh, !qh_ALL);
        qh_memfreeshort(&qh, &current, &total);
        fclose(messages);
    }
    return status;
}
