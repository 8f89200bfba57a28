"""Mesh files: round trips, units, broken and hostile input, no half-written output."""

import numpy as np
import pytest

from pliant.errors import ArgumentError, FileError
from pliant.geometry import Sphere, TetMesh, mesh_surface, read_mesh, read_surface, write_mesh, write_surface
from pliant.geometry.surface import weld


@pytest.fixture(scope="module")
def body():
    mask = np.ones((5, 3, 3), dtype=bool)
    mask[2, 1, 1] = False
    mesh = TetMesh.voxels(mask, 0.01).with_cavity("chamber")
    mesh = mesh.with_region("left", lambda x: x[:, 0] < 0.03).with_region("low|end", lambda x: x[:, 2] < 0.01)
    return mesh.with_node_set("base", lambda x: x[:, 0] == 0).with_surface(
        "end face", lambda x: x[:, 0] > 0.0499
    )


@pytest.mark.parametrize("ending", ["vtu", "vtk", "msh"])
@pytest.mark.parametrize("units", ["m", "mm"])
def test_everything_survives(body, ending, units, tmp_path):
    path = write_mesh(
        body,
        tmp_path / f"body.{ending}",
        units=units,
        point_data={"u": body.nodes, "flag": body.nodes[:, 0] > 0},
        cell_data={"volume": body.volumes()},
    )
    again = read_mesh(path, units=units)
    np.testing.assert_allclose(again.nodes, body.nodes, rtol=1e-14, atol=1e-17)
    np.testing.assert_array_equal(again.tets, body.tets)
    for label in ("regions", "node_sets", "surfaces", "cavities"):
        assert set(getattr(again, label)) == set(getattr(body, label))
        for name, ids in getattr(body, label).items():
            np.testing.assert_array_equal(getattr(again, label)[name], ids)
    again.validate()


@pytest.mark.parametrize("ending", ["vtu", "vtk", "msh"])
def test_hexahedra_and_mixed_meshes(ending, tmp_path):
    hexes = TetMesh.box((1, 1, 1), (2, 2, 2), hexes=True).with_region("one", [3])
    again = read_mesh(write_mesh(hexes, tmp_path / f"hex.{ending}"))
    np.testing.assert_array_equal(again.hexes, hexes.hexes)
    assert again.regions["one"].tolist() == [3]
    mixed = hexes.merged(TetMesh.box((1, 1, 1), (1, 1, 1)).transformed(translation=(3, 0, 0)))
    again = read_mesh(write_mesh(mixed, tmp_path / f"mixed.{ending}"))
    assert again.volume == pytest.approx(2.0)
    np.testing.assert_array_equal(again.regions["one"], mixed.regions["one"])


@pytest.mark.parametrize("ending", ["stl", "obj", "ply"])
def test_surface_formats(body, ending, tmp_path):
    path = write_mesh(body, tmp_path / f"body.{ending}", units="mm")
    _, triangles = weld(*read_surface(path, units="mm"))
    assert len(triangles) == len(body.boundary())
    mesh = mesh_surface(path, 0.005, units="mm")
    assert mesh.volume == pytest.approx(body.volume, rel=0.02)


def test_inverted_tets_of_a_file_are_turned(tmp_path):
    import meshio

    box = TetMesh.box((1, 1, 1), (1, 1, 1))
    meshio.Mesh(box.nodes, [("tetra", box.tets[:, ::-1])]).write(tmp_path / "turned.vtu")
    assert read_mesh(tmp_path / "turned.vtu").volumes().min() > 0.0


def test_foreign_gmsh_groups(tmp_path):
    text = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
3 7 "rubber"
2 8 "skin"
$EndPhysicalNames
$Nodes
5
1 0 0 0
2 1 0 0
3 0 1 0
4 0 0 1
5 9 9 9
$EndNodes
$Elements
2
1 2 2 8 1 1 2 3
2 4 2 7 1 1 2 3 4
$EndElements
"""
    (tmp_path / "foreign.msh").write_text(text)
    mesh = read_mesh(tmp_path / "foreign.msh")
    assert len(mesh.nodes) == 4
    assert mesh.regions["rubber"].tolist() == [0]
    assert mesh.surfaces["skin"].tolist()[0] in ([0, 2, 1], [2, 1, 0], [1, 0, 2])


HOSTILE = {
    "empty.vtu": b"",
    "text.vtk": b"hello, I am not a mesh",
    "cut.msh": b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n100\n1 0 0 0\n",
    "entity.vtu": b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><VTKFile>&x;</VTKFile>',
    "zeros.stl": b"\0" * 500,
    "liar.stl": b"\0" * 80 + b"\xff\xff\xff\x7f",
    "bad.obj": b"f 1 2 3\n",
    "bad.ply": b"ply\nformat ascii 1.0\nelement vertex 1000000\n",
    "range.msh": b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n"
    b"1 4 2 0 0 1 2 3 99\n$EndElements\n",
    "nan.vtk": b"# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n"
    b"0 0 0 1 0 0 0 1 0 nan 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_broken_files_give_a_file_error(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(HOSTILE[name])
    reader = read_mesh if path.suffix in (".vtu", ".vtk", ".msh") else read_surface
    with pytest.raises(FileError, match=name):
        reader(path)


def test_missing_and_unknown_files(tmp_path):
    for name in ("none.vtu", "none.xyz"):
        with pytest.raises(FileError):
            read_mesh(tmp_path / name)
    with pytest.raises(ArgumentError, match="units"):
        read_mesh(tmp_path / "none.vtu", units="inch")
    (tmp_path / "folder.vtu").mkdir()
    with pytest.raises(FileError):
        read_mesh(tmp_path / "folder.vtu")


def test_surface_only_file_is_no_volume(body, tmp_path):
    import meshio

    meshio.Mesh(body.nodes, [("triangle", body.boundary())]).write(tmp_path / "skin.vtu")
    with pytest.raises(FileError, match="no tetrahedra"):
        read_mesh(tmp_path / "skin.vtu")


def test_failed_writes_leave_the_old_file(body, tmp_path, monkeypatch):
    import meshio

    path = tmp_path / "body.vtu"
    path.write_text("precious")

    def fail(*arguments, **options):
        raise OSError("disk full")

    monkeypatch.setattr(meshio.Mesh, "write", fail)
    with pytest.raises(FileError, match="disk full"):
        write_mesh(body, path)
    assert path.read_text() == "precious"
    assert [p.name for p in tmp_path.iterdir()] == ["body.vtu"]


def test_bad_write_input(body, tmp_path):
    with pytest.raises(ArgumentError, match="point_data"):
        write_mesh(body, tmp_path / "a.vtu", point_data={"u": [1, 2]})
    with pytest.raises(ArgumentError, match="cell_data"):
        write_mesh(body, tmp_path / "a.vtu", cell_data={"u": ["a"] * len(body.tets)})
    with pytest.raises(FileError, match="folder"):
        write_mesh(body, tmp_path / "missing" / "a.vtu")
    with pytest.raises(FileError, match="ending"):
        write_mesh(body, tmp_path / "a.txt")
    with pytest.raises(ArgumentError, match="triangles"):
        write_surface(np.zeros((3, 3)), [[0, 1, 5]], tmp_path / "a.stl")
    assert list(tmp_path.iterdir()) == []
    assert Sphere((0, 0, 0), 1).contains([[0, 0, 0]])[0]


def test_bytes_that_are_no_vtu_are_told_in_words(tmp_path):
    path = tmp_path / "noise.vtu"
    path.write_bytes(bytes(np.random.default_rng(0).integers(0, 256, 4000, dtype=np.uint8)))
    with pytest.raises(FileError, match="no VTKFile element"):
        read_mesh(path)
    path.write_bytes(b'<?xml version="1.0"?><VTKFile type="UnstructuredGrid"><broken')
    with pytest.raises(FileError, match=r"as VTU: .*[a-z]{3}"):
        read_mesh(path)
