"""A policy trained through the simulator: the gradient of a rollout of 64 carts reaches the policy's weights.

A pole stands on a cart; the policy is a small network; the loss is where pole and cart are over a second of motion. Then it is
tried on poles that it has not seen, for ten seconds."""
import sys

import torch
import tribo
import tribo.envs
import tribo.torch

WORLDS, HORIZON, ROUNDS = 64, 60, int(sys.argv[1]) if len(sys.argv) > 1 else 120
torch.manual_seed(0)
torch.set_num_threads(1)
env = tribo.envs.CartPole(WORLDS, max_steps=500)
model, skip = env.model, env.skip
policy = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1), torch.nn.Tanh()).double()
optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)

for _ in range(ROUNDS):
    x = 0.4 * (torch.rand(WORLDS, 4, dtype=torch.float64) - 0.5)
    loss = 0
    for _ in range(HORIZON):
        force = 10 * policy(x)
        U = torch.zeros(WORLDS, skip, model.nu, dtype=torch.float64)
        U[:, :, 0] = force
        x = tribo.torch.rollout(model, x, U)[:, -1]
        loss = loss + (x * x @ torch.tensor([0.2, 2.0, 0.02, 0.05], dtype=torch.float64)).mean()
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(policy.parameters(), 10.0)
    optimizer.step()

obs, _ = env.reset(seed=7)
fallen = torch.zeros(WORLDS, dtype=torch.bool)
for _ in range(500):
    with torch.no_grad():
        actions = policy(torch.from_numpy(obs)).numpy()
    obs, _, terminated, _, _ = env.step(actions)
    fallen |= torch.from_numpy(terminated)
print(f"loss {loss.item() / HORIZON:.6f}")
print(f"still_standing {1 - fallen.double().mean().item():.3f}")
