"""test_more.py -- reverses of dynamics against differences, libraries of feedbacks, randomisers."""
import os
import pathlib
import tempfile
import unittest
import warnings

import numpy as np
from common import main, scene

import tribo

warnings.simplefilter("ignore", tribo.Warning)


def moved(model, x, dq, dv):
    """x (+) (dq, dv) of a model whose joints are hinges and slides."""
    return x + np.concatenate([dq, dv])


class Reverses(unittest.TestCase):
    """On an arm: every q is a number of v."""

    def setUp(self):
        self.model = tribo.load(scene("arm-7"))
        self.assertEqual(self.model.nq, self.model.nv)
        self.random = np.random.default_rng(1)
        nv = self.model.nv
        self.x = np.concatenate([0.4 * self.random.standard_normal(nv), self.random.standard_normal(nv)])
        self.a = self.random.standard_normal(nv)
        self.u = self.random.standard_normal(self.model.nu)

    def value(self, function, x, argument, bar, p=None):
        d = tribo.Dynamics(self.model, p).at(x)
        if function in ("body", "site"):
            place = getattr(d, function)(argument)
            return sum(float(np.vdot(b, getattr(place, k))) for k, b in bar.items())
        made = getattr(d, function)(*([] if argument is None else [argument]))
        return float(np.vdot(bar, made))

    def agrees(self, function, bar, argument=None):
        model, nv = self.model, self.model.nv
        g = tribo.Dynamics(model).at(self.x).vjp(function, bar, argument)
        h, dq, dv = 1e-6, self.random.standard_normal(nv), self.random.standard_normal(nv)
        slope = (self.value(function, moved(model, self.x, h * dq, h * dv), argument, bar)
                 - self.value(function, moved(model, self.x, -h * dq, -h * dv), argument, bar)) / (2 * h)
        ours = g.q @ dq + g.v @ dv
        self.assertLess(abs(slope - ours), 1e-6 * (1 + abs(slope)), function)
        if g.argument is not None:
            da = self.random.standard_normal(len(g.argument))
            slope = (self.value(function, self.x, argument + h * da, bar) - self.value(function, self.x, argument - h * da, bar)) / (2 * h)
            self.assertLess(abs(slope - g.argument @ da), 1e-6 * (1 + abs(slope)), function + ", its argument")
        place = model.parameter(model.bodies[-1] + "/mass").index
        above, below = model.params.copy(), model.params.copy()
        above[place] += 1e-5
        below[place] -= 1e-5
        slope = (self.value(function, self.x, argument, bar, above) - self.value(function, self.x, argument, bar, below)) / 2e-5
        self.assertLess(abs(slope - g.p[place]), 1e-6 * (1 + abs(slope)), function + ", a mass")

    def test_of_every_function(self):
        nv, r = self.model.nv, self.random.standard_normal
        self.agrees("com", r(3))
        self.agrees("com_jacobian", r((3, nv)))
        self.agrees("inertia", r((nv, nv)))
        self.agrees("bias_forces", r(nv))
        self.agrees("momentum", r(6))
        self.agrees("energy", r(2))
        for function in ("inertia_times", "inertia_solve", "inverse_dynamics", "forward_dynamics"):
            self.agrees(function, r(nv), self.a)
        self.agrees("joint_forces", r(nv), self.u)
        self.agrees("body", {"pos": r(3), "twist": r(6), "jacobian": r((6, nv))}, self.model.bodies[-1])

    def test_jacobians_are_their_reverse(self):
        d, nv = tribo.Dynamics(self.model).at(self.x), self.model.nv
        by_q, by_v = d.inverse_jacobians(self.a)
        bar = self.random.standard_normal(nv)
        g = d.vjp("inverse_dynamics", bar, self.a)
        self.assertLess(np.abs(bar @ by_q - g.q).max() + np.abs(bar @ by_v - g.v).max(), 1e-9)
        by_q, by_v, by_tau = d.forward_jacobians(self.a)
        g = d.vjp("forward_dynamics", bar, self.a)
        self.assertLess(np.abs(bar @ by_q - g.q).max() + np.abs(bar @ by_v - g.v).max(), 1e-7)
        self.assertLess(np.abs(by_tau @ d.inertia() - np.eye(nv)).max(), 1e-9)

    def test_misuse(self):
        d = tribo.Dynamics(self.model).at(self.x)
        for call in (lambda: d.vjp("mass", np.zeros(3)), lambda: d.vjp("com", np.zeros(4)), lambda: d.vjp("inverse_dynamics", self.a),
                     lambda: d.vjp("inverse_dynamics", self.a, np.zeros(1)), lambda: d.inverse_jacobians(np.zeros(1)),
                     lambda: tribo.Dynamics(self.model).vjp("com", np.zeros(3))):
            self.assertRaises(tribo.ArgumentError, call)
        self.assertRaises(KeyError, d.vjp, "body", {"pos": np.zeros(3)}, "nobody")


class Libraries(unittest.TestCase):
    def plan(self):
        model = tribo.load(scene("cart-pole"))
        terms = [tribo.Term("state", weight=1.0, target=np.zeros(model.nx)), tribo.Term("control", weight=0.1)]
        return model, tribo.optimize(model, knots=20, terms=terms, iterations=5)

    def test_the_nearest_knot_acts(self):
        model, plan = self.plan()
        library = tribo.Policies(model)
        self.assertEqual(len(library), 0)
        with self.assertRaisesRegex(tribo.ArgumentError, "no plan was added"):
            library.control(plan.X[0])
        library.add(plan)
        self.assertEqual(len(library), 20)
        for k in (0, 7, 19):
            u = library.control(plan.X[k])
            self.assertEqual(library.nearest, k)
            self.assertEqual(u.tobytes(), plan.feedback(k, plan.X[k]).tobytes())
        part = tribo.Policies(model)
        part.add(plan, 3, 5)
        self.assertEqual(len(part), 3)
        part.control(plan.X[0], ignore=[model.joints[0]])

    def test_it_is_kept_in_a_file(self):
        model, plan = self.plan()
        library = tribo.Policies(model)
        library.add(plan)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "library.txt"
            library.save(path)
            again = tribo.Policies.load(path, model)
            x = plan.X[4] + 0.01
            self.assertEqual(again.control(x).tobytes(), library.control(x).tobytes())
            path.write_text("no library\n")
            self.assertRaises(tribo.ParseError, tribo.Policies.load, path, model)
            self.assertRaises(tribo.FileError, tribo.Policies.load, os.path.join(folder, "none"), model)

    def test_misuse(self):
        model, plan = self.plan()
        other = tribo.Policies(tribo.load(scene("acrobot")))
        self.assertRaises(tribo.ArgumentError, other.add, plan)
        library = tribo.Policies(model)
        self.assertRaises(tribo.ArgumentError, library.add, plan, 5, 3)
        self.assertRaises(tribo.ArgumentError, library.add, plan, 0, 100)
        self.assertRaises(tribo.ArgumentError, tribo.Policies, model, -1)
        library.add(plan)
        self.assertRaises(tribo.ArrayError, library.control, np.zeros(1))
        self.assertRaises(tribo.NonFiniteError, library.control, np.full(model.nx, np.nan))
        self.assertRaises(tribo.ArgumentError, library.control, model.x0, ignore=[model.ndx])
        u = np.full(model.nu, 7.0)
        others = np.setdiff1d(np.arange(model.nu), plan.controls)
        np.testing.assert_array_equal(library.control(model.x0, u)[others], u[others])
        np.testing.assert_array_equal(library.control(model.x0, u)[plan.controls], library.control(model.x0)[plan.controls])


class Draws(unittest.TestCase):
    def test_rows_are_what_was_drawn(self):
        model = tribo.load(scene("stack"))
        r = tribo.Randomiser(model, [tribo.Random("*/mass", 0.5, 2.0, draw="loguniform", share="body"),
                                     {"names": "floor/friction", "a": 0.0, "b": 0.1, "draw": "normal", "add": True}], seed=3)
        P, s = r.rows(50), r.numbers(50)
        self.assertEqual((P.shape, s.shape, len(r.draws)), ((50, model.np), (50, 3), 3))
        self.assertEqual([d[0] for d in r.draws], [0, 0, 1])
        for k, (_, name) in enumerate(r.draws):
            base = model.params[name]
            np.testing.assert_allclose(P[name], base * s[:, k] if k < 2 else np.maximum(base + s[:, k], 0), rtol=1e-15)
        self.assertTrue(((s[:, :2] >= 0.5) & (s[:, :2] <= 2)).all() and s.std(axis=0).min() > 0.05)
        self.assertEqual(r.rows(10, first=20).tobytes(), np.ascontiguousarray(P[20:30]).tobytes())
        tribo.rollout(model, p=P, steps=3)

    def test_reverse_agrees_with_differences(self):
        model = tribo.load(scene("stack"))
        r = tribo.Randomiser(model, [tribo.Random("*/mass", 0.5, 2.0), tribo.Random("floor/friction", 1.0, 0.1, draw="normal")])
        bar = np.random.default_rng(1).standard_normal((20, model.np))
        phi, p = r.rows_vjp(bar)
        start = r.phi
        for i in range(2):
            for k in range(2):
                value = []
                for h in (1e-6, -1e-6):
                    moved = start.copy()
                    moved[i, k] += h
                    r.phi = moved
                    value.append(np.vdot(bar, r.rows(20)))
                self.assertLess(abs((value[0] - value[1]) / 2e-6 - phi[i, k]), 1e-6 * (1 + abs(phi[i, k])))
        r.phi = start
        base = model.params.copy()
        base["upper/mass"] += 1e-6
        slope = (np.vdot(bar, r.rows(20, p=base)) - np.vdot(bar, r.rows(20))) / 1e-6
        self.assertLess(abs(slope - p["upper/mass"]), 1e-5 * (1 + abs(slope)))

    def test_misuse(self):
        model = tribo.load(scene("stack"))
        for bad in ({"names": "nothing"}, {"names": "*/mass", "draw": "often"}, {"names": "*/mass", "share": "some"},
                    {"names": "*/mass", "a": 2.0, "b": 1.0}, {"names": "*/mass", "power": [1.0, 2.0]}, {"names": []}):
            self.assertRaises(tribo.ArgumentError, tribo.Randomiser, model, [bad])
        self.assertRaises(TypeError, tribo.Randomiser, model, [{"names": [1]}])
        r = tribo.Randomiser(model, [tribo.Random("*/mass", 0.5, 2.0)])
        self.assertRaises(tribo.ArgumentError, r.rows, -1)
        self.assertRaises(tribo.ArrayError, r.rows_vjp, np.zeros((2, 3)))
        with self.assertRaises(tribo.ArrayError):
            r.phi = np.zeros(2)


if __name__ == "__main__":
    main()
