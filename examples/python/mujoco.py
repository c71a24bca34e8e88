"""d(end)/d(start) of a sliding cube: exact here, by differences in MuJoCo, where its library is installed.

MuJoCo's contact is soft and its derivatives are differences (mjd_transitionFD); the exact answer of hard contact is that the
end moves with the start, and by the time of flight with the velocity."""
import ctypes
import ctypes.util
import sys

import numpy as np
import tribo

STEPS, SCENE = 100, "data/scenes/slide.xml"


def mujoco_product(nv):
    """The product of MuJoCo's transition matrices along the motion from the first keyframe; None without MuJoCo."""
    found = ctypes.util.find_library("mujoco")
    if not found:
        return None
    lib, error = ctypes.CDLL(found), ctypes.create_string_buffer(1000)
    for name in ("mj_loadXML", "mj_makeData"):
        getattr(lib, name).restype = ctypes.c_void_p
    lib.mjd_transitionFD.argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_double, ctypes.c_ubyte] + [ctypes.c_void_p] * 4
    m = ctypes.c_void_p(lib.mj_loadXML(SCENE.encode(), None, error, 1000))
    d = ctypes.c_void_p(lib.mj_makeData(m))
    lib.mj_resetDataKeyframe(m, d, 0)
    product, A = np.eye(2 * nv), np.zeros((2 * nv, 2 * nv))
    for _ in range(STEPS):
        lib.mjd_transitionFD(m, d, 1e-6, 1, A.ctypes.data, None, None, None)
        product = A @ product
        lib.mj_step(m, d)
    return product


model = tribo.load(SCENE)
run = tribo.rollout(model, steps=STEPS)
lx = np.zeros((STEPS + 1, model.ndx))
lx[-1, 0] = 1
own = run.backward(lx).x0
theirs = mujoco_product(model.nv)
if theirs is None:
    print("skipped: MuJoCo's library is not installed")
    sys.exit(77)
print(f"by_place {own[0]:.9f}")
print(f"by_speed {own[model.nv]:.9f}")
print(f"mujoco_by_place {theirs[0, 0]:.6f}")
print(f"mujoco_by_speed {theirs[0, model.nv]:.6f}")
