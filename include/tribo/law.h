/* law.h -- the contact laws of the field, the algorithms that solve them, and what can be measured of an answer.
 *
 * A law says what impulses lambda and relative velocities c = J v + ref + R lambda go together at a contact; a solver
 * finds them. Each law is differentiated at its solution, whatever solver found it. docs/contact-laws.md compares them.
 */
#ifndef TRIBO_LAW_H
#define TRIBO_LAW_H
#include <tribo/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Laws: X(NAME, name, what it says). */
#define TRIBO_LAW_LIST(X)                                                                                              \
    X(NCP, "ncp", "Signorini, Coulomb, maximum dissipation")                                                           \
    X(CCP, "ccp", "the convex relaxation: the velocity in the dual cone")                                              \
    X(LCP, "lcp", "the friction pyramid")                                                                              \
    X(RAISIM, "raisim", "contact by contact the least kinetic energy at no normal velocity")                           \
    X(STOCHASTIC, "stochastic", "the NCP under noise: smoothed, or of least expected residual")

/** 0 stands for the scene's law, or the NCP. */
typedef enum tribo_law {
    TRIBO_LAW_DEFAULT,
#define TRIBO_X(NAME, name, text) TRIBO_LAW_##NAME,
    TRIBO_LAW_LIST(TRIBO_X)
#undef TRIBO_X
        TRIBO_LAW_END /**< one more than the last */
} tribo_law;

/** Algorithms: X(NAME, name, what it is). Which laws have which: tribo_law_has(). */
#define TRIBO_SOLVER_LIST(X)                                                                                           \
    X(LADDER, "ladder", "modes of the last step, Newton, falling compliance, interior point")                          \
    X(STAGGERED, "staggered", "alternate normal and friction problems, accelerated")                                   \
    X(STAGGERED_PLAIN, "staggered-plain", "the same as published")                                                     \
    X(PGS, "pgs", "projected Gauss-Seidel, contact by contact")                                                        \
    X(ADMM, "admm", "alternating directions, the penalty adapted")                                                     \
    X(NEWTON, "newton", "Newton: semismooth on the law, or on the convex primal")                                      \
    X(INTERIOR, "interior", "primal-dual interior point; its central path where kappa > 0")                            \
    X(LEMKE, "lemke", "complementary pivoting")                                                                        \
    X(BISECTION, "bisection", "contact by contact, the sliding direction by bisection")                                \
    X(BISECTION_CORRECTED, "bisection-corrected", "the same with de Saxce's correction; meets the NCP")                \
    X(CONTINUATION, "continuation", "Newton under falling noise")

/** 0 stands for the scene's solver, or the law's default, which is tribo_law_solver(law, 0). */
typedef enum tribo_solver {
    TRIBO_SOLVER_DEFAULT,
#define TRIBO_X(NAME, name, text) TRIBO_SOLVER_##NAME,
    TRIBO_SOLVER_LIST(TRIBO_X)
#undef TRIBO_X
        TRIBO_SOLVER_END /**< one more than the last */
} tribo_solver;

/** What softens a contact: the diagonal R >= 0 of c = J v + ref + R lambda. Of every law; the CCP's Newton needs it or
 *  a limit of it. */
typedef enum tribo_softness {
    TRIBO_SOFTNESS_DEFAULT,  /**< 0 stands for the scene's, or none */
    TRIBO_SOFTNESS_NONE,     /**< hard: R = 0 */
    TRIBO_SOFTNESS_PHYSICAL, /**< R = compliance at the normal, 1/kg, as of tribo_softness_of_spring(); 1 % of it
                                across; R = dry_compliance of dry friction of joints */
    TRIBO_SOFTNESS_MUJOCO    /**< R = (1 - impedance) / impedance G_nn at the normal, that over impratio across */
} tribo_softness;

/** How noise enters the stochastic law. */
typedef enum tribo_smoothing {
    TRIBO_SMOOTHING_DEFAULT,  /**< 0 stands for the scene's, or Gaussian */
    TRIBO_SMOOTHING_LOGISTIC, /**< expectation of the NCP function under logistic noise */
    TRIBO_SMOOTHING_GAUSSIAN, /**< under Gaussian noise */
    TRIBO_SMOOTHING_ERM /**< least expected squared residual under Gaussian noise; dense: three matrices (3 nc,3 nc) */
} tribo_smoothing;

/** What bodies do that hit each other and leave within a step: docs/math.md, Impacts. */
typedef enum tribo_impact {
    TRIBO_IMPACT_DEFAULT, /**< 0 stands for the scene's, or Poisson's (with a fixed number of rounds: Newton's) */
    TRIBO_IMPACT_POISSON, /**< restitution of impulses: compression, then at least e times what each contact took.
                               There is always an answer, and it gains no energy */
    TRIBO_IMPACT_NEWTON   /**< restitution of velocities, contact by contact, [LeLidec21]. Where it has no answer or
                               gains energy Poisson's takes its place, and the step says TRIBO_SUBSTITUTED */
} tribo_impact;

/** Options that count although they are 0 or false: bits of tribo_law_options.given. */
enum {
    TRIBO_GIVEN_RAW = 1,           /**< raw, so that false turns off a scene's */
    TRIBO_GIVEN_CIRCUMSCRIBED = 2, /**< circumscribed */
    TRIBO_GIVEN_FACET_ANGLE = 4,   /**< facet_angle */
    TRIBO_GIVEN_KAPPA = 8,         /**< kappa: 0 is the end of the path */
    TRIBO_GIVEN_PENALTY = 16,      /**< penalty: 0 is from the problem */
    TRIBO_GIVEN_MAX_ITER = 32      /**< max_iter: 0 is the solver's own */
};

/** Which law, which solver, and their numbers. All zero is a valid default: the scene's law, or the NCP. */
typedef struct tribo_law_options {
    unsigned given; /**< what the scene does not come in for though it is 0: TRIBO_GIVEN_..., set by tribo_law_set() */
    tribo_law law;  /**< which law */
    tribo_impact impact; /**< which law of impacts; beside every contact law */
    tribo_solver solver; /**< which algorithm; one that the law has */
    bool raw; /**< leave the solver's answer as it is. Otherwise, where it converged, Newton steps on the law take it to
                   the canonical solution (tribo/contact.h), which is what the reverse differentiates. */
    int max_iter;       /**< iterations of the solver; 0 = its own. Of interior and continuation: of each of their
                           attempts. The ladder and the NCP's Newton have limits of their own. */
    double relaxation;  /**< over-relaxation of pgs, admm, staggered, bisection, in (0,2); others: no effect; 0 = 1 */
    double penalty;     /**< ADMM: first penalty rho, in units of the problem; 0 = from the problem */
    int facets;         /**< LCP: facets of the pyramid, 4 to 64; 0 = 4 */
    double facet_angle; /**< LCP: from t1 to the first edge of the pyramid, rad */
    bool circumscribed; /**< LCP: facets touch the cone; otherwise the pyramid's edges lie on it */
    tribo_softness softness;   /**< what R is */
    double compliance;         /**< 1/kg, of TRIBO_SOFTNESS_PHYSICAL */
    double impedance;          /**< in (0,1), of TRIBO_SOFTNESS_MUJOCO; 0 = 0.9 */
    double impratio;           /**< > 0, of TRIBO_SOFTNESS_MUJOCO; 0 = 1 */
    double kappa;              /**< interior point: gap at which the central path is left, J; 0 = its end */
    tribo_smoothing smoothing; /**< stochastic: how noise enters */
    double noise;          /**< stochastic: standard deviation of the normal and tangential velocity, m/s; 0 = 0.01 */
    double dry_compliance; /**< of dry friction of joints, of TRIBO_SOFTNESS_PHYSICAL: below its bound a joint creeps by
                                this times the impulse; 1/kg of slides, 1/(kg m^2) of hinges; 0 = it sticks */
} tribo_law_options;

/** R of a spring of stiffness k (N/m) and dissipation time tau (s) over a step dt: 1 / (dt k (dt + tau)), 1/kg. */
TRIBO_API double tribo_softness_of_spring(double k, double tau, double dt);

/** Name of a law, as files and the command have it; NULL if there is none. */
TRIBO_API const char *tribo_law_name(tribo_law law);
TRIBO_API const char *tribo_solver_name(tribo_solver solver); /**< the same of a solver */
/** What it is, in a few words; NULL if there is none. */
TRIBO_API const char *tribo_law_text(tribo_law law);
TRIBO_API const char *tribo_solver_text(tribo_solver solver); /**< the same of a solver */
/** By name; 0 if there is none. */
TRIBO_API tribo_law tribo_law_find(const char *name);
TRIBO_API tribo_solver tribo_solver_find(const char *name); /**< the same of a solver */
/** The k-th solver of a law, k = 0 its default; 0 beyond the last. */
TRIBO_API tribo_solver tribo_law_solver(tribo_law law, int k);
/** Whether a law can be solved by a solver. */
TRIBO_API bool tribo_law_has(tribo_law law, tribo_solver solver);

/** Set one option by its word, which is its name in tribo_law_options (- and _ alike), as scenes and the command have
 *  it: tribo_law_set(&o, "law", "ccp", &diag), (&o, "facets", "8", &diag).
 *  @return TRIBO_OK; TRIBO_E_ARG (no such word, or not a value of it: diag says what there is; o as it was). */
TRIBO_API TRIBO_CHECK tribo_status tribo_law_set(tribo_law_options *o, const char *word, const char *value,
                                                 tribo_diag *diag);
/** The k-th word; NULL beyond the last. */
TRIBO_API const char *tribo_law_word(int k);
/** Whether the values of the k-th word are names rather than numbers. */
TRIBO_API bool tribo_law_word_is_name(int k);

/** Residuals of an answer, dimensionless, worst contact: docs/math.md eq. (37) and those of the other laws. */
typedef struct tribo_residuals {
    double primal;          /**< distance of lambda to its cone, over the largest impulse */
    double dual;            /**< distance of the (shifted) velocity to the dual cone, over the largest free velocity */
    double complementarity; /**< their product, over both */
} tribo_residuals;

/** What an answer is worth. [LeLidec23] II and IV. */
typedef struct tribo_measures {
    tribo_residuals law;  /**< of the law that was solved */
    tribo_residuals ncp;  /**< of Signorini, Coulomb and maximum dissipation */
    double dissipation;   /**< kinetic energy that the impulses took from the free motion, J */
    double friction_loss; /**< what of it goes in slip at the end of the step: the sum of -lambda_t . (J v)_t, J */
    double internal; /**< norm of what sets lambda apart from the least impulses that do the same, N s: docs/math.md eq.
                        (71) */
    double internal_share; /**< that over the norm of lambda */
    double lift;           /**< largest normal velocity at a contact that carries an impulse, m/s */
} tribo_measures;

#ifdef __cplusplus
}
#endif
#endif
