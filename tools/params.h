/* params.h -- names of a scene's parameters: their units, and the nearest to one that there is not. */
#ifndef TRIBO_TOOLS_PARAMS_H
#define TRIBO_TOOLS_PARAMS_H
#include <stddef.h>
#include <tribo/model.h>

/* "kg", "m/s^2", ...; "1" where there is none, "" where it is the actuator's to say. */
const char *param_unit(const tribo_model *m, const tribo_param_info *info);
/* The name of a parameter or of a group of them that is nearest to `name` by letters that are missing, wrong, too many
 * or exchanged. @param nearest [out] (128). @return false if none is near. */
bool param_nearest(const tribo_model *m, const char *name, char nearest[128]);
/* The parameters of a group, by name, at most six of them. @return how many there are. */
int param_group(const tribo_model *m, const char *name, char *list, size_t size);

/* What is wrong of a name of no parameter that counts: there is none, or no step depends on it; and which does. */
void param_refusal(const tribo_model *m, const char *name, char *text, size_t size);

#endif
