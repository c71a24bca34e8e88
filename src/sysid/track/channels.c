/* channels.c -- the table of what a recording can say of a state: by joint its position, rotation, and their rates. */
#include "sysid/track/fit.h"

/* The blocks of half a tangent of one joint: which kinds it has, where, and how long. */
static int halves(const ti_joint *j, ti_block out[2]) {
    const ti_joint_row *row = ti_joint_of(j->kind);
    bool axis = row->nv == 1, linear = axis ? j->kind == TI_JOINT_SLIDE : row->turn != 0;
    int n = 0, quat = row->quat < 0 ? -1 : j->q + row->quat;
    if (linear)
        out[n++] =
            (ti_block){.kind = TRIBO_BLOCK_POSITION, .at = j->v, .n = row->turn < 0 ? row->nv : row->turn, .quat = -1};
    if (row->turn >= 0 || !linear) {
        int turn = row->turn > 0 ? row->turn : 0;
        out[n++] = (ti_block){.kind = TRIBO_BLOCK_ROTATION, .at = j->v + turn, .n = row->nv - turn, .quat = quat};
    }
    return n;
}

int ti_blocks(const tribo_model *m, ti_block *block, int *entry, int *groups) {
    int n = 0;
    *groups = TRIBO_BLOCKS;
    for (int k = 0; k < ti_joints(m); k++) {
        ti_block half[2];
        int count = halves(&m->joint[k], half);
        for (int i = 0; i < 2 * count; i++, n++) {
            ti_block b = half[i % count];
            bool rate = i >= count;
            b.joint = k;
            if (rate) b.kind += TRIBO_BLOCK_VELOCITY, b.at += m->size.nv, b.quat = -1;
            b.group = m->joint[k].kind == TI_JOINT_FREE ? b.kind : (*groups)++;
            if (block) block[n] = b;
            for (int j = 0; entry && j < b.n; j++) entry[b.at + j] = n;
        }
    }
    return n;
}

int ti_block_source(const tribo_sysid *s, const ti_block *b) {
    const ti_joint *j = &s->m->joint[b->joint];
    if (b->quat >= 0) return b->quat;
    return b->at >= s->z.nv ? s->z.nq + (b->at - s->z.nv) : j->q + (b->at - j->v);
}
