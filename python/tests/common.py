"""common.py -- what the tests share: where the scenes are."""
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCENES = ROOT / "data" / "scenes"


def scene(name):
    return str(SCENES / f"{name}.xml")


def main():
    """Run the tests of a file, and say at the end what tests/checks/count.py reads."""
    os.chdir(ROOT)
    program = unittest.main(exit=False, verbosity=0)
    r = program.result
    print(f"Checks: {r.testsRun}, Failures: {len(r.failures)}, Errors: {len(r.errors)}")
    sys.exit(not r.wasSuccessful())
