#!/bin/sh
# examples.sh -- the figures of the examples, drawn again; from the root of the project.
set -e
for name in friction mass friction_mass mass_restitution information pyramid throw push slide corners drag steps raisim noise ratio consistency robots compliance block finger; do
    "build/examples/$name" docs/figures >/dev/null
done
if [ -n "$TRIBO_DATA" ]; then build/examples/convergence docs/figures >/dev/null; fi
