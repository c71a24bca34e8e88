/* scene.h -- scenes and recordings as the verbs load them: with a message where they are wrong. */
#ifndef TRIBO_TOOLS_SCENE_H
#define TRIBO_TOOLS_SCENE_H
#include "common.h"
#include <tribo/model.h>
#include <tribo/trajectory.h>

/* Load a scene, a recording, controls. @return EXIT_SUCCESS, or the verb's exit status after a message. */
int scene_load(const char *path, tribo_model **m);
int recording_load(const char *path, const tribo_model *m, tribo_trajectory **t);
int controls_load(const char *path, const tribo_model *m, tribo_controls **c);
/* The state of the first row of a recording; what it did not observe is as the scene starts.
 * @param x [out] (nx). @return as above. */
int scene_start(const char *path, const tribo_model *m, double *x);

#endif
