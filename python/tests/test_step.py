"""test_step.py -- steps, rollouts and gradients: the values of C to the bit, purity, batches, lifetimes."""
import concurrent.futures
import gc
import os
import pickle
import subprocess
import sys
import unittest
import warnings

import numpy as np
from common import ROOT, main, scene

import tribo

warnings.simplefilter("ignore", tribo.Warning)
SMALL = ["slide", "stack", "bounce", "corner"]
ROBOTS = ["cart-pole", "quadruped", "hopper"]


def loss_of(model, steps, seed, worlds=None):
    shape = (steps + 1, model.ndx) if worlds is None else (worlds, steps + 1, model.ndx)
    return np.random.default_rng(seed).standard_normal(shape)


class Values(unittest.TestCase):
    def test_first_program_prints_the_digits_of_c(self):
        program = os.environ.get("TRIBO_FIRST")
        if not program:
            self.skipTest("TRIBO_FIRST does not name the C program")
        ours = subprocess.run([sys.executable, "examples/python/first.py"], cwd=ROOT, capture_output=True, text=True)
        theirs = subprocess.run([program], cwd=ROOT, capture_output=True, text=True)
        self.assertEqual(ours.stdout, theirs.stdout, ours.stderr)

    def test_a_rollout_is_its_steps(self):
        for name in SMALL + ROBOTS:
            model = tribo.load(scene(name))
            U = 0.1 * np.random.default_rng(1).standard_normal((40, model.nu))
            run = tribo.rollout(model, U=U)
            x = model.x0
            for k in range(40):
                x = model.step(x, U[k])
                self.assertTrue((x == run.X[k + 1]).all(), name)

    def test_a_step_is_pure(self):
        model = tribo.load(scene("stack"))
        X = tribo.rollout(model, steps=60).X
        first = [model.step(x.copy()) for x in X]
        again = [model.step(x.copy()) for x in X[::-1]][::-1]
        self.assertTrue(all((a == b).all() for a, b in zip(first, again)))

    def test_out_may_be_x(self):
        model = tribo.load(scene("slide"))
        x = model.x0.copy()
        wanted = model.step(x)
        self.assertIs(model.step(x, out=x), x)
        self.assertTrue((x == wanted).all())

    def test_jacobians_are_those_of_the_tape(self):
        for name in SMALL + ROBOTS:
            model = tribo.load(scene(name))
            run = tribo.rollout(model, steps=5)
            x_next, A, B, C = model.jacobians(run.X[3].copy())
            for a, b in zip((A, B, C), run.jacobians(3)):
                self.assertTrue((a == b).all(), name)
            self.assertTrue((x_next == run.X[4]).all())
            self.assertIsNone(model.jacobians(model.x0, wrt_p=False)[3])

    def test_one_step_of_many_worlds(self):
        for name in ("stack", "quadruped"):
            model = tribo.load(scene(name))
            X = tribo.rollout(model, steps=40).X[::8].copy()
            P = np.tile(model.params, (len(X), 1))
            for k in range(len(X)):
                p = model.params.copy()
                p["floor/friction"] = 0.3 + 0.1 * k
                P[k] = p
            u = np.full(model.nu, 0.1)
            for threads in (1, 3):
                np.testing.assert_array_equal(tribo.steps(model, X, threads=threads),
                                              [model.step(x) for x in X])
                many = tribo.jacobians(model, X, u, P, threads=threads)
                for i, x in enumerate(X):
                    for a, b in zip(many, model.jacobians(x, u, P[i].copy())):
                        np.testing.assert_array_equal(a[i], b)
            self.assertIsNone(tribo.jacobians(model, X, wrt_p=False).C)
            np.testing.assert_array_equal(tribo.steps(model, X[0], u, P), [model.step(X[0], u, p.copy()) for p in P])

    def test_the_reverse_is_the_product_of_the_jacobians(self):
        for name in SMALL + ROBOTS:
            model = tribo.load(scene(name))
            run = tribo.rollout(model, steps=8)
            lx = loss_of(model, 8, 2)
            grad = run.backward(lx)
            bar, p = lx[8], np.zeros(model.np)
            for k in range(7, -1, -1):
                A, B, C = run.jacobians(k)
                np.testing.assert_allclose(grad.U[k], B.T @ bar, rtol=1e-7, atol=1e-9 * (1 + abs(B).max()))
                p, bar = p + C.T @ bar, A.T @ bar + lx[k]
            np.testing.assert_allclose(grad.x0, bar, rtol=1e-7, atol=1e-9 * (1 + abs(bar).max()), err_msg=name)
            np.testing.assert_allclose(grad.p, p, rtol=1e-6, atol=1e-8 * (1 + abs(p).max()), err_msg=name)

    def test_gradient_by_differences(self):
        model = tribo.load(scene("slide"))
        p = model.params.copy()
        i, h = p.names.index("floor/friction"), 1e-6
        lx = np.zeros((101, model.ndx))
        lx[100, 0] = 1
        grad = tribo.rollout(model, p=p, steps=100).backward(lx).p
        ends = []
        for sign in (1, -1):
            q = p.copy()
            q["floor/friction"] += sign * h
            ends.append(tribo.rollout(model, p=q, steps=100).X[100, 0])
        self.assertAlmostEqual(grad[i], (ends[0] - ends[1]) / (2 * h), 7)

    def test_impulses_in_the_loss(self):
        model = tribo.load(scene("push"))
        U = np.zeros((3, model.nu))
        U[:, model.v("cube").start] = 7.0  # it slides

        def in_world_axes(U):
            run = tribo.rollout(model, U=U)
            seen = [run.contacts(k) for k in range(3)]
            return run, [c["impulse"][:, :1] * c["tangent"][:, 0] + c["impulse"][:, 1:2] * c["tangent"][:, 1] +
                         c["impulse"][:, 2:] * c["normal"] for c in seen]

        run, before = in_world_axes(U)
        weights = [np.broadcast_to([0.3, -0.2, 1.0], w.shape) * (k + 1) for k, w in enumerate(before)]
        loss = lambda U: sum((w * f).sum() for w, f in zip(weights, in_world_axes(U)[1]))
        got = run.backward(np.zeros((4, model.ndx)), impulses=[weights[0], weights[1], weights[2]]).U
        self.assertGreater(np.abs(got).max(), 1e-4)
        for k in range(3):
            for i in range(model.nu):
                d = np.zeros_like(U)
                d[k, i] = 1e-4
                self.assertAlmostEqual(got[k, i], (loss(U + d) - loss(U - d)) / 2e-4, delta=1e-7)
        none = run.backward(np.ones((4, model.ndx)), impulses=[None] * 3)
        np.testing.assert_array_equal(none.U, run.backward(np.ones((4, model.ndx))).U)
        for wrong in ([None], [np.zeros((1, 2))] * 3, [weights[0] * np.nan, None, None]):
            with self.assertRaises(ValueError):
                run.backward(np.zeros((4, model.ndx)), impulses=wrong)

    def test_checkpoints_give_the_same_bits(self):
        model = tribo.load(scene("stack"))
        lx = loss_of(model, 50, 3)
        full, some = (tribo.rollout(model, steps=50, **how).backward(lx) for how in ({}, {"checkpoints": 4}))
        for a, b in zip(full, some):
            self.assertTrue((a == b).all())

    def test_tangents(self):
        model = tribo.load(scene("stack"))
        rng = np.random.default_rng(4)
        x = model.add(model.x0, 0.3 * rng.standard_normal(model.ndx))
        G, dx, h = rng.standard_normal(model.nx), rng.standard_normal(model.ndx), 1e-6
        moved = (G @ (model.add(x, h * dx) - model.add(x, -h * dx))) / (2 * h)
        self.assertAlmostEqual(model.to_tangent(x, G) @ dx, moved, 7)
        g, d = rng.standard_normal(model.ndx), rng.standard_normal(model.nx)
        moved = g @ (model.difference(x, x + h * d) - model.difference(x, x - h * d)) / (2 * h)
        self.assertAlmostEqual(model.from_tangent(x, g) @ d, moved, 6)


class Batches(unittest.TestCase):
    def batch(self, name, worlds, steps):
        model = tribo.load(scene(name))
        rng = np.random.default_rng(5)
        x0 = np.array([model.add(model.x0, 1e-3 * rng.standard_normal(model.ndx)) for _ in range(worlds)])
        U = 0.1 * rng.standard_normal((worlds, steps, model.nu))
        P = model.params.tile(worlds)
        P["gravity/z"] *= rng.uniform(0.9, 1.1, worlds)
        return model, x0, U, P

    def test_a_batch_is_its_worlds(self):
        for name, worlds, steps in (("slide", 1000, 5), ("stack", 20, 30), ("quadruped", 12, 20)):
            model, x0, U, P = self.batch(name, worlds, steps)
            lx = loss_of(model, steps, 6, worlds)
            run = tribo.rollout(model, x0, U, P)
            grad = run.backward(lx)
            for w in range(worlds):
                one = tribo.rollout(model, x0[w], U[w], P[w])
                self.assertTrue((one.X == run.X[w]).all(), name)
                for a, b in zip(one.backward(lx[w]), grad):
                    self.assertTrue((a == b[w]).all(), name)

    def test_threads_change_no_bit(self):
        for name, worlds, steps in (("stack", 33, 20), ("hopper", 17, 30)):
            model, x0, U, P = self.batch(name, worlds, steps)
            lx = loss_of(model, steps, 6, worlds)
            runs = [tribo.rollout(model, x0, U[0].copy(), P, threads=n) for n in (1, 2, 5)]
            grads = [r.backward(lx) for r in runs]
            for r, g in zip(runs, grads):
                self.assertTrue((r.X == runs[0].X).all())
                self.assertTrue(all((a == b).all() for a, b in zip(g, grads[0])))

    def test_one_lx_for_all(self):
        model, x0, U, P = self.batch("slide", 4, 6)
        lx, run = loss_of(model, 6, 3), tribo.rollout(model, x0, U, P)
        for a, b in zip(run.backward(lx), run.backward(np.tile(lx, (4, 1, 1)))):
            self.assertTrue((a == b).all())

    def test_a_world_that_fails(self):
        model, x0, U, P = self.batch("slide", 5, 6)
        P["cube/mass"][2] = -1
        with self.assertRaisesRegex(tribo.ArgumentError, "world 2: p: body cube"):
            tribo.rollout(model, x0, U, P)
        run = tribo.rollout(model, x0, U, P, strict=False)
        self.assertEqual(run.reached.tolist(), [6, 6, 0, 6, 6])
        self.assertTrue(np.isnan(run.X[2, 1:]).all() and np.isfinite(run.X[[0, 1, 3, 4]]).all())
        lx = loss_of(model, 6, 4, 5)
        grad = run.backward(lx)
        self.assertTrue((grad.p[2] == 0).all())
        self.assertTrue((grad.p[4] == tribo.rollout(model, x0[4], U[4], P[4]).backward(lx[4]).p).all())

    def test_the_gravest_of_its_statuses(self):
        # A ball flung against a wall of friction above 1: Newton's law of impacts has no answer there. Rounding is above
        # the tolerance in some steps.
        m = tribo.from_string("""<mujoco><option timestep="0.001"/><worldbody>
            <geom name="floor" type="plane" size="1 1 1" friction="1.5" priority="1"/>
            <geom name="wall" type="plane" size="1 1 1" quat="1 0 1 0" friction="1.5" priority="1"/>
            <body name="ball"><freejoint/><geom name="ball" type="sphere" size="0.1" mass="1"/></body>
            </worldbody></mujoco>""").with_options(impact="newton", tol=1e-17)
        p, random, found = m.params.copy(), np.random.default_rng(1), {}
        p["wall/restitution"] = 0.9
        kinds = {tribo.NotConverged: "not converged", tribo.Substituted: "substituted"}
        while len(found) < 2:
            x = m.x0.copy()
            x[[0, 2]] = 0.1 + random.uniform(0, 1e-3), 0.1
            x[[7, 11]] = random.uniform(-1.5, 1.5), random.uniform(-40, 40)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                tribo.rollout(m, x, p=p, steps=1)
            for w in told:
                found.setdefault(kinds[w.category], x)
        a, b = found.values()
        for worlds in (a, b), (b, a):
            with self.assertWarns(tribo.NotConverged):
                run = tribo.rollout(m, np.array(worlds), p=p, steps=1)
            with self.assertWarns(tribo.NotConverged):
                run.backward(np.zeros((2, m.ndx)))

    def test_a_batch_in_a_child_of_fork(self):
        model, x0, U, P = self.batch("slide", 8, 5)
        wanted = tribo.rollout(model, x0, U, P, threads=2).X
        child = os.fork()
        if child == 0:
            os._exit(0 if (tribo.rollout(model, x0, U, P, threads=2).X == wanted).all() else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_what_is_shared_gets_the_sum(self):
        model, x0, U, P = self.batch("slide", 7, 9)
        lx = loss_of(model, 9, 7, 7)
        p = model.params.copy()
        grad = tribo.rollout(model, x0, U[0].copy(), p).backward(lx)
        one = [tribo.rollout(model, x0[w], U[0].copy(), p).backward(lx[w]) for w in range(7)]
        self.assertEqual(grad.p.shape, (model.np,))
        self.assertEqual(grad.x0.shape, (7, model.ndx))
        np.testing.assert_allclose(grad.p, sum(g.p for g in one), rtol=1e-13)
        np.testing.assert_allclose(grad.U, sum(g.U for g in one), rtol=1e-13, atol=1e-15)

    def test_threads_at_once(self):
        model, x0, U, P = self.batch("stack", 8, 40)
        lx = loss_of(model, 40, 8)
        alone = [tribo.rollout(model, x0[w], U[w], P[w]).backward(lx).p for w in range(8)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda w: tribo.rollout(model, x0[w], U[w], P[w]).backward(lx).p, range(8)))
        self.assertTrue(all((a == b).all() for a, b in zip(alone, together)))


class Lifetimes(unittest.TestCase):
    def test_changing_arrays_afterwards_changes_no_gradient(self):
        for how in ({}, {"checkpoints": 3}):
            model = tribo.load(scene("corner"))
            x0, p = model.x0.copy(), model.params.copy()
            U = np.zeros((30, model.nu))
            lx = loss_of(model, 30, 9)
            wanted = tribo.rollout(model, x0, U, p, **how).backward(lx)
            run = tribo.rollout(model, x0, U, p, **how)
            x0 += 1
            U += 5
            p *= 2
            for a, b in zip(run.backward(lx), wanted):
                self.assertTrue((a == b).all())
            with self.assertRaises(ValueError):
                run.X[0] = 0

    def test_a_rollout_keeps_its_model(self):
        model = tribo.load(scene("slide"))
        run = tribo.rollout(model, steps=10)
        lx = loss_of(model, 10, 1)
        wanted = run.backward(lx).p
        del model
        gc.collect()
        self.assertTrue((run.backward(lx).p == wanted).all())

    def test_a_child_of_fork_gets_the_same(self):
        model = tribo.load(scene("stack"))
        run = tribo.rollout(model, steps=20)
        lx = loss_of(model, 20, 2)
        wanted = run.backward(lx).p.tobytes()
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            good = run.backward(lx).p.tobytes() == wanted and (tribo.rollout(model, steps=20).X == run.X).all()
            os.write(writer, b"y" if good else b"n")
            os._exit(0)
        os.waitpid(child, 0)
        self.assertEqual(os.read(reader, 1), b"y")

    def test_nothing_leaks(self):
        model = tribo.load(scene("slide"))
        x, u, p = model.x0.copy(), np.zeros(model.nu), model.params.copy()
        lx, X = loss_of(model, 2, 3), np.tile(model.x0, (2, 1))

        def calls(n):
            for _ in range(n):
                model.step(x, u, p)
                model.examine(x, u, p)
                model.jacobians(x, u, p)
                tribo.rollout(model, x, p=p, steps=2).backward(lx)
                tribo.rollout(model, X, p=p, steps=2).backward(lx)
                p["floor/friction"]
                try:
                    model.step(x[:3])
                except tribo.ArrayError:
                    pass

        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        calls(2000)
        gc.collect()
        counts, before = [sys.getrefcount(o) for o in (x, u, p, model, lx, model.params, model.x0)], resident()
        calls(100000 // 7)
        gc.collect()
        self.assertEqual([sys.getrefcount(o) for o in (x, u, p, model, lx, model.params, model.x0)], counts)
        self.assertLess(resident() - before, 1 << 20)


class Parameters(unittest.TestCase):
    def test_pickled_they_keep_their_names(self):
        p = tribo.load(scene("stack")).params.copy()
        p["floor/friction"] = 0.3
        again = pickle.loads(pickle.dumps(p))
        self.assertIsInstance(again, tribo.Params)
        self.assertEqual((again["floor/friction"], again.names), (0.3, p.names))
        self.assertEqual(pickle.loads(pickle.dumps(p.tile(3)))["lower/mass"].shape, (3,))

    def setUp(self):
        self.model = tribo.load(scene("slide"))

    def test_names(self):
        p = self.model.params.copy()
        p["floor/friction"] = 0.25
        self.assertEqual(p["floor/friction"], 0.25)
        self.assertEqual(p["gravity"].tolist(), [0, 0, -9.81])
        p["gravity"] = [1, 2, 3]
        self.assertEqual(p["gravity/y"], 2)
        self.assertEqual(p[0:3].tolist(), [1, 2, 3])
        self.assertEqual((2 * p)["floor/friction"], 0.5)
        self.assertNotIsInstance(p[::-1], tribo.Params)
        self.assertEqual(self.model.params["floor/friction"], 0.2)
        self.assertEqual(p.as_dict()["gravity/x"], 1)

    def test_room_goes_with_the_geoms_of_bodies(self):
        def room(bodies, geoms):
            box = '<geom type="box" size=".1 .1 .1" mass="1"/>'
            body = f"<body><freejoint/>{box * geoms}</body>"
            return tribo.from_string(f"<mujoco><worldbody>{body * bodies}{box}</worldbody></mujoco>").options["ncon_max"]

        self.assertEqual((room(100, 1), room(2, 50), room(4, 25)), (128 + 24 * 100,) * 3)

    def test_rows(self):
        P = self.model.params.tile(3)
        P["floor/friction"] = [0.1, 0.2, 0.3]
        self.assertEqual(P[1]["floor/friction"], 0.2)
        self.assertEqual(P["gravity"].shape, (3, 3))

    def test_own_parameters_do_not_change(self):
        with self.assertRaisesRegex(ValueError, "copy"):
            self.model.params["floor/friction"] = 1
        with self.assertRaisesRegex(KeyError, "the nearest is `floor/friction`"):
            self.model.params["floor/fricton"]

    def test_what_a_parameter_is(self):
        it = self.model.parameter("cube/mass")
        self.assertEqual((it.kind, it.lower, it.used), ("mass", 0, True))


if __name__ == "__main__":
    main()
