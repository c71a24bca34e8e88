/* scene.h -- scenes and recordings as the verbs load them: with a message where they are wrong. */
#ifndef TRIBO_TOOLS_SCENE_H
#define TRIBO_TOOLS_SCENE_H
#include "common.h"
#include <tribo/model.h>
#include <tribo/sim.h>
#include <tribo/trajectory.h>

/* How scenes are loaded, the same for every verb, and what a code of theirs sets, for the rest of the process. */
enum { SCENE_OPTION = 800 };
extern const option_group group_scene;
/* @return EXIT_SUCCESS, also where the code is none of theirs; EXIT_USAGE after a message. */
int scene_option(const verb *v, int code, const char *value);
/* The options as they are now, for a verb that asks for more. */
tribo_load_options scene_options(void);

/* What verbs that make steps take besides, through scene_option(), and the options of a step by it. */
extern const option_group group_step;
tribo_options step_options(void);
/* A workspace for steps of dt in *ws: the one that is there where that was its step, to rounding; else another. */
tribo_status step_workspace(const tribo_model *m, const tribo_options *o, double dt, tribo_ws **ws);
/* How many contacts the last step wanted, where that is more than there was room for; else 0. */
int step_wanted(const tribo_ws *ws);
/* tribo_status_text() of a step, with what helps on the command line: step_wanted(), 0 where it is not known. The text
 * holds until the next one. */
const char *step_text(tribo_status s, int wanted);

/* Load a scene, a recording, controls. @return EXIT_SUCCESS, or the verb's exit status after a message. */
int scene_load(const char *path, tribo_model **m);
int recording_load(const char *path, const tribo_model *m, tribo_trajectory **t);
int controls_load(const char *path, const tribo_model *m, tribo_controls **c);
/* The state of the first row of a recording; what it did not observe is as the scene starts.
 * @param x [out] (nx). @return as above. */
int scene_start(const char *path, const tribo_model *m, double *x);
/* Times of the rows of a motion: those of a recording (NULL: 0 alone) as far as the duration goes, 0 = all; where that
 * is beyond the last of them, a step each to its end.
 * @param time [out] (rows), the caller's. @param most rows at most. @return as above. */
int motion_times(const verb *v, const tribo_trajectory *t, double duration, double dt, double most, double **time,
                 int *rows);

#endif
