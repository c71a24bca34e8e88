"""test_torch.py -- gradients through torch, against torch's own differences."""
import unittest
import warnings

import numpy as np
from common import main, scene

import tribo

try:
    import torch

    import tribo.torch
except ImportError as error:
    print(f"skipped: {error}")
    raise SystemExit(77)

warnings.simplefilter("ignore", tribo.Warning)
double = dict(dtype=torch.float64)


def tensor(a, grad=True):
    return torch.tensor(np.asarray(a), requires_grad=grad, **double)


class Case:
    """A scene on its way: the state some steps after the start, and numbers of p to vary."""

    def __init__(self, name, names, warm, steps, u=0.1):
        self.model = tribo.load(scene(name))
        self.steps = steps
        rng = np.random.default_rng(11)
        held = np.zeros(self.model.nu)
        if self.model.keys:
            held = self.model.key(self.model.keys[0])[1]
        x = tribo.rollout(self.model, U=np.tile(held, (max(warm, 1), 1))).X[warm]
        self.x0 = tensor(x)
        self.U = tensor(held + u * rng.standard_normal((steps, self.model.nu)))
        self.at = [i for n in names for i in np.atleast_1d(self.model._names.find(n))]
        self.theta = tensor(self.model.params[self.at])

    def p(self, theta):
        return tensor(self.model.params, False).index_put((torch.tensor(self.at),), theta)

    def run(self, x0, U, theta):
        return tribo.torch.rollout(self.model, x0, U, self.p(theta))[1:]


class Gradients(unittest.TestCase):
    def check(self, case, **how):
        self.assertTrue(torch.autograd.gradcheck(case.run, (case.x0, case.U, case.theta), **how))

    def test_slide(self):
        self.check(Case("slide", ["floor/friction", "cube/mass", "gravity"], 5, 10))

    def test_stack(self):
        self.check(Case("stack", ["gravity", "floor/friction"], 5, 4))

    def test_bounce(self):
        model = tribo.load(scene("bounce"))
        z = tribo.rollout(model, steps=600).X[:, model.nq + 2]
        hit = int(np.argmax(np.diff(z) > 0.5))
        self.check(Case("bounce", ["gravity"], hit - 4, 9, 0))

    def test_a_robot(self):
        self.check(Case("hopper", ["gravity"], 20, 4, 0))
        self.check(Case("walker", ["gravity"], 60, 4, 0))
        self.check(Case("quadruped", ["base/mass", "fl knee/damping", "gravity"], 3, 4, 0))

    def test_cart_pole(self):
        self.check(Case("cart-pole", ["gravity"], 3, 12))


class Manners(unittest.TestCase):
    def setUp(self):
        self.case = Case("slide", ["floor/friction"], 5, 6)
        self.model = self.case.model

    def test_batches(self):
        c, n = self.case, 5
        P = tensor(np.tile(self.model.params, (n, 1)))
        X = tribo.torch.rollout(self.model, c.x0, c.U, P)
        self.assertEqual(X.shape, (n, 7, self.model.nx))
        X.pow(2).sum().backward()
        self.assertEqual((P.grad.shape, c.x0.grad.shape, c.U.grad.shape), (P.shape, c.x0.shape, c.U.shape))
        one, x0 = tensor(self.model.params), tensor(c.x0.detach().numpy())
        (n * tribo.torch.rollout(self.model, x0, c.U.detach(), one).pow(2).sum()).backward()
        np.testing.assert_allclose(c.x0.grad, x0.grad, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(P.grad.sum(0), one.grad, rtol=1e-9, atol=1e-12)

    def test_a_step(self):
        x = tribo.torch.step(self.model, self.case.x0, self.case.U[0], tensor(self.model.params))
        np.testing.assert_array_equal(x.detach(), self.model.step(self.case.x0.detach().numpy(),
                                                                  self.case.U[0].detach().numpy()))
        x.sum().backward()
        self.assertIsNotNone(self.case.x0.grad)

    def test_changing_tensors_afterwards_changes_nothing(self):
        c = self.case
        wanted = torch.autograd.grad(c.run(c.x0, c.U, c.theta).pow(2).sum(), [c.x0, c.U, c.theta])
        X = c.run(c.x0, c.U, c.theta).pow(2).sum()
        with torch.no_grad():
            c.x0 += 3
            c.U += 1
        c.theta.data *= 2
        for a, b in zip(torch.autograd.grad(X, [c.x0, c.U, c.theta]), wanted):
            self.assertTrue((a == b).all())

    def test_what_is_refused(self):
        model, x = self.model, self.case.x0.detach()
        for bad in (x.float(), x.to(torch.int64), x.reshape(1, 1, -1), x.numpy(), "x"):
            with self.assertRaises(tribo.ArrayError):
                tribo.torch.rollout(model, bad, steps=2)
        p = tensor(model.params)
        first, = torch.autograd.grad(tribo.torch.rollout(model, None, None, p, steps=2).sum(), p, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "once_differentiable|does not require grad"):
            first.sum().backward()

    def test_nothing_is_recorded_without_need(self):
        X = tribo.torch.rollout(self.model, steps=3)
        self.assertFalse(X.requires_grad)


if __name__ == "__main__":
    main()
