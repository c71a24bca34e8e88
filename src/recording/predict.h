/* predict.h -- what the scene says of the next rows, from a row as it is read. */
#ifndef TI_PREDICT_H
#define TI_PREDICT_H
#include "recording/rows.h"

/* Of free bodies and joints of one axis. How badly the scene predicts windows of a reading of the recording from their
 * first rows: a number a window, log(1 + square of the error over the noise).
 * @param columns start from the velocity columns, else from differences of poses
 * @param most stop where their sum is beyond this
 * @return how many windows; the same ones for every reading of the same rows. */
int ti_predict_windows(tribo_checked *c, double *x, bool columns, double most, double *miss);
/* The misses of all windows, and of free bodies overlap; more than `most` where they are. NaN = no window. */
double ti_predict_total(tribo_checked *c, double *x, double most);
/* Is a reading with these misses to be taken for one with those? */
bool ti_predict_convinces(double now, double least);
#define TI_EVIDENCE 9
/* Make ready for so many steps a row, and at most so many windows. */
tribo_status ti_predict_begin(tribo_checked *c, int steps, int windows);
void ti_predict_end(tribo_checked *c);

#endif
