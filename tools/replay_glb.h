/* replay_glb.h -- a replay as a glTF file that other programs open, with its motion. */
#ifndef TRIBO_TOOLS_REPLAY_GLB_H
#define TRIBO_TOOLS_REPLAY_GLB_H
#include "replay.h"
#include <stdbool.h>
#include <stdio.h>

/* Binary glTF 2.0: nodes by the names of tracks, bodies and geoms, one animation; y up, as glTF has it. A body that was
 * not seen stays where it was. @return false without memory. */
bool replay_glb(FILE *f, const replay *r);

#endif
