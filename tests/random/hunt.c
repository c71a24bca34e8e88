/* hunt.c -- random scenes in any number: what fails, one line each, and the scenes as files. */
#include "judge.h"
#include <stdlib.h>
#include <sys/stat.h>

typedef struct request {
    long scenes;
    uint64_t seed;
    const char *out;
    flaw only;
    bool shrink, verbose, capsules, robots, warm, spins, rounds, brakes;
    int keep; /* files of each flaw at most */
    const char *file;
    int steps;
} request;

static void usage(void) {
    puts("usage: hunt N [--seed S] [--out DIR] [--only WORD] [--keep K] [--shrink] [--scene] [--capsules|--robots] "
         "[--warm] [--spins] [--rounds] [--brakes]\n"
         "       hunt SCENE.xml [--steps N] [--out DIR] [--only WORD] [--shrink] [--warm]\n"
         "  judge the random scenes of seeds S to S + N - 1 (S = 1); exit status 4 if any has a flaw;\n"
         "  or a scene file, gradients over its N steps from its start\n"
         "  --out DIR    where scenes with a flaw are written as MJCF, with their forces as CSV; out/hunt\n"
         "  --only WORD  look for this flaw alone\n"
         "  --keep K     write at most K scenes of each flaw; 20\n"
         "  --shrink     leave out of a scene what does not matter before it is written\n"
         "  --scene      write every scene, flaw or not\n"
         "  --capsules   scenes with capsules in them\n"
         "  --robots     trees with joints, of all shapes; they are not shrunk\n"
         "  --spins      materials that have friction against turning, and give way\n"
         "  --rounds     boxes with round edges\n"
         "  --brakes     free joints of robots with damping, armature and dry friction\n"
         "  --warm       each step starts from the contact impulses of the one before");
    for (int f = 0; f < FLAWS; f++) printf("  %-12s %s\n", flaw_word((flaw)f), flaw_text((flaw)f));
}

static bool number(const char *text, unsigned long long *out) {
    char *end;
    *out = text ? strtoull(text, &end, 10) : 0;
    return text && *text >= '0' && *text <= '9' && !*end;
}

static bool find_flaw(const char *word, flaw *f) {
    for (int i = 0; word && i < FLAWS; i++)
        if (!strcmp(word, flaw_word((flaw)i))) return *f = (flaw)i, true;
    return false;
}

static bool parse(int argc, char **argv, request *r) {
    *r = (request){.seed = 1, .out = "out/hunt", .only = FLAWS, .keep = 20};
    unsigned long long n;
    if (argc < 2) return false;
    if (number(argv[1], &n))
        r->scenes = (long)n;
    else
        r->scenes = 1, r->file = argv[1], r->steps = 1;
    for (int i = 2; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--shrink"))
            r->shrink = true;
        else if (!strcmp(argv[i], "--scene"))
            r->verbose = true;
        else if (!strcmp(argv[i], "--capsules"))
            r->capsules = true;
        else if (!strcmp(argv[i], "--robots"))
            r->robots = true;
        else if (!strcmp(argv[i], "--spins"))
            r->spins = true;
        else if (!strcmp(argv[i], "--rounds"))
            r->rounds = true;
        else if (!strcmp(argv[i], "--brakes"))
            r->brakes = true;
        else if (!strcmp(argv[i], "--warm"))
            r->warm = true;
        else if (!strcmp(argv[i], "--seed") && number(next, &n))
            r->seed = n, i++;
        else if (!strcmp(argv[i], "--steps") && number(next, &n))
            r->steps = (int)n, i++;
        else if (!strcmp(argv[i], "--keep") && number(next, &n))
            r->keep = (int)n, i++;
        else if (!strcmp(argv[i], "--out") && next)
            r->out = next, i++;
        else if (!strcmp(argv[i], "--only") && find_flaw(next, &r->only))
            i++;
        else
            return false;
    }
    return true;
}

static void save(const request *r, const scene *s, const char *word, const char *remark) {
    char path[512];
    if (s->robot) return; /* its seed makes it again */
    snprintf(path, sizeof path, "%s/%s-%llu.xml", r->out, word, (unsigned long long)s->seed);
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        return;
    }
    scene_write(s, f, remark);
    fclose(f);
    bool forced = false;
    for (int i = 0; i < s->nbody; i++) forced = forced || length(s->b[i].force) + length(s->b[i].torque) > 0;
    if (!forced) return;
    snprintf(path, sizeof path, "%s/%s-%llu.csv", r->out, word, (unsigned long long)s->seed);
    if ((f = fopen(path, "w"))) scene_write_control(s, f), fclose(f);
}

static void tell(const request *r, const scene *s, flaw f, const verdict *v) {
    printf("%-11s seed %llu step %d of %d, dt %.2g, %d bodies, %s: %s\n", flaw_word(f), (unsigned long long)s->seed,
           v->step[f], s->steps, s->dt, s->nbody, s->story, v->what[f]);
    scene small = *s;
    verdict again = *v;
    if (r->shrink && !s->robot) {
        shrink(&small, f);
        run(&small, f, &again);
        printf("            shrunk to %d bodies, %d geoms, step %d: %s\n", small.nbody, small.ngeom, again.step[f],
               again.what[f]);
    }
    char remark[256];
    snprintf(remark, sizeof remark, "%s, step %d: %s", flaw_word(f), again.step[f], again.what[f]);
    save(r, &small, flaw_word(f), remark);
}

/* The i-th scene that is asked for. */
static bool next_scene(const request *r, long i, scene *s) {
    if (!r->file) {
        if (r->robots)
            robot_make(s, r->seed + (uint64_t)i);
        else
            scene_make(s, r->seed + (uint64_t)i, r->capsules);
        s->warm = r->warm, s->brakes = r->brakes;
        if (r->spins) scene_spin(s);
        if (r->rounds) scene_round(s);
        return true;
    }
    tribo_diag diag = {0};
    if (!scene_load(s, r->file, &diag)) {
        fprintf(stderr, "%s: %s\n", r->file, diag.text);
        return false;
    }
    s->steps = s->horizon = r->steps, s->warm = r->warm;
    return true;
}

typedef struct sums {
    long scenes[FLAWS], asked[FLAWS], unresolved, kinks, flawed;
} sums;

static void count(const request *r, const scene *s, const verdict *v, sums *n) {
    for (int f = 0; f < FLAWS; f++) {
        n->asked[f] += v->asked[f];
        if (!v->found[f] || (r->only != FLAWS && r->only != (flaw)f)) continue;
        n->flawed++;
        if (n->scenes[f]++ < r->keep) tell(r, s, (flaw)f, v);
    }
    n->unresolved += v->unresolved, n->kinks += v->kinks;
    fflush(stdout);
}

int main(int argc, char **argv) {
    request r;
    if (!parse(argc, argv, &r)) return usage(), 2;
    mkdir("out", 0777), mkdir(r.out, 0777);
    sums n = {0};
    for (long i = 0; i < r.scenes; i++) {
        scene s;
        verdict v;
        if (!next_scene(&r, i, &s)) return 3;
        run(&s, r.only, &v);
        if (r.verbose) save(&r, &s, "scene", "as it was made");
        count(&r, &s, &v, &n);
    }
    printf("\n%-12s %8s %12s  of %ld scenes\n", "flaw", "scenes", "asked", r.scenes);
    for (int f = 0; f < FLAWS; f++)
        printf("%-12s %8ld %12ld  %s\n", flaw_word((flaw)f), n.scenes[f], n.asked[f], flaw_text((flaw)f));
    printf("directions without a settled difference: %ld; at kinks that were counted: %ld\n", n.unresolved, n.kinks);
    return n.flawed ? 4 : 0;
}
