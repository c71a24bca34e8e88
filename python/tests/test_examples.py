"""test_examples.py -- the scripts of examples/python, and the numbers that they print."""
import importlib.util
import subprocess
import sys
import unittest

from common import ROOT, main

TORCH = importlib.util.find_spec("torch") is not None
# Script, whether it needs torch, and from and to of each number.
EXAMPLES = [
    ("first", False, {"position": (0.754259499, 0.754259501), "d(position)/d(friction)": (-1.228702501, -1.228702499)}),
    ("friction", True, {"friction": (0.309999999, 0.310000001)}),
    ("identify", False, {"cube/mass": (0.57, 0.63), "floor/friction": (0.19, 0.21), "impact/restitution": (0.475, 0.525),
                         "floor/friction/std_error": (1e-5, 0.002), "directions_left_open": (0, 0)}),
    ("randomise", False, {"worst_error": (0, 1e-12), "worst_gradient_error": (0, 1e-9)}),
    ("policy", True, {"still_standing": (0.95, 1)}),
    ("mujoco", False, {"by_place": (1 - 1e-12, 1 + 1e-12), "by_speed": (0.0999999, 0.1000001)}),
]


class Examples(unittest.TestCase):
    def test_numbers(self):
        for name, torch, wanted in EXAMPLES:
            if torch and not TORCH:
                print(f"skipped: examples/python/{name}.py: there is no torch")
                continue
            done = subprocess.run([sys.executable, f"examples/python/{name}.py"], cwd=ROOT, capture_output=True, text=True)
            if done.returncode == 77:
                print(done.stdout.strip())
                continue
            with self.subTest(name):
                self.assertEqual(done.returncode, 0, done.stderr)
                found = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
                for what, (low, high) in wanted.items():
                    self.assertTrue(low <= float(found[what]) <= high, f"{what} {found[what]}")


if __name__ == "__main__":
    main()
