/* coverage_arm.h -- coverage.c for an arm: angles and torques of six hinges. */
#ifndef COVERAGE_ARM_H
#define COVERAGE_ARM_H
/* usage: bench_coverage arm SETS RECORDINGS [KEY=VALUE...]; see coverage_arm.c. @return what main() does */
int coverage_arm(int argc, char **argv);
#endif
