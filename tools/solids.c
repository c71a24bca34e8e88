/* solids.c -- makes triangles of shapes. */
#include "solids.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = 32, ALONG = 16 }; /* corners around an axis, and from pole to pole */
static const double pi = 3.14159265358979323846;

static bool room(void **data, size_t *have, size_t need, size_t size) {
    if (need <= *have) return true;
    void *more = realloc(*data, 2 * need * size);
    if (more) *data = more;
    return more != NULL;
}

static uint32_t add_point(solid *s, const double at[3], const double normal[3]) {
    size_t had = s->room_point;
    void *points = s->point, *normals = s->normal;
    bool good = room(&points, &had, s->npoint + 1, sizeof *s->point);
    s->point = points, had = s->room_point;
    good = good && room(&normals, &had, s->npoint + 1, sizeof *s->normal);
    s->normal = normals;
    if (!good) {
        s->failed = true;
        return 0;
    }
    s->room_point = had;
    for (int k = 0; k < 3; k++) s->point[s->npoint][k] = (float)at[k], s->normal[s->npoint][k] = (float)normal[k];
    return (uint32_t)s->npoint++;
}

static void add_triangle(solid *s, uint32_t a, uint32_t b, uint32_t c) {
    void *index = s->index;
    if (room(&index, &s->room_index, s->nindex + 3, sizeof *s->index)) {
        s->index = index;
        s->index[s->nindex] = a, s->index[s->nindex + 1] = b, s->index[s->nindex + 2] = c;
        s->nindex += 3;
    } else {
        s->failed = true;
    }
}

/* A curve of (radius, z, normal's radius, normal's z) turned about z. */
static void turn(solid *s, int n, const double (*curve)[4]) {
    for (int i = 0; i <= AROUND; i++) {
        double c = cos(2 * pi * i / AROUND), d = sin(2 * pi * i / AROUND);
        for (int k = 0; k < n; k++) {
            const double *at = curve[k];
            uint32_t a = add_point(s, (const double[3]){at[0] * c, at[0] * d, at[1]},
                                   (const double[3]){at[2] * c, at[2] * d, at[3]});
            if (i == 0 || k + 1 == n) continue;
            uint32_t before = a - (uint32_t)n;
            if (curve[k][0] > 0) add_triangle(s, before, a, a + 1);
            if (curve[k + 1][0] > 0) add_triangle(s, before, a + 1, before + 1);
        }
    }
}

void solid_capsule(solid *s, double radius, double half) {
    double curve[ALONG + 2][4];
    int n = 0;
    for (int k = 0; k <= ALONG; k++) {
        double angle = pi * (k / (double)ALONG - 0.5), r = k > 0 && k < ALONG ? cos(angle) : 0, z = sin(angle);
        for (int end = 2 * k <= ALONG ? -1 : 1; end <= (2 * k >= ALONG ? 1 : -1); end += 2, n++) {
            curve[n][0] = radius * r, curve[n][1] = radius * z + end * half;
            curve[n][2] = r, curve[n][3] = z;
        }
    }
    turn(s, n, (const double(*)[4])curve);
}

void solid_sphere(solid *s) {
    solid_capsule(s, 1, 0);
}

void solid_cylinder(solid *s) {
    static const double curve[][4] = {{0, -1, 0, -1}, {1, -1, 0, -1}, {1, -1, 1, 0},
                                      {1, 1, 1, 0},   {1, 1, 0, 1},   {0, 1, 0, 1}};
    for (int part = 0; part < 3; part++) turn(s, 2, curve + 2 * part);
}

static void square(solid *s, int axis, int side, double half) {
    static const int corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    uint32_t at[4];
    double normal[3] = {0, 0, 0};
    normal[axis] = side;
    for (int k = 0; k < 4; k++) {
        double p[3];
        p[axis] = side * half, p[(axis + 1) % 3] = corner[k][0] * half, p[(axis + 2) % 3] = side * corner[k][1] * half;
        at[k] = add_point(s, p, normal);
    }
    add_triangle(s, at[0], at[1], at[2]);
    add_triangle(s, at[0], at[2], at[3]);
}

void solid_box(solid *s) {
    for (int axis = 0; axis < 3; axis++)
        for (int side = -1; side <= 1; side += 2) square(s, axis, side, 1);
}

void solid_square(solid *s, double half) {
    square(s, 2, 1, half);
    for (size_t i = 0; i < s->npoint; i++) s->point[i][2] = 0;
}

void solid_mesh(solid *s, const scene_mesh *m) {
    for (int t = 0; t < m->ntriangle; t++) {
        double p[3][3], a[3], b[3], n[3];
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) p[k][i] = (double)m->vertex[m->triangle[t][k]][i];
        for (int i = 0; i < 3; i++) a[i] = p[1][i] - p[0][i], b[i] = p[2][i] - p[0][i];
        for (int i = 0; i < 3; i++) n[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
        double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        if (!(length > 0)) continue; /* without area it is not seen */
        for (int i = 0; i < 3; i++) n[i] /= length;
        uint32_t first = add_point(s, p[0], n);
        add_point(s, p[1], n);
        add_point(s, p[2], n);
        add_triangle(s, first, first + 1, first + 2);
    }
}

void solid_free(solid *s) {
    free(s->point);
    free(s->normal);
    free(s->index);
    *s = (solid){0};
}
