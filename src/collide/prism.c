/* prism.c -- the cube, and the prism that stands for the flat faces of a cylinder: scaled by what shape has them. */
#include "collide/surface.h"

#define Q 0.70710678118654752440 /* sqrt(1/2) */
#define C 0.92387953251128675613 /* cos(pi/8) */
#define S 0.38268343236508977173 /* sin(pi/8) */

/* Corners by bits, as those of a box; faces twice the axis plus one if it is the positive one. */
static const double cube_v[][3] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                   {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {1, 1, 1}};
static const double cube_face[][3] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
static const int cube_edge[][2] = {{4, 6}, {2, 6}, {0, 2}, {0, 4}, {1, 3}, {3, 7},
                                   {5, 7}, {1, 5}, {4, 5}, {0, 1}, {6, 7}, {2, 3}};
static const int cube_face_at[] = {0, 4, 8, 12, 16, 20, 24};
static const int cube_face_vertex[] = {4, 6, 2, 0, 1, 3, 7, 5, 1, 5, 4, 0, 2, 6, 7, 3, 2, 3, 1, 0, 4, 5, 7, 6};
static const int cube_face_edge[] = {0, 1, 2, 3, 4, 5, 6, 7, 7, 8, 3, 9, 1, 10, 5, 11, 11, 4, 9, 2, 8, 6, 10, 0};
static const int cube_vertex_at[] = {0, 3, 6, 9, 12, 15, 18, 21, 24};
static const int cube_vertex_edge[] = {2, 3, 9, 4, 7, 9, 1, 2, 11, 4, 5, 11, 0, 3, 8, 6, 7, 8, 0, 1, 10, 5, 6, 10};
static const int cube_vertex_face[] = {0, 2, 4, 1, 2, 4, 0, 3, 4, 1, 3, 4, 0, 2, 5, 1, 2, 5, 0, 3, 5, 1, 3, 5};
const ti_hull ti_cube = {8,
                         12,
                         6,
                         cube_v,
                         cube_edge,
                         cube_face,
                         cube_face_at,
                         cube_face_vertex,
                         cube_face_edge,
                         cube_vertex_at,
                         cube_vertex_edge,
                         cube_vertex_face};

/* Of eight sides; faces 0 and 1 are the bottom and the top. */
static const double prism_v[][3] = {{1, 0, -1},  {Q, Q, -1},  {0, 1, -1}, {-Q, Q, -1}, {-1, 0, -1}, {-Q, -Q, -1},
                                    {0, -1, -1}, {Q, -Q, -1}, {1, 0, 1},  {Q, Q, 1},   {0, 1, 1},   {-Q, Q, 1},
                                    {-1, 0, 1},  {-Q, -Q, 1}, {0, -1, 1}, {Q, -Q, 1}};
static const double prism_face[][3] = {{0, 0, -1}, {0, 0, 1},   {C, S, 0},   {S, C, 0},  {-S, C, 0},
                                       {-C, S, 0}, {-C, -S, 0}, {-S, -C, 0}, {S, -C, 0}, {C, -S, 0}};
static const int prism_edge[][2] = {{6, 7}, {5, 6},  {4, 5},   {3, 4},   {2, 3},   {1, 2},   {0, 1},   {0, 7},
                                    {8, 9}, {9, 10}, {10, 11}, {11, 12}, {12, 13}, {13, 14}, {14, 15}, {8, 15},
                                    {1, 9}, {0, 8},  {2, 10},  {3, 11},  {4, 12},  {5, 13},  {6, 14},  {7, 15}};
static const int prism_face_at[] = {0, 8, 16, 20, 24, 28, 32, 36, 40, 44, 48};
static const int prism_face_vertex[] = {7, 6, 5,  4,  3, 2, 1,  0,  8, 9, 10, 11, 12, 13, 14, 15,
                                        0, 1, 9,  8,  1, 2, 10, 9,  2, 3, 11, 10, 3,  4,  12, 11,
                                        4, 5, 13, 12, 5, 6, 14, 13, 6, 7, 15, 14, 7,  0,  8,  15};
static const int prism_face_edge[] = {0, 1,  2,  3,  4, 5,  6,  7,  8, 9,  10, 11, 12, 13, 14, 15,
                                      6, 16, 8,  17, 5, 18, 9,  16, 4, 19, 10, 18, 3,  20, 11, 19,
                                      2, 21, 12, 20, 1, 22, 13, 21, 0, 23, 14, 22, 7,  17, 15, 23};
static const int prism_vertex_at[] = {0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45, 48};
static const int prism_vertex_edge[] = {6,  7,  17, 5,  6,  16, 4,  5,  18, 3,  4,  19, 2,  3,  20, 1,
                                        2,  21, 0,  1,  22, 0,  7,  23, 8,  15, 17, 8,  9,  16, 9,  10,
                                        18, 10, 11, 19, 11, 12, 20, 12, 13, 21, 13, 14, 22, 14, 15, 23};
static const int prism_vertex_face[] = {0, 2, 9, 0, 2, 3, 0, 3, 4, 0, 4, 5, 0, 5, 6, 0, 6, 7, 0, 7, 8, 0, 8, 9,
                                        1, 2, 9, 1, 2, 3, 1, 3, 4, 1, 4, 5, 1, 5, 6, 1, 6, 7, 1, 7, 8, 1, 8, 9};
const ti_hull ti_prism = {16,
                          24,
                          10,
                          prism_v,
                          prism_edge,
                          prism_face,
                          prism_face_at,
                          prism_face_vertex,
                          prism_face_edge,
                          prism_vertex_at,
                          prism_vertex_edge,
                          prism_vertex_face};
