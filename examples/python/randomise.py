"""Domain randomisation is a matrix of p, a row a world: how far do a thousand cubes slide, and what decides that?"""
import numpy as np
import tribo

WORLDS, STEPS = 1000, 200
model = tribo.load("data/scenes/slide.xml")
rng = np.random.default_rng(1)
P = model.params.tile(WORLDS)
P["floor/friction"] = rng.uniform(0.1, 0.4, WORLDS)
P["gravity/z"] = -9.81 * rng.uniform(0.9, 1.1, WORLDS)

run = tribo.rollout(model, p=P, steps=STEPS)
end = run.X[:, -1, 0]
lx = np.zeros((WORLDS, STEPS + 1, model.ndx))
lx[:, -1, 0] = 1
grad = run.backward(lx, x0=False, U=False).p

t = STEPS * model.dt
drag = P["floor/friction"] * P["gravity/z"]
exact = 2 * t + 0.5 * drag * t * (t + model.dt)  # the closed form of the discrete motion
print(f"mean {end.mean():.6f}")
print(f"spread {end.std():.6f}")
print(f"worst_error {abs(end - exact).max():.3e}")
print(f"worst_gradient_error {abs(grad['floor/friction'] - 0.5 * P['gravity/z'] * t * (t + model.dt)).max():.3e}")
