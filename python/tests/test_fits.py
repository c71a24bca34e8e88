"""test_fits.py -- contact problems, identification, trajectory optimisation, dynamics, comparison."""
import pathlib
import tempfile
import unittest
import warnings

import numpy as np
from common import ROOT, main, scene

import tribo

warnings.simplefilter("ignore", tribo.Warning)


class Problems(unittest.TestCase):
    def problem(self, **options):
        rng = np.random.default_rng(1)
        L = rng.standard_normal((6, 6))
        return dict(M=L @ L.T + np.eye(6), J=rng.standard_normal((6, 6)), vfree=rng.standard_normal(6) - 1,
                    mu=np.array([0.5, 0.3]), **options)

    def test_both_ways_of_giving_it_agree(self):
        a = self.problem()
        Minv = np.linalg.inv(a["M"])
        G = a["J"] @ Minv @ a["J"].T
        dense = tribo.ContactProblem(M=a["M"], J=a["J"], vfree=a["vfree"], mu=a["mu"]).solve()
        short = tribo.ContactProblem(G=0.5 * (G + G.T), g=a["J"] @ a["vfree"], mu=a["mu"]).solve()
        np.testing.assert_allclose(dense.impulse, short.impulse, atol=1e-9)
        np.testing.assert_allclose(a["M"] @ (dense.v - a["vfree"]), a["J"].T @ dense.impulse, atol=1e-9)
        self.assertIsNone(short.v)

    def test_every_law_and_solver(self):
        for law, solvers in tribo.laws().items():
            for solver in solvers:
                soft = {"softness": "physical", "compliance": 0.01} if law == "ccp" else {}
                problem = tribo.ContactProblem(**self.problem(law=law, solver=solver, **soft))
                self.assertLess(problem.solve().info["residual"], 1e-3, (law, solver))
                self.assertIn("dissipation", problem.measures())

    def test_the_reverse(self):
        a = self.problem()
        problem = tribo.ContactProblem(**a)
        bar = np.random.default_rng(2).standard_normal(6)
        problem.solve(1e-14)
        got, h = problem.vjp(bar), 1e-6
        for k in range(6):
            ends = [tribo.ContactProblem(**{**a, "vfree": a["vfree"] + s * h * np.eye(6)[k]}).solve(1e-14).impulse
                    for s in (1, -1)]
            self.assertAlmostEqual(got["vfree"][k], bar @ (ends[0] - ends[1]) / (2 * h), 5)

    def test_noise_of_each_contact(self):
        a = self.problem(law="stochastic", noise=0.05)
        whole, each = tribo.ContactProblem(**a), tribo.ContactProblem(**{**a, "noise": 0.3})
        other = each.solve().impulse
        noise = np.full(4, 0.05)
        each.set_noise(noise)
        noise[:] = np.nan  # what was given is copied
        np.testing.assert_allclose(each.solve().impulse, whole.solve().impulse, rtol=1e-9)
        self.assertGreater(np.abs(other - whole.solve().impulse).max(), 1e-4)
        each.set_noise(np.array([0.3, 0.3, 0.05, 0.05]))
        self.assertGreater(np.abs(each.solve().impulse - other).max(), 1e-4)
        each.set_noise(None)
        np.testing.assert_allclose(each.solve().impulse, other, rtol=1e-9)

    def test_qcqp(self):
        P, q, r = np.diag([1.0, 2.0]), np.array([-3.0, 0.0]), np.array([1.0])
        s = tribo.solve_qcqp(P, q, r, x_bar=np.array([1.0, 0.0]))
        np.testing.assert_allclose(s.x, [1, 0], atol=1e-12)
        np.testing.assert_allclose(s.r_bar, [1], atol=1e-12)
        np.testing.assert_allclose(tribo.solve_qcqp(np.eye(2), np.array([-1.0, 1.0])).x, [1, 0], atol=1e-12)


class Fits(unittest.TestCase):
    def test_friction_from_a_slide(self):
        model = tribo.load(scene("slide"))
        truth = model.params.copy()
        truth["floor/friction"] = 0.31
        X = tribo.rollout(model, p=truth, steps=400).X[::20].copy()
        time = np.arange(21) * 0.02
        seen = []
        fit = tribo.identify(model, [(time, X, None)], {"floor/friction": 0.2}, loss="rollout", robust="none", check=False,
                             callback=lambda progress: seen.append(progress.loss))
        self.assertAlmostEqual(fit["floor/friction"].value, 0.31, 8)
        self.assertAlmostEqual(fit.params["floor/friction"], 0.31, 8)
        self.assertTrue(fit["floor/friction"].identifiable and seen and fit.progress.converged)
        np.testing.assert_allclose(fit.predict(0), X, atol=1e-7)
        self.assertLess(fit.errors(0).position_mean, 1e-8)

    def test_the_default_is_the_commands(self):
        model = tribo.load(scene("slide"))
        X = tribo.rollout(model, steps=600).X[::20].copy()
        X[:, :3] += 5e-4 * np.random.default_rng(1).standard_normal((31, 3))
        recordings = [(np.arange(31) * 0.02, X, None)]
        plain = tribo.identify(model, recordings, {"floor/friction": 0.4}, check=False)
        same = tribo.identify(model, recordings, {"floor/friction": 0.4}, loss="shooting", window=1, robust="huber", check=False)
        self.assertEqual(plain.estimates, same.estimates)
        low, high = plain["floor/friction"][4:6]
        self.assertTrue(low < 0.2 < high)

    def test_what_is_left_open_is_told(self):
        model = tribo.load(scene("slide"))
        X = tribo.rollout(model, steps=200).X[::20].copy()
        fit = tribo.identify(model, [(np.arange(11) * 0.02, X, None)], ["floor/friction", "cube/mass"], loss="rollout", check=False)
        self.assertEqual(len(fit.undetermined), 1)
        self.assertFalse(fit["cube/mass"].identifiable)

    def test_recordings(self):
        model = tribo.load(scene("collision"))
        path = sorted((ROOT / "data" / "recordings").glob("*.csv"))[0]
        r = tribo.load_recording(path, model)
        mended, findings, refused = tribo.check_recording(model, r)
        self.assertIsNone(refused)
        with tempfile.TemporaryDirectory() as folder:
            tribo.save_recording(pathlib.Path(folder) / "again.csv", model, r.time, r.X)
            again = tribo.load_recording(pathlib.Path(folder) / "again.csv", model)
        np.testing.assert_allclose(again.X, r.X, rtol=0, atol=1e-15)

    def test_the_first_key_holds_its_controls(self):
        model = tribo.from_string("""<mujoco><worldbody><body><joint name="j" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/>
            </body></worldbody><actuator><position joint="j" kp="20"/></actuator>
            <keyframe><key name="up" qpos=".2" ctrl=".8"/><key qpos=".1"/></keyframe></mujoco>""")
        x, u = model.key("up")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "held.csv"
            tribo.save_recording(path, model, np.arange(2) * 0.01, np.array([x, x]))
            r = tribo.load_recording(path, model)
        np.testing.assert_array_equal(r.U, [u, u])

    def written(self, folder, header, columns):
        """A CSV file of a time each 20 ms, and these columns."""
        path = pathlib.Path(folder) / "recording.csv"
        rows = np.column_stack([np.arange(len(columns)) * 0.02, columns])
        np.savetxt(path, rows, delimiter=",", header="time," + header, comments="", fmt="%.17g")
        return path

    def test_markers_of_a_file_are_fitted(self):
        text = pathlib.Path(scene("slide")).read_text().replace("</body>", """
            <site name="a" pos="0.1 0.1 0.1"/><site name="b" pos="-0.1 0.1 0.1"/><site name="c" pos="0.1 -0.1 0.1"/></body>""")
        model = tribo.from_string(text)
        X = tribo.rollout(model, steps=600).X[::20].copy()
        d, seen = tribo.Dynamics(model), []
        for x in X:
            d.at(x)
            seen.append(np.concatenate([d.site(s)[0] for s in model.sites]))
        seen = np.array(seen) + 1e-4 * np.random.default_rng(1).standard_normal((31, 9))
        with tempfile.TemporaryDirectory() as folder:
            path = self.written(folder, ",".join(f"{s}.p{k}" for s in "abc" for k in "xyz"), seen)
            r = tribo.load_recording(path, model)
            np.testing.assert_array_equal(r.markers, seen.reshape(31, 3, 3))
            self.assertTrue(np.isnan(r.X).all())
            self.assertIsNone(r.forces)
            fit = tribo.identify(model, path, {"floor/friction": 0.4})
        low, high = fit["floor/friction"][4:6]
        self.assertTrue(low < 0.2 < high and high - low < 0.01, (low, high))
        self.assertEqual(fit.flight(0), 0)
        with self.assertRaisesRegex(tribo.ArrayError, "markers: expected"):
            tribo.check_recording(model, r._replace(markers=seen))

    def test_forces_of_a_file_tell_a_mass(self):
        model = tribo.load(scene("slide"))
        run = tribo.rollout(model, steps=600)
        X, dt, floor = run.X[::20].copy(), model.dt, model.geoms.index("floor")
        push = np.array([sum((c["impulse"] * (1 if c["geom_b"] == floor else -1) for c in run.contacts(k)), np.zeros(3))
                         for k in range(600)]) / dt
        force = np.vstack([np.full((1, 3), np.nan), push.reshape(30, 20, 3).mean(axis=1)])
        force += 1e-3 * np.random.default_rng(1).standard_normal(force.shape)
        names = "p:x,y,z q:w,x,y,z v:x,y,z w:x,y,z".split()
        header = ",".join(f"cube.{n[0]}{k}" for n in names for k in n[2:].split(",")) + ",floor.fx,floor.fy,floor.fz"
        with tempfile.TemporaryDirectory() as folder:
            r = tribo.load_recording(self.written(folder, header, np.hstack([X, force])), model)
        self.assertIsNone(r.markers)
        np.testing.assert_array_equal(r.forces[:, floor], force)
        self.assertTrue(np.isnan(np.delete(r.forces, floor, axis=1)).all())
        true = model.params["cube/mass"]
        fit = tribo.identify(model, r, {"cube/mass": 1.7 * true})
        self.assertAlmostEqual(fit["cube/mass"].value / true, 1, 2)
        self.assertLess(fit.errors(0).force_mean, 0.01)
        self.assertNotIn("force", [f.about for f in fit.findings[0]])
        _, findings, refused = tribo.check_recording(model, r._replace(forces=-r.forces))
        self.assertEqual([f.outcome for f in findings if f.about == "force"], ["refused"])
        self.assertIn("floor", refused)


class Plans(unittest.TestCase):
    def test_a_task_of_a_file(self):
        model = tribo.load(scene("cart-pole"))
        plan = tribo.optimize(model, ROOT / "data" / "tasks" / "cart-pole.json")
        self.assertTrue(plan.progress.converged)
        self.assertAlmostEqual(plan.cost, 9.0785, 3)
        U = np.repeat(plan.U_full, 10, axis=0)
        X = tribo.rollout(model, plan.X[0].copy(), U).X
        self.assertTrue((X[::10] == plan.X).all())
        self.assertEqual(plan.gain(3).shape, (1, 4))
        gain = plan.gain(3)
        self.assertIs(plan.settle(), plan)
        np.testing.assert_allclose(plan.gain(3), gain, atol=0.01 * np.abs(gain).max())
        np.testing.assert_array_equal(plan.feedback(5, plan.X[5].copy())[plan.controls], plan.U[5])

    def test_every_task_of_the_house(self):
        scenes = {"bounce-in": "bounce", "hop": "hopper", "hop-high": "hop", "trot": "quadruped"}
        for path in sorted((ROOT / "data" / "tasks").glob("*.json")):
            model = tribo.load(scene(scenes.get(path.stem, path.stem)))
            plan = tribo.optimize(model, path, iterations=0)
            self.assertTrue(np.isfinite(plan.cost), path.stem)

    def test_words_of_tasks(self):
        model = tribo.load(scene("push"))
        task = dict(knots=10, substeps=5, controls=["cube.fx"], hold={"cube.fy": 0.0}, parameters={"cube/mass": 2.0}, guess=[1.0],
                    iterations=0)
        knot = 5 * model.options["dt"]

        def cost(**term):
            return tribo.optimize(model, dict(task, terms=[dict({"what": "position", "on": "cube"}, **term)])).cost

        x = tribo.optimize(model, dict(task, terms=[{"what": "control"}])).X
        p = x[:, :3]
        self.assertAlmostEqual(cost(weights={"x": 3, "z": 1}, at="all"), 0.5 * np.sum(p[:, [0, 2]] ** 2 * [3, 1]), 12)
        self.assertAlmostEqual(cost(at={"time": [2 * knot, 4 * knot]}), 0.5 * np.sum(p[2:5] ** 2), 12)
        over = {"time": [0, 4 * knot], "values": [[0, 0, 0], [4, 0, 0]], "period": 8 * knot}
        ramp = np.array([0, 1, 2, 3, 4, 3, 2, 1, 0, 1, 2])
        self.assertAlmostEqual(cost(at="all", target=over), 0.5 * np.sum((p - np.outer(ramp, [1, 0, 0])) ** 2), 10)
        state = tribo.optimize(model, dict(task, terms=[{"what": "state", "weights": {"cube.v": 2}, "at": "final"}])).cost
        self.assertAlmostEqual(state, np.sum((x[-1] - x[0])[model.nq:] ** 2), 12)
        for wrong in ({"weights": {"w": 1}}, {"at": {"time": [9, 10]}}, {"target": {"times": [0]}},
                      {"target": {"time": [1, 0], "values": [[0, 0, 0]] * 2}}):
            with self.assertRaises(tribo.ArgumentError):
                cost(**wrong)
        with self.assertRaisesRegex(KeyError, "fx, fy"):
            tribo.optimize(model, knots=3, controls=["cube.f"], terms=[{"what": "control"}])

    def test_what_is_given_beside_a_task_is_over_it(self):
        model = tribo.load(scene("cart-pole"))
        task = {"knots": 20, "substeps": 2, "controls": ["rail"], "bounds": {"rail": 5}, "start": {"q": {"pivot": 1.0}}, "method": "first",
                "stages": [{"law": "ccp"}], "iterations": 2, "terms": [{"what": "joint", "on": "pivot"}, {"what": "control", "weight": 0.01}]}
        plan = tribo.optimize(model, task, knots=30, substeps=1, start=np.array([0, 2.0, 0, 0]), bounds={"rail": 0.001}, iterations=50,
                              terms=[tribo.Term("joint", "pivot")], method="ddp", stages=())
        self.assertEqual((plan.X.shape, plan.X[0, 1], len(plan.costs)), ((31, 4), 2.0, 1))
        self.assertLessEqual(np.abs(plan.U).max(), 0.001)
        alone = tribo.optimize(model, knots=30, controls=["rail"], bounds={"rail": 0.001}, iterations=50, start=np.array([0, 2.0, 0, 0]),
                               terms=[tribo.Term("joint", "pivot")])
        np.testing.assert_array_equal(plan.X, alone.X)
        self.assertEqual(tribo.optimize(model, task).progress.iteration, 2)
        other = tribo.optimize(model, task, controls=["pivot"], bounds={"pivot": (-1, None)}, iterations=0)
        self.assertEqual(other.controls, [model.v("pivot").start])

    def test_a_term_of_ones_own(self):
        model = tribo.load(scene("cart-pole"))
        i = model.q("rail").start

        def at(knot, x, u, derivatives):
            r = np.array([x[i] - 0.2])
            rx = np.zeros((1, model.ndx))
            rx[0, i] = 1
            return (r, rx, None if u is None else np.zeros((1, 1))) if derivatives else r

        terms = [{"what": "control", "weight": 1e-3}]
        own = [tribo.Term("custom", function=at, size=1, at="final", weight=100)]
        theirs = [tribo.Term("joint", on="rail", target=0.2, at="final", weight=100)]
        task = dict(knots=20, substeps=5, controls=["rail"])
        plans = [tribo.optimize(model, terms=terms + t, **task) for t in (own, theirs)]
        np.testing.assert_allclose(plans[0].U, plans[1].U, atol=1e-9)
        two = tribo.optimize(model, terms=terms + own, workers=2, **task)
        np.testing.assert_array_equal(two.U, plans[0].U)

    def test_a_contact_force(self):
        model = tribo.load(scene("push"))
        fx = model.v("cube").start
        plan = tribo.optimize(model, knots=5, controls=["cube"], terms=[
            {"what": "contact-force", "on": "cube", "target": [-2, 0, 9.81]}, {"what": "control", "weight": 1e-9}])
        np.testing.assert_allclose(plan.U[:, plan.controls.index(fx)], 2, atol=1e-6)
        with self.assertRaisesRegex(KeyError, "nearest is `cube`"):
            tribo.optimize(model, knots=5, terms=[{"what": "contact-force", "on": "cub"}])
        model = tribo.load(scene("stack"))
        a, b = model.bodies[:2]
        of = [{"what": "contact-force", "on": a}, {"what": "contact-force", "on": "body:" + a, "with": b}, tribo.Term("contact-force", a, less=b)]
        alone, among, same = (tribo.optimize(model, knots=5, terms=[t], iterations=0).cost for t in of)
        self.assertEqual(among, same)
        self.assertNotEqual(among, alone)

    def test_targets_of_states_are_what_starts_are(self):
        model = tribo.load(scene("cart-pole"))

        def cost(target, **term):
            return tribo.optimize(model, knots=2, terms=[dict(what="state", target=target, **term)], iterations=0).cost

        wanted = cost(np.array([0, 0.5, 0, 0.25]))
        self.assertEqual(cost({"q": {"pivot": 0.5, "rail": 0}, "v": [0, 0.25]}), wanted)
        self.assertEqual(cost([{"q": [0, 0.5], "v": {"pivot": 0.25}}] * 2), wanted)
        self.assertEqual(cost({"time": [0, 1], "values": [{"q": [0, 0.5], "v": [0, 0.25]}] * 2}), wanted)
        self.assertEqual(cost(model.keys[0]), cost(model.key(model.keys[0])[0].copy()))
        joint = {"what": "joint", "on": "joint:pivot", "at": "all"}
        row, rows = (tribo.optimize(model, knots=2, terms=[dict(joint, target=t)], iterations=0).cost for t in ([1, 2, 3], [[1], [2], [3]]))
        self.assertEqual(row, rows)

    def test_a_plan_in_a_circle_is_collected(self):
        import gc
        import weakref
        model = tribo.load(scene("cart-pole"))
        held = []

        def make():
            def term(knot, x, u, derivatives):
                return (plan and x[:1].copy()) if not derivatives else (x[:1].copy(), np.zeros((1, 4)), np.zeros((1, 1)))

            plan = None
            plan = tribo.optimize(model, knots=2, controls=["rail"], iterations=0, terms=[
                {"what": "custom", "size": 1, "function": lambda *a: term(*a) if plan else a[1][:1].copy()}])
            held.append(weakref.ref(plan))

        make()
        gc.collect()
        self.assertIsNone(held[0]())

    def test_a_receding_horizon(self):
        model = tribo.load(scene("cart-pole"))
        plan = tribo.optimize(model, knots=10, substeps=5, controls=["rail"], terms=[
            {"what": "control", "weight": 0.01}, {"what": "joint", "on": "rail", "target": 0.1, "at": "all"}])
        before = plan.progress.cost
        plan.set_target(1, [0.3])
        plan.shift(1, plan.X[1].copy())
        plan.solve()
        self.assertGreater(plan.progress.cost, before)


class States(unittest.TestCase):
    def test_dynamics_agree_with_one_another(self):
        model = tribo.load(scene("arm"))
        rng = np.random.default_rng(3)
        d = tribo.Dynamics(model).at(rng.standard_normal(model.nx))
        a = rng.standard_normal(model.nv)
        tau = d.inverse_dynamics(a)
        np.testing.assert_allclose(tau, d.inertia() @ a + d.bias_forces(), atol=1e-10)
        np.testing.assert_allclose(d.forward_dynamics(tau), a, atol=1e-8)
        np.testing.assert_allclose(d.inertia_solve(d.inertia_times(a)), a, atol=1e-8)
        self.assertEqual(d.body(model.bodies[-1]).jacobian.shape, (6, model.nv))
        self.assertEqual(d.com().shape + d.momentum().shape, (3, 6))

    def test_distance(self):
        model = tribo.load(scene("bounce"))
        d, points, normal = model.distance(*model.geoms[:2])
        np.testing.assert_allclose(points[1] - points[0], d * normal, atol=1e-12)

    def test_contacts(self):
        model = tribo.load(scene("slide"))
        contacts = model.contacts(model.x0)
        self.assertEqual(contacts.shape, (4,))
        self.assertTrue((contacts["mode"] == tribo.SLIDE).all())
        self.assertAlmostEqual(contacts["impulse"][:, 2].sum(), 9.81 * model.dt, 12)
        self.assertEqual(tribo.rollout(model, steps=3).contacts(2).dtype, tribo.contact_dtype)

    def test_the_laws_compared(self):
        table = tribo.compare(tribo.load(scene("slide")), steps=20)
        self.assertEqual([r.law for r in table][:2], ["ncp", "ccp"])
        self.assertLess(table[0].ncp, 1e-9)
        self.assertGreater(table[1].apart, 1e-6)
        self.assertIn("residual", repr(table))

    def test_a_saved_scene_loads(self):
        model = tribo.load(scene("slide"))
        p = model.params.copy()
        p["floor/friction"] = 0.5
        with tempfile.TemporaryDirectory() as folder:
            model.save(pathlib.Path(folder) / "again.xml", p)
            self.assertEqual(tribo.load(pathlib.Path(folder) / "again.xml").params["floor/friction"], 0.5)


class Package(unittest.TestCase):
    def test_what_is_public_is_there_and_documented(self):
        for name in tribo.__all__:
            it = getattr(tribo, name)
            if callable(it):
                self.assertTrue(it.__doc__, name)
            for part, value in vars(it).items() if isinstance(it, type) and it.__module__.startswith("tribo") else ():
                if not part.startswith("_") and callable(value):
                    self.assertTrue(value.__doc__, f"{name}.{part}")

    def test_stubs_say_what_is_there(self):
        import ast
        import inspect
        tree = ast.parse((ROOT / "python" / "tribo" / "__init__.pyi").read_text(encoding="utf-8"))

        def compare(node, owner, where):
            it = inspect.getattr_static(owner, node.name, None)
            self.assertIsNotNone(it, where + node.name)
            if any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list):
                return
            wanted = [a.arg for a in node.args.args + node.args.kwonlyargs if a.arg not in ("self", "cls")]
            kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
            found = inspect.signature(getattr(owner, node.name)).parameters.values()
            self.assertEqual([p.name for p in found if p.kind not in kinds and p.name != "self"], wanted, where + node.name)

        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                compare(node, tribo, "")
            elif isinstance(node, ast.ClassDef):
                for part in node.body:
                    if isinstance(part, ast.FunctionDef) and not part.name.startswith("__"):
                        compare(part, getattr(tribo, node.name), node.name + ".")
        named = {n.name for n in tree.body if hasattr(n, "name")}
        self.assertLessEqual(set(tribo.__all__), named)

    def test_torch_is_not_imported_unasked(self):
        import subprocess
        import sys
        code = "import sys, tribo; sys.exit('torch' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code]).returncode, 0)


if __name__ == "__main__":
    main()
