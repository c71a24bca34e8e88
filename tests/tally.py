"""tally.py -- what tests of the command in Python share: checks that are counted, the command run, Check's last line."""
import subprocess
import sys

checks = failures = 0


def check(name, good, why=""):
    """Count a check; say which failed."""
    global checks, failures
    checks += 1
    if not good:
        failures += 1
        print(f"failed: {name}{': ' if why else ''}{why}")


def run(*words, status=0):
    """Run a command, which has to end with `status`; what it said on standard output."""
    words = [str(w) for w in words]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    check(" ".join(words), done.returncode == status, f"exit status {done.returncode}: {done.stderr[-300:]}")
    return done.stdout


def end():
    """Check's line, and the end of the test."""
    print(f"Checks: {checks}, Failures: {failures}, Errors: 0")
    sys.exit(failures != 0)
