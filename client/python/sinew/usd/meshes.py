"""The arrays of a mesh, its weights and its blend shapes."""

import typing

import numpy as np
from pxr import UsdGeom, UsdSkel  # type: ignore[import]

from .._text import counted
from ..mesh_data import MeshData, ShapeData
from .problems import Problems, bad, expect_finite
from .skeletons import EARLIEST, Skeleton, columns

_REPORTED_OFF = 1e-6  # rounding of float32 weights is not worth a word


def read_mesh(mesh: typing.Any, name: str, problems: Problems) -> typing.Optional[MeshData]:
    """The mesh in its own space, without skin. None if it has no points."""
    place = str(mesh.GetPath())
    attribute = mesh.GetPointsAttr()
    points = np.array(attribute.Get(EARLIEST) or [], np.float32).reshape(-1, 3)
    if len(points) == 0:
        problems.lost(place, "the mesh has no points")
        return None
    expect_finite(attribute.GetPath(), points)
    if attribute.ValueMightBeTimeVarying():
        problems.lost(place, "points that are animated; the mesh has those of the first time")
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get(EARLIEST) or [], np.int64)
    corners = np.array(mesh.GetFaceVertexIndicesAttr().Get(EARLIEST) or [], np.int64)
    _expect_faces(place, counts, corners, len(points))
    order = _corner_order(mesh, counts)
    uvs = _uvs(mesh, counts, corners, len(points), problems)
    if (counts < 3).any():
        problems.lost(place, counted((counts < 3).sum(), "face") + " of fewer than 3 corners")
    if mesh.ComputeVisibility(EARLIEST) == UsdGeom.Tokens.invisible:
        problems.warn(place, "the stage hides this mesh, which is read all the same; remove what is not part of the "
                      "character")
    kept = (counts >= 3) & ~_holes(mesh, len(counts))
    faces = np.repeat(kept, counts)
    return MeshData(name, points, corners[order][faces], face_sizes=counts[kept], place=place,
                    uvs=None if uvs is None else uvs[order][faces], normals=_normals(mesh, len(points), problems))


def _expect_faces(place: str, counts: typing.Any, corners: typing.Any, points: int) -> None:
    if (counts < 0).any():
        raise bad(f"{place}.faceVertexCounts", f"got {counts.min()}, need numbers of corners")
    if counts.sum() != len(corners):
        raise bad(f"{place}.faceVertexIndices", f"got {len(corners)}, need the sum of faceVertexCounts, {counts.sum()}")
    wrong = (corners < 0) | (corners >= points)
    if wrong.any():
        corner = int(wrong.argmax())
        raise bad(f"{place}.faceVertexIndices", f"got {corners[corner]} at {corner}, need 0 to {points - 1}")


def _holes(mesh: typing.Any, faces: int) -> typing.Any:
    """(faces,) whether a face is a hole."""
    attribute = mesh.GetHoleIndicesAttr()
    indices = np.array(attribute.Get(EARLIEST) or [], np.int64)
    wrong = (indices < 0) | (indices >= faces)
    if wrong.any():
        raise bad(attribute.GetPath(), f"got {indices[wrong][0]}, need 0 to {faces - 1}")
    holes = np.zeros(faces, bool)
    holes[indices] = True
    return holes


def _corner_order(mesh: typing.Any, counts: typing.Any) -> typing.Any:
    """Which corner comes where, so that faces turn right-handed; the first corner stays the first."""
    order = np.arange(counts.sum())
    if mesh.GetOrientationAttr().Get(EARLIEST) != UsdGeom.Tokens.leftHanded:
        return order
    first = np.repeat(np.cumsum(counts) - counts, counts)
    size = np.repeat(counts, counts)
    return first + (size - (order - first)) % np.maximum(size, 1)


def _uvs(mesh: typing.Any, counts: typing.Any, corners: typing.Any, points: int,
         problems: Problems) -> typing.Any:
    """(corners, 2) of the primvar st, or None."""
    primvar = UsdGeom.PrimvarsAPI(mesh).FindPrimvarWithInheritance("st")
    if not primvar or not primvar.HasValue():
        return None
    values = np.array(primvar.ComputeFlattened(EARLIEST) or [], np.float32)
    interpolation = str(primvar.GetInterpolation())
    need = {"constant": 1, "uniform": len(counts), "vertex": points, "varying": points, "faceVarying": len(corners)}
    if values.shape != (need.get(interpolation), 2) or not np.isfinite(values).all():
        problems.lost(primvar.GetAttr().GetPath(), f"texture coordinates: got an array of shape {values.shape}, need "
                      f"({need.get(interpolation)}, 2) finite numbers for interpolation {interpolation}")
        return None
    if interpolation == "faceVarying":
        return values
    if interpolation == "constant":
        return np.tile(values, (len(corners), 1))
    return values[np.repeat(np.arange(len(counts)), counts)] if interpolation == "uniform" else values[corners]


def _normals(mesh: typing.Any, points: int, problems: Problems) -> typing.Any:
    """(V, 3) of unit length if the mesh shows authored normals and has one for each point, else None."""
    if mesh.GetSubdivisionSchemeAttr().Get(EARLIEST) != UsdGeom.Tokens.none:
        return None  # normals come from the limit surface
    primvar = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("normals")
    if primvar and primvar.HasValue():
        values, interpolation = primvar.ComputeFlattened(EARLIEST), str(primvar.GetInterpolation())
    else:
        values, interpolation = mesh.GetNormalsAttr().Get(EARLIEST), str(mesh.GetNormalsInterpolation())
    normals = np.array(values or [], np.float32).reshape(-1, 3)
    if len(normals) == 0:
        return None
    with np.errstate(invalid="ignore"):
        lengths = np.linalg.norm(normals.astype(float), axis=1)
    if interpolation in ("vertex", "varying") and len(normals) == points and (lengths > 0).all() \
            and np.isfinite(lengths).all():
        return normals / lengths[:, None]
    problems.info(mesh.GetPath(), f"normals of interpolation {interpolation} are not read; they come from the faces")
    return None


def influence_primvars(prim: typing.Any) -> typing.Optional[typing.Tuple[typing.Any, typing.Any]]:
    """jointIndices and jointWeights of a prim or above it, or None without both."""
    api = UsdGeom.PrimvarsAPI(prim)
    indices, weights = (api.FindPrimvarWithInheritance(name) for name in ("skel:jointIndices", "skel:jointWeights"))
    has_indices, has_weights = (bool(primvar) and primvar.HasValue() for primvar in (indices, weights))
    if has_indices != has_weights:
        missing = "skel:jointWeights" if has_indices else "skel:jointIndices"
        raise bad(prim.GetPath(), f"primvars:{missing} is missing, need jointIndices and jointWeights")
    return (indices, weights) if has_indices else None


def bind(data: MeshData, query: typing.Any, skeleton: Skeleton, primvars: typing.Tuple[typing.Any, typing.Any],
         problems: Problems) -> None:
    """Adds the skin: weights of the joints of `skeleton`, and matrices from mesh to joint."""
    order = query.GetJointOrder()
    joints = _joint_order(data.place, order, skeleton)
    indices, weights = _influences(data.place, len(data.positions), primvars)
    used = weights != 0
    wrong = used & ((indices < 0) | (indices >= len(joints)))
    if wrong.any():
        vertex = int(wrong.any(axis=1).argmax())
        raise bad(f"{data.place}.primvars:skel:jointIndices", f"vertex {vertex} names joint "
                  f"{indices[vertex][wrong[vertex]][0]}, need 0 to {len(joints) - 1}")
    sums = weights.sum(axis=1)
    weighted = sums > 0
    off = weighted & (abs(sums - 1) > _REPORTED_OFF)
    if off.any():
        problems.warn(data.place, f"weights of {counted(off.sum(), 'vertex', 'vertices')} normalised, which UsdSkel does not do; their sums ran "
                      f"from {sums[off].min():.6g} to {sums[off].max():.6g}")
    data.weights = weights / np.where(weighted, sums, 1)[:, None]
    data.influences = skeleton.first + joints[np.where(used, indices, 0)]
    data.joints = skeleton.first + np.unique(joints)
    geometry = np.array(query.GetGeomBindTransform(EARLIEST), float)
    expect_finite(f"{data.place}.primvars:skel:geomBindTransform", geometry)
    data.inverse_bind = columns(geometry @ skeleton.inverse_bind()[np.unique(joints)])
    animated = [query.GetGeomBindTransformAttr(), *(primvar.GetAttr() for primvar in primvars)]
    if any(attribute and attribute.ValueMightBeTimeVarying() for attribute in animated):
        problems.lost(data.place, "weights or skel:geomBindTransform that are animated; the mesh has those of the first "
                      "time")
    method = query.GetSkinningMethod()
    if method == UsdSkel.Tokens.dualQuaternion:
        problems.info(data.place, "skel:skinningMethod is dualQuaternion: the recipe dqs deforms like it where joints do "
                      "not scale")
    elif method != UsdSkel.Tokens.classicLinear:
        problems.warn(data.place, f"skel:skinningMethod is {method}, which is not known")


def _joint_order(place: str, order: typing.Any, skeleton: Skeleton) -> typing.Any:
    """Joints of the skeleton by the numbers that the weights of a mesh use."""
    if order is None:
        return np.arange(len(skeleton.joints))
    for j, joint in enumerate(order):
        if str(joint) not in skeleton.index:
            raise bad(f"{place}.skel:joints", f"'{joint}' at {j} is no joint of {skeleton.place}")
    if len(order) == 0:
        raise bad(f"{place}.skel:joints", "got none, need one or more")
    return np.array([skeleton.index[str(joint)] for joint in order])


def _influences(place: str, points: int,
                primvars: typing.Tuple[typing.Any, typing.Any]) -> typing.Tuple[typing.Any, typing.Any]:
    """Numbers of joints and weights, (V, N)."""
    interpolation = str(primvars[0].GetInterpolation())
    size = primvars[0].GetElementSize()
    if interpolation not in ("vertex", "constant"):
        raise bad(primvars[0].GetAttr().GetPath(), f"interpolation: got {interpolation}, need vertex or constant")
    for what, got, need in (("interpolation", str(primvars[1].GetInterpolation()), interpolation),
                            ("elementSize", primvars[1].GetElementSize(), size)):
        if got != need:
            raise bad(primvars[1].GetAttr().GetPath(), f"{what}: got {got}, need that of jointIndices, {need}")
    rows = 1 if interpolation == "constant" else points
    arrays = []
    for primvar, kind in zip(primvars, (np.int64, np.float64)):
        values = np.array(primvar.ComputeFlattened(EARLIEST) or [], kind)
        if size < 1 or values.shape != (rows * size,):
            raise bad(primvar.GetAttr().GetPath(), f"got {counted(len(values), 'value')}, need {rows * size}: {size} for "
                      + ("the mesh" if interpolation == "constant" else f"each of {points} points"))
        arrays.append(np.broadcast_to(values.reshape(rows, size), (points, size)))
    indices, weights = arrays
    expect_finite(primvars[1].GetAttr().GetPath(), weights)
    if (weights < 0).any():
        vertex = int((weights < 0).any(axis=1).argmax())
        raise bad(primvars[1].GetAttr().GetPath(), f"vertex {vertex} has the weight {weights[vertex].min():g}, need >= 0")
    return indices, weights


def read_shapes(data: MeshData, query: typing.Any, problems: Problems,
                control: typing.Callable[[str], str]) -> None:
    """Adds the blend shapes. `control` names the control of a blend shape."""
    attribute, relationship = query.GetBlendShapesAttr(), query.GetBlendShapeTargetsRel()
    names = [str(name) for name in (attribute.Get(EARLIEST) if attribute else None) or []]
    targets = list(relationship.GetTargets()) if relationship else []
    if len(names) != len(targets):
        raise bad(f"{data.place}.skel:blendShapeTargets", f"got {len(targets)}, need one for each of the {len(names)} "
                  "names in skel:blendShapes")
    if len(set(names)) != len(names):
        raise bad(f"{data.place}.skel:blendShapes", "a name is there more than once")
    for name, target in zip(names, targets):
        shape = UsdSkel.BlendShape(relationship.GetStage().GetPrimAtPath(target))
        if not shape:
            raise bad(f"{data.place}.skel:blendShapeTargets", f"{target} is no BlendShape")
        data.shapes[control(name)] = _shape(shape, data, problems)


def _shape(shape: typing.Any, data: MeshData, problems: Problems) -> typing.List[ShapeData]:
    """The targets of a blend shape by rising weight: in-betweens and, at 1, itself."""
    place = str(shape.GetPath())
    points = len(data.positions)
    vertices = np.array(shape.GetPointIndicesAttr().Get(EARLIEST) or [], np.int64)
    if ((vertices < 0) | (vertices >= points)).any():
        wrong = vertices[(vertices < 0) | (vertices >= points)][0]
        raise bad(f"{place}.pointIndices", f"got {wrong}, need 0 to {points - 1}")
    rows = len(vertices) if len(vertices) else points

    def offsets(path: object, values: typing.Any, optional: bool) -> typing.Any:
        array = np.array(values or [], np.float32).reshape(-1, 3)
        if optional and len(array) == 0:
            return None
        if len(array) != rows:
            raise bad(path, f"got {counted(len(array), 'offset')}, need {rows}: one for each of "
                      + ("pointIndices" if len(vertices) else "the points"))
        expect_finite(path, array)
        return array

    def target(weight: float, attribute: typing.Any, normals: typing.Any) -> ShapeData:
        moved = offsets(attribute.GetPath(), attribute.Get(EARLIEST), False)
        turned = None if data.normals is None else offsets(
            normals.GetPath() if normals else place, normals.Get(EARLIEST) if normals else None, True)
        if len(vertices) == 0:
            return ShapeData(moved, weight, None, turned)
        # Rising, each once: UsdSkel adds up the offsets of a point.
        unique, rank = np.unique(vertices, return_inverse=True)
        return ShapeData(_summed(moved, rank, len(unique)), weight, unique,
                         None if turned is None else _summed(turned, rank, len(unique)))

    targets = [target(1.0, shape.GetOffsetsAttr(), shape.GetNormalOffsetsAttr())]
    for between in shape.GetInbetweens():
        weight = between.GetWeight() if between.HasAuthoredWeight() else None
        if weight is None or not np.isfinite(weight) or weight in (0, 1):
            problems.lost(between.GetAttr().GetPath(), f"an in-between of weight {weight}, which UsdSkel skips; need one "
                          "other than 0 and 1")
            continue
        targets.append(target(float(weight), between.GetAttr(), between.GetNormalOffsetsAttr()))
    targets.sort(key=lambda each: each.weight)
    for before, after in zip(targets, targets[1:]):
        if before.weight == after.weight:
            raise bad(place, f"two in-betweens have the weight {after.weight:g}")
    return targets


def _summed(values: typing.Any, rank: typing.Any, count: int) -> typing.Any:
    sums = np.zeros((count, 3))
    np.add.at(sums, rank, values)
    return sums
