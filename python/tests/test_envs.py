"""test_envs.py -- the vector environment's manners."""
import unittest

import numpy as np
from common import main, scene

import tribo
import tribo.envs


class Protocol(unittest.TestCase):
    def run_one(self, env, steps, seed):
        env.reset(seed=seed)
        env.action_space.seed(seed)
        return [env.step(env.action_space.sample()) for _ in range(steps)]

    def test_shapes_and_types(self):
        for env in (tribo.envs.CartPole(7), tribo.envs.Hopper(scene("hopper"), 3)):
            obs, info = env.reset(seed=1)
            self.assertEqual((obs.shape, obs.dtype, info), (env.observation_space.shape, np.float64, {}))
            obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
            n = env.num_envs
            self.assertEqual((obs.shape, reward.shape, terminated.shape, truncated.shape),
                             (env.observation_space.shape, (n,), (n,), (n,)))
            self.assertEqual((terminated.dtype, truncated.dtype), (bool, bool))
            self.assertIn(obs[0], env.single_observation_space)
            env.close()

    def test_a_seed_gives_the_same_bits(self):
        a, b = (self.run_one(tribo.envs.CartPole(5, randomise=True), 120, 3) for _ in range(2))
        for one, two in zip(a, b):
            self.assertTrue(all((x == y).all() for x, y in zip(one[:4], two[:4])))

    def test_worlds_begin_again(self):
        env = tribo.envs.CartPole(4, max_steps=50)
        ends = [o for o in self.run_one(env, 60, 2) if o[4]]
        self.assertTrue(ends)
        for obs, _, terminated, truncated, info in ends:
            self.assertTrue((info["_final_obs"] == (terminated | truncated)).all())
            self.assertTrue((abs(obs[info["_final_obs"]]) <= 0.1).all())
        self.assertTrue(any(o[3].any() for o in self.run_one(tribo.envs.VectorEnv(tribo.load(scene("slide")), 2, max_steps=3), 4, 1)))

    def test_parameters_of_their_own(self):
        env = tribo.envs.CartPole(6, randomise=True)
        env.reset(seed=1)
        self.assertEqual(len(set(env.P["pole/mass"])), 6)

    def test_what_is_refused(self):
        env = tribo.envs.CartPole(4)
        env.reset(seed=1)
        for bad in (np.zeros(4), np.zeros((4, 1), np.float32), np.zeros((3, 1)), [[0.0]] * 3):
            with self.assertRaises(tribo.ArrayError):
                env.step(bad)
        with self.assertRaises(tribo.NonFiniteError):
            env.step(np.full((4, 1), np.nan))
        with self.assertRaises(tribo.ArgumentError):
            tribo.envs.CartPole(0)


if __name__ == "__main__":
    main()
