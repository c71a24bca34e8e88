/* predict.h -- what the scene says of the next rows, from a row as it is read. */
#ifndef TI_PREDICT_H
#define TI_PREDICT_H
#include "recording/rows.h"

/* How badly the scene predicts windows of a reading of the recording from their first rows: a number a
 * window, log(1 + square of the error over the noise).
 * @param columns start from the velocity columns, else from differences of poses
 * @param most stop where their sum is beyond this
 * @return how many windows; the same ones for every reading of the same rows. */
int ti_predict_windows(tribo_checked *c, double *x, bool columns, double most, double *miss);
/* Make ready for so many steps a row, and at most so many windows. */
tribo_status ti_predict_begin(tribo_checked *c, int steps, int windows);
void ti_predict_end(tribo_checked *c);

#endif
