"""Friction from a slide, by torch.optim: the simulator is one function among others."""
import torch
import tribo
import tribo.torch

model = tribo.load("data/scenes/slide.xml")
truth = model.params.copy()
truth["floor/friction"] = 0.31
seen = torch.from_numpy(tribo.rollout(model, p=truth, steps=300).X[:, :3].copy())  # where the cube was

at = truth.names.index("floor/friction")
theta = torch.tensor([0.6], dtype=torch.float64).log().requires_grad_()  # its logarithm, which may be any number
base = torch.tensor(model.params, dtype=torch.float64)
optimizer = torch.optim.LBFGS([theta], line_search_fn="strong_wolfe", tolerance_change=1e-16, tolerance_grad=1e-12)


def closure():
    optimizer.zero_grad()
    p = base.index_put((torch.tensor([at]),), theta.exp())
    loss = (tribo.torch.rollout(model, p=p, steps=300)[:, :3] - seen).pow(2).sum()
    loss.backward()
    return loss


for _ in range(5):
    optimizer.step(closure)
print(f"friction {theta.exp().item():.9f}")
