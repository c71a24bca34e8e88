"""Rollouts inside of torch.autograd.

    import torch, tribo, tribo.torch

    p = torch.tensor(model.params, requires_grad=True)
    X = tribo.torch.rollout(model, x0, U, p)        # (steps+1, nx), or (worlds, steps+1, nx)
    X[..., -1, 0].sum().backward()                  # p.grad, U.grad, x0.grad

One function a rollout, the batch inside of C: what autograd sees is a single node, whose reverse is the library's. Gradients
are by the numbers of a state: of a quaternion in x0 what is along it counts for nothing, as a step makes it unit. Tensors
are float64 on the CPU, or an ArrayError says what was found; strides are fine, as they are copied anyway. Gradients of
gradients are an error."""
import torch
from torch.autograd.function import once_differentiable

from . import _core
from ._rollout import rollout as _simulate

__all__ = ["rollout", "step"]


def _array(tensor, what):
    """The tensor's memory as an array; None stays None."""
    if tensor is None:
        return None
    if not isinstance(tensor, torch.Tensor):
        raise _core.ArrayError(f"{what}: expected a torch.Tensor, found {type(tensor).__name__}")
    if tensor.dtype != torch.float64 or tensor.device.type != "cpu":
        raise _core.ArrayError(f"{what}: expected a torch.float64 tensor on the cpu, found {tensor.dtype} on "
                               f"{tensor.device} of shape {tuple(tensor.shape)}")
    return tensor.detach().contiguous().numpy()


class _Rollout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, model, x0, U, p, steps, checkpoints):
        wanted = [getattr(t, "requires_grad", False) for t in (x0, U, p)]
        run = _simulate(model, _array(x0, "x0"), _array(U, "U"), _array(p, "p"), steps=steps, tape=any(wanted),
                        checkpoints=checkpoints if any(wanted) else None)
        ctx.run, ctx.x0 = run, None if x0 is None else x0.detach().clone().numpy()
        return torch.from_numpy(run.X.copy())

    @staticmethod
    @once_differentiable
    def backward(ctx, G):
        run, model = ctx.run, ctx.run.model
        G = G.detach().contiguous().numpy()
        lx = model.to_tangent(run.X, G)
        lx[..., 0, :] = 0  # X[0] is x0 as it was given
        grad = run.backward(lx, *ctx.needs_input_grad[1:4])
        made = [None, None, None]
        if grad.x0 is not None:
            first = G[..., 0, :]
            shared = ctx.x0.ndim == 1 and first.ndim == 2
            made[0] = model.from_tangent(ctx.x0, grad.x0) + (first.sum(0) if shared else first)
        made[1:] = grad.U, grad.p
        return (None, *(None if g is None else torch.from_numpy(g.view(type(G))) for g in made), None, None)


def rollout(model, x0=None, U=None, p=None, *, steps=None, checkpoints=None):
    """States X (steps+1, nx) or (worlds, steps+1, nx), as a tensor whose reverse goes to x0, U and p.

    Arguments as of tribo.rollout(): x0 (nx), U (steps, nu), p (np), each with or without a leading axis of worlds; None =
    the model's, zero, the model's. Tensors are copied: they may be changed afterwards."""
    return _Rollout.apply(model, x0, U, p, steps, checkpoints)


def step(model, x, u=None, p=None):
    """x_next (nx) or (worlds, nx), as a tensor: one step of x (nx) under u (nu), p (np), each with or without a leading
    axis of worlds. Many steps in a row are better as a rollout."""
    U = None if u is None else u.unsqueeze(-2)
    return rollout(model, x, U, p, steps=1)[..., 1, :]
