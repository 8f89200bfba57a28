"""The shape of the package: dependencies point one way, files stay small, importing is light."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pliant

ROOT = Path(pliant.__file__).parent
# Each layer may import from its own and the earlier ones only. `_kernels` is plain arrays and may be used everywhere.
LAYERS = [
    {"errors", "checks", "_kernels"},
    {"lie", "geometry", "materials", "algebra"},
    {"robot", "bodies", "actuators", "contact", "state", "trajectory", "robot_file", "robot_fields", "robot_saving",
     "robot_toml", "archive"},
    {"models"},
    {"solve"},
    {"inverse"},
    {"control", "learn", "design", "composer", "fluidics"},
    {"robots"},
    {"viewer", "cli", "envs", "export"},
]  # fmt: skip
LEVEL = {name: i for i, layer in enumerate(LAYERS) for name in layer}
HEAVY = ("numba", "scipy", "torch", "viser", "matplotlib", "h5py", "meshio", "trimesh", "rich", "dask", "mujoco")


def sources() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def imports(path: Path) -> list[tuple[int, str]]:
    """(line, module) of everything imported from pliant when the code runs; type annotations do not count."""
    out: list[tuple[int, str]] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            return
        if isinstance(node, ast.Import):
            out.extend((node.lineno, a.name) for a in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"pliant.{a.name}" for a in node.names] if node.module == "pliant" else [node.module]
            out.extend((node.lineno, name) for name in names)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text()))
    return [(line, name) for line, name in out if name.startswith("pliant.")]


def test_every_part_has_a_layer():
    parts = {p.relative_to(ROOT).parts[0].removesuffix(".py") for p in sources()}
    assert parts - {"__init__", "__main__"} <= set(LEVEL)


def test_dependencies_point_one_way():
    wrong = []
    for path in sources():
        part = path.relative_to(ROOT).parts[0].removesuffix(".py")
        if part in ("__init__", "__main__"):
            continue
        for line, name in imports(path):
            other = name.split(".")[1]
            if other.startswith("__"):
                continue
            # Robot.save and Robot.load are methods whose code lives in files of their own.
            if LEVEL[other] > LEVEL[part]:
                wrong.append(f"{path.relative_to(ROOT)}:{line} ({part}) imports {name}")
    assert not wrong, "\n".join(wrong)


def test_kernels_know_nothing_of_objects():
    wrong = [
        f"{p.name}:{line} imports {name}"
        for p in (ROOT / "_kernels").glob("*.py")
        for line, name in imports(p)
        if not name.startswith("pliant._kernels")
    ]
    assert not wrong, "\n".join(wrong)


def test_files_stay_small():
    long = {str(p.relative_to(ROOT)): n for p in sources() if (n := len(p.read_text().splitlines())) > 500}
    assert not long


def test_no_drawers_for_everything():
    names = {p.stem for p in sources()}
    assert not names & {"utils", "util", "helpers", "helper", "common", "misc"}


def test_no_assert_for_mistakes_of_users():
    """`assert` may state an invariant for the type checker, never carry a message for a user."""
    wrong = []
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Assert) and node.msg is not None:
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", pliant.__all__)
def test_public_names_are_importable(name):
    assert getattr(pliant, name) is not None


def test_public_names_are_unique_and_listed():
    assert len(set(pliant.__all__)) == len(pliant.__all__)
    assert set(pliant.__all__) <= set(dir(pliant))
    with pytest.raises(AttributeError, match="nonsense"):
        pliant.nonsense


def test_public_names_say_what_they_are():
    undocumented = [n for n in pliant.__all__ if n != "__version__" and not (getattr(pliant, n).__doc__ or "").strip()]
    assert not undocumented


def test_import_is_light():
    code = f"import sys, pliant; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_describing_a_robot_does_not_draw():
    code = "import sys, pliant as pl; pl.FemModel(pl.robots.finger()); print([m for m in " \
        "('torch', 'viser', 'matplotlib', 'h5py', 'trimesh', 'rich') if m in sys.modules])"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_types_of_the_public_names_are_declared():
    """Names are loaded lazily; editors and type checkers read them from the stub, which must not drift."""
    homes = dict(pliant._HOME)
    homes |= {name: home.rpartition(".")[0] for name, home in pliant._MODULES.items()}
    stub = ast.parse((ROOT / "__init__.pyi").read_text())
    declared = {a.asname: node.module for node in stub.body if isinstance(node, ast.ImportFrom) for a in node.names}
    assert declared == homes


def test_examples_take_public_names_by_their_public_path():
    """One import path per name: `pl.RodModel`, never `from pliant.models.rod import RodModel`."""
    wrong = [
        f"{path.name}:{node.lineno} {alias.name}"
        for path in sorted((ROOT.parent.parent / "examples").glob("*.py"))
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if pliant._HOME.get(alias.name) == node.module
    ]
    assert not wrong, "\n".join(wrong)


def test_extras_that_errors_name_exist():
    """`MissingExtraError(package, extra)` tells to install an extra: it must be there, with that package in it."""
    project = tomllib.loads((ROOT.parent.parent / "pyproject.toml").read_text())["project"]
    extras = {k: [re.split(r"[>=<\[]", p)[0] for p in v] for k, v in project["optional-dependencies"].items()}
    told = re.compile(r'MissingExtraError\("([\w-]+)", "(\w+)"\)')
    named = [found for path in sources() for found in told.findall(path.read_text())]
    assert len(named) > 5
    assert [pair for pair in named if pair[0] not in extras.get(pair[1], ())] == []
