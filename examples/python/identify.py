"""Friction, mass and restitution from recordings of two cubes that collide, with standard errors."""
import pathlib

import tribo

model = tribo.load("data/scenes/collision.xml")
fit = tribo.identify(model, sorted(pathlib.Path("data/recordings").glob("*.csv")),
                     {"cube/mass": 1.0, "floor/friction": 0.4, "impact/restitution": 0.3})
for e in fit.estimates:
    print(f"{e.name} {e.value:.4f}")
    print(f"{e.name}/std_error {e.std_error:.4f}")
print(f"directions_left_open {len(fit.undetermined)}")
