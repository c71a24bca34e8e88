/* identify_result.c -- the files that `identify` writes besides its page: the scene with the estimates, result.json. */
#include "crossval.h"
#include "found.h"
#include "params.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int write_scene(const identification *id) {
    char *path = join_path(id->a->out, "identified.xml");
    tribo_diag diag = {0};
    if (!path) return trouble("no memory");
    const char *scene = found(id->a->scene, "scene", ".xml");
    tribo_status s = scene ? tribo_model_save(id->m, id->p, scene, path, &diag) : TRIBO_E_IO;
    int status = s < 0 ? trouble("%s: %s", path, diag.text[0] ? diag.text : tribo_status_text(s)) : EXIT_SUCCESS;
    free(path);
    return status;
}

static json_t *errors_or_null(const mean_errors *sum, double loss) {
    if (!sum->n) return json_null();
    tribo_errors e = mean_of(sum);
    json_t *o = errors_json(&e);
    json_object_set_new(o, "recordings", json_integer(sum->n));
    json_object_set_new(o, "loss", json_number(loss));
    return o;
}

static json_t *parameters_json(const identification *id) {
    json_t *list = json_array();
    for (int i = 0; i < id->nfree; i++) {
        tribo_param_info info;
        const tribo_estimate *e = id->est + i;
        json_t *o = json_object();
        json_object_set_new(o, "name", json_string(free_name(id, i, &info)));
        json_object_set_new(o, "unit", json_string(free_unit(id, i)));
        json_object_set_new(o, "start", json_number(e->start));
        json_object_set_new(o, "estimate", json_number(id->value[i]));
        json_object_set_new(o, "std_error", json_number(id->observed ? e->std_error : (double)NAN));
        json_object_set_new(o, "low95", json_number(id->observed ? e->low95 : (double)NAN));
        json_object_set_new(o, "high95", json_number(id->observed ? e->high95 : (double)NAN));
        json_object_set_new(o, "identifiable", json_boolean(id->observed && e->identifiable));
        json_object_set_new(o, "remark", json_string(estimate_remark(id, i)));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *undetermined_json(const identification *id) {
    json_t *list = json_array();
    for (int k = 0; k < id->nopen; k++) {
        json_t *direction = json_object();
        for (int i = 0; i < id->nfree; i++) {
            tribo_param_info info;
            double x = id->direction[k * id->nfree + i];
            if (fabs(x) > 1e-3) json_object_set_new(direction, free_name(id, i, &info), json_number(x));
        }
        json_array_append_new(list, direction);
    }
    return list;
}

static json_t *residuals_json(const identification *id) {
    static const char *const kinds[] = {"position", "rotation"};
    json_t *all = json_object();
    for (int kind = 0; kind < QUALITY_KINDS && id->left.recordings; kind++) {
        json_t *o = json_object();
        json_object_set_new(o, "rms", json_number(id->left.rms[kind]));
        json_object_set_new(o, "noise", json_number(id->left.sigma[kind]));
        json_object_set_new(o, "correlation", json_number(id->left.correlation[kind]));
        json_object_set_new(all, kinds[kind], o);
    }
    return all;
}

static json_t *result_json(const identification *id) {
    json_t *all = json_object();
    json_object_set_new(all, "scene", json_string(id->a->scene));
    json_object_set_new(all, "parameters", parameters_json(id));
    json_object_set_new(all, "undetermined", undetermined_json(id));
    if (id->late != 0) json_object_set_new(all, "late", json_number(id->late));
    if (id->late != 0) json_object_set_new(all, "late_std_error", json_number(id->late_error));
    json_object_set_new(all, "loss", json_number(id->progress.loss));
    json_object_set_new(all, "loss_start", json_number(id->progress.loss_start));
    json_object_set_new(all, "iterations", json_integer(id->progress.iteration));
    json_object_set_new(all, "evaluations", json_integer(id->progress.evaluations));
    json_object_set_new(all, "gradient_norm", json_number(id->progress.gradient_norm));
    json_object_set_new(all, "converged", json_boolean(id->progress.converged));
    json_object_set_new(all, "settled", json_boolean(id->progress.settled));
    json_object_set_new(all, "others", json_integer(id->progress.others));
    json_object_set_new(all, "interrupted", json_boolean(id->interrupted));
    json_object_set_new(all, "residuals", residuals_json(id));
    json_object_set_new(all, "warnings", id->warning[0] ? json_pack("[s]", id->warning) : json_array());
    if (id->comparison) json_object_set_new(all, "comparison", comparison_json(id->comparison));
    json_object_set_new(all, "train", errors_or_null(&id->train, id->progress.loss));
    json_object_set_new(all, "validation", errors_or_null(&id->held, id->validation_loss));
    json_object_set_new(all, "seconds", json_number(id->seconds));
    return all;
}

int write_result(const identification *id, bool last) {
    char *path = join_path(id->a->out, "result.json");
    out_file file;
    if (!path) return trouble("no memory");
    if (!out_open(&file, path)) {
        free(path);
        return EXIT_TROUBLE;
    }
    json_t *all = result_json(id);
    bool good = json_write(file.f, all, true);
    if (good && last && id->a->json) good = json_write(stdout, all, true);
    json_decref(all);
    if (!good) out_discard(&file);
    good = good && out_close(&file);
    int status = good ? EXIT_SUCCESS : trouble("%s could not be written", path);
    free(path);
    return status;
}
