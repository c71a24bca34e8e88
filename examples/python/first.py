"""How far does a cube slide, and how does that change with friction?"""
import numpy as np
import tribo

STEPS = 500
model = tribo.load("data/scenes/slide.xml")
p = model.params.copy()  # every physical number, as an argument of the step

run = tribo.rollout(model, p=p, steps=STEPS)
lx = np.zeros((STEPS + 1, model.ndx))
lx[STEPS, 0] = 1  # L = where the cube is in the end, along x
grad = run.backward(lx)

print(f"position {run.X[STEPS, 0]:.9f}")
print(f"d(position)/d(friction) {grad.p['floor/friction']:.9f}")
