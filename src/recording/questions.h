/* questions.h -- what is asked of a recording, a file a subject. */
#ifndef TI_QUESTIONS_H
#define TI_QUESTIONS_H
#include "recording/rows.h"

/* parts.c: positions that are there in part. */
void ti_check_parts(tribo_checked *c);
/* Bodies of which positions alone were measured turned as the scene has them, for questions of lengths, times and rows
 * that are missing; and back. */
void ti_turn_as_scene(tribo_checked *c);
void ti_turn_no_more(tribo_checked *c);
/* evened.c: times that jitter about rows which follow one another evenly. */
void ti_check_times(tribo_checked *c);
/* columns.c: velocity columns against the poses: units, frames, delays, kinds. */
void ti_check_columns(tribo_checked *c);
/* Take velocity columns that are half a sample off to the instant of their row, where the scene says that this is
 * better; needs ti_predict_begin(). */
void ti_check_kinds(tribo_checked *c);
/* joints.c: columns of hinges and slides: degrees, millimetres, milliseconds, delays, kinds. */
void ti_check_joints(tribo_checked *c);
/* swings.c: angles alone: degrees and names by what the scene predicts; needs ti_predict_begin(). */
void ti_check_swings(tribo_checked *c);
/* pressing.c: contacts push planes, and never pull. */
void ti_check_forces(tribo_checked *c);
/* gaps.c: rows that the times say are missing. */
void ti_note_times(tribo_checked *c);
/* gaps.c: times that jump by far more than the recording lasts. */
void ti_check_clock(tribo_checked *c);
/* gaps.c: rows that are missing, rows that are wrong, names exchanged half way. */
void ti_check_gaps(tribo_checked *c);
/* units.c: gravity, and where things stand, against the units of length and time. */
void ti_check_units(tribo_checked *c);
/* orders.c: orders, names and delays by what the scene predicts from a row for the next ones. */
void ti_check_orders(tribo_checked *c);

#endif
