"""Gymnasium environments, by Gymnasium's own checker."""

import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from pliant import envs  # noqa: E402
from pliant.errors import ArgumentError  # noqa: E402


@pytest.mark.parametrize("name", ["pliant/Reach-v0", "pliant/Track-v0"])
def test_checker(name):
    from gymnasium.utils.env_checker import check_env

    envs.register()
    env = gymnasium.make(name, robot="printed_link", render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_env(env.unwrapped, skip_render_check=False)
    env.reset(seed=0)
    picture = env.render()
    assert picture.shape[2] == 3
    assert picture.std() > 1


def test_seeding_and_reward():
    envs.register()
    env = gymnasium.make("pliant/Reach-v0", robot="octopus_arm")
    first, _ = env.reset(seed=3)
    again, _ = env.reset(seed=3)
    other, _ = env.reset(seed=4)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    _, reward, terminated, truncated, info = env.step(np.zeros(env.action_space.shape, np.float32))
    assert -2 < reward <= 0
    assert info["distance"] > 0
    assert not truncated
    assert terminated in (True, False)


def test_vectorised():
    envs.register()
    many = gymnasium.make_vec("pliant/Track-v0", num_envs=2, vectorization_mode="sync", robot="printed_link")
    obs, _ = many.reset(seed=0)
    assert obs.shape[0] == 2
    obs, reward, *_ = many.step(many.action_space.sample())
    assert np.isfinite(obs).all()
    assert np.isfinite(reward).all()
    many.close()


def test_bad_names():
    with pytest.raises(ArgumentError, match="robot"):
        envs.ArmEnv("nothing")
    with pytest.raises(ArgumentError, match="task"):
        envs.ArmEnv(task="fly")
