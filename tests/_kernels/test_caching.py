"""Compiled code on disk is never taken for that of another version or source."""

import pytest
from numba.core.caching import IndexDataCacheFile

from pliant._kernels import caching, notice


def cache(folder, stamp="now"):
    return IndexDataCacheFile(str(folder), "module.function-1.py311", stamp)


def interleaved(folder, monkeypatch):
    """One process saves in the middle of another one's saving, without having seen what that one wrote."""
    one, other = cache(folder), cache(folder)
    monkeypatch.setattr(other, "_load_index", dict)
    write = one._save_data

    def late(name, data):
        other.save("b", "code of b")
        write(name, data)

    monkeypatch.setattr(one, "_save_data", late)
    one.save("a", "code of a")
    return {key: cache(folder).load(key) for key in "ab"}


def test_two_processes_at_once_never_get_each_other_s_code(tmp_path, monkeypatch):
    found = interleaved(tmp_path, monkeypatch)
    assert found["a"] in ("code of a", None)
    assert found["b"] in ("code of b", None)
    assert "code of a" in found.values()


def test_older_code_under_the_same_key_is_neither_found_nor_kept(tmp_path, monkeypatch):
    cache(tmp_path, "old").save("a", "old code")
    new = cache(tmp_path, "new")
    assert new.load("a") is None
    seen = []
    write = new._save_index

    def watched(overloads):
        write(overloads)
        seen.append(cache(tmp_path, "new").load("a"))  # what another process gets as soon as the index is there

    monkeypatch.setattr(new, "_save_index", watched)
    new.save("a", "new code")
    assert seen == ["new code"]
    assert len(list(tmp_path.glob("*.nbc"))) == 1


def test_versions_of_a_function_are_kept_side_by_side(tmp_path):
    files = cache(tmp_path)
    for key in "abc":
        files.save(key, key.upper())
    assert [cache(tmp_path).load(key) for key in "abcd"] == ["A", "B", "C", None]
    files.save("b", "again")
    assert [cache(tmp_path).load(key) for key in "abc"] == ["A", "again", "C"]


def test_it_is_there_whenever_a_kernel_is():
    assert notice.caching is caching
    assert IndexDataCacheFile.save is caching.save_apart


@pytest.mark.parametrize("base", ["lie", "materials_invariants", "network", "bvh", "lapack"])
def test_modules_that_others_build_on_bring_it(base):
    module = __import__(f"pliant._kernels.{base}", fromlist=["notice"])
    assert module.notice.caching is caching
