"""A character as Blender has it: its objects at rest as a sinew.Rig, and its poses.

Model space is the space of the armature object: Blender's Armature modifier deforms there too. Lengths are in its units.
"""

import dataclasses
import typing

import bpy
import mathutils
import numpy as np
import sinew
from sinew._text import counted

STILL_JOINT = "(still)"      # of vertices without weights that stay; its matrix is always the identity
_SMALLEST_WEIGHT_SUM = 1e-4  # Blender's Armature modifier does not move vertices with less
SHAPES_PROPERTY = "sinew_shapes"  # on output objects: values of the source's shape keys, see operators.py


class BindError(Exception):
    """Why objects cannot be bound, for the user."""


@dataclasses.dataclass
class Part:
    """A mesh of the rig. Vertices first to last of a frame are its own."""
    source: str  # name of the object
    first: int
    last: int
    to_object: np.ndarray  # (3, 4): model space to the space of the object, at bind
    shapes: typing.List[int]  # for each shape key after the first: its place among the controls


@dataclasses.dataclass
class Snapshot:
    rig: sinew.Rig
    bones: typing.List[str]  # one for each joint but a last STILL_JOINT
    has_still: bool
    parts: typing.List[Part]
    warnings: typing.List[str]

    def pose(self, armature: bpy.types.Object) -> np.ndarray:
        """(J, 3, 4) joint to model space, of an armature object of a depsgraph."""
        bones = armature.pose.bones
        rows = [bones[name].matrix for name in self.bones]
        if self.has_still:
            rows.append(mathutils.Matrix.Identity(4))
        return np.array(rows, np.float32)[:, :3]

    def controls(self, values: typing.Sequence[typing.Sequence[float]]) -> typing.Optional[np.ndarray]:
        """(K,): from the values of the shape keys of each part."""
        count = len(self.rig.controls)
        if count == 0:
            return None
        result = np.zeros(count, np.float32)
        for part, shapes in zip(self.parts, values):
            result[part.shapes] = shapes
        return result


def armature_modifier(mesh: bpy.types.Object, armature: bpy.types.Object) -> typing.Optional[bpy.types.Modifier]:
    for modifier in mesh.modifiers:
        if modifier.type == "ARMATURE" and modifier.object == armature:
            return modifier
    return None


def _array(collection, attribute: str, width: int, kind: str) -> np.ndarray:
    values = np.empty(len(collection) * width, kind)
    collection.foreach_get(attribute, values)
    return values


def _matrix(rows: mathutils.Matrix) -> np.ndarray:
    return np.array(rows, np.float64)


def _sorted_bones(armature: bpy.types.Object) -> list:
    """Parents first; those of equal depth in Blender's order."""
    return sorted(armature.data.bones, key=lambda bone: len(bone.parent_recursive))


def _points(matrix: np.ndarray, data) -> np.ndarray:
    points = _array(data, "co", 3, "f4").reshape(-1, 3).astype(np.float64)
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def _weights(mesh_object, bone_index: dict) -> typing.Tuple[np.ndarray, np.ndarray]:
    """(V, N) weights that sum to 1, or to 0 where there are none, and their joints."""
    joints = {group.index: bone_index[group.name] for group in mesh_object.vertex_groups if group.name in bone_index}
    vertices = mesh_object.data.vertices
    rows: list = []
    width = 1
    for vertex in vertices:
        row = [(joints[g.group], g.weight) for g in vertex.groups if g.weight > 0 and g.group in joints]
        width = max(width, len(row))
        rows.append(row)
    weights = np.zeros((len(vertices), width))
    influences = np.zeros((len(vertices), width), np.int64)
    for v, row in enumerate(rows):
        for k, (joint, weight) in enumerate(row):
            influences[v, k] = joint
            weights[v, k] = weight
    sums = weights.sum(axis=1, keepdims=True)
    weights[sums[:, 0] <= _SMALLEST_WEIGHT_SUM] = 0
    np.divide(weights, sums, out=weights, where=sums > _SMALLEST_WEIGHT_SUM)
    return weights, influences


def _copy_from_nearest(points: np.ndarray, weights: np.ndarray, influences: np.ndarray, missing: np.ndarray) -> None:
    tree = mathutils.kdtree.KDTree(int((~missing).sum()))
    for v in np.flatnonzero(~missing):
        tree.insert(points[v], int(v))
    tree.balance()
    for v in np.flatnonzero(missing):
        _, nearest, _ = tree.find(points[v])
        weights[v], influences[v] = weights[nearest], influences[nearest]


def _faces(mesh: bpy.types.Mesh, mirrored: bool) -> typing.Tuple[np.ndarray, np.ndarray]:
    sizes = _array(mesh.polygons, "loop_total", 1, "i4")
    corners = _array(mesh.loops, "vertex_index", 1, "i4")
    if mirrored:  # as seen in model space, so that faces still point outward
        starts = np.cumsum(sizes) - sizes
        within = np.arange(len(corners)) - np.repeat(starts, sizes)
        corners = corners[np.repeat(starts + sizes - 1, sizes) - within]
    return corners, sizes


def _shapes(mesh_object, matrix: np.ndarray) -> typing.Dict[str, np.ndarray]:
    """Offsets (V, 3) of each shape key but the first, in model space, by the name of its control."""
    keys = mesh_object.data.shape_keys
    if keys is None:
        return {}
    if not keys.use_relative:
        raise BindError(f"{mesh_object.name}: has absolute shape keys; make them relative")
    offsets = {}
    for key in keys.key_blocks[1:]:
        own = _array(key.data, "co", 3, "f4").reshape(-1, 3).astype(np.float64)
        base = _array(key.relative_key.data, "co", 3, "f4").reshape(-1, 3)
        offset = (own - base) @ matrix[:3, :3].T
        if key.vertex_group and key.vertex_group in mesh_object.vertex_groups:
            offset *= _group_values(mesh_object, key.vertex_group)[:, None]
        offsets[f"{mesh_object.name}/{key.name}"] = offset
    return offsets


def _group_values(mesh_object, name: str) -> np.ndarray:
    """(V,): the weight of a vertex group, 0 where a vertex is not in it."""
    index = mesh_object.vertex_groups[name].index
    values = np.zeros(len(mesh_object.data.vertices))
    for v, vertex in enumerate(mesh_object.data.vertices):
        for group in vertex.groups:
            if group.group == index:
                values[v] = group.weight
    return values


def _up_axis(armature: bpy.types.Object) -> typing.Optional[str]:
    """Which axis of model space is the world's Z."""
    up = np.abs(_matrix(armature.matrix_world)[2, :3])
    return (None, "Y", "Z")[int(up.argmax())]


def _follows(mesh_object: bpy.types.Object, armature: bpy.types.Object) -> bool:
    """Whether a parent moves both or the armature moves the mesh."""
    parents = []
    while mesh_object is not None:
        parents.append(mesh_object)
        mesh_object = mesh_object.parent
    return armature in parents or armature.parent is not None and armature.parent in parents


def _check_modifier(mesh_object, modifier, warn) -> None:
    name = mesh_object.name
    if not modifier.use_vertex_groups:
        raise BindError(f"{name}: its Armature modifier does not use vertex groups; Sinew needs them")
    if modifier.use_bone_envelopes:
        warn(f"{name}: bone envelopes are not used, only vertex groups")
    if modifier.vertex_group:
        warn(f"{name}: the Armature modifier's vertex group '{modifier.vertex_group}' is not used")
    before = [each.name for each in mesh_object.modifiers[:list(mesh_object.modifiers).index(modifier)]
              if each.show_viewport or each.show_render]
    if before:
        warn(f"{name}: modifiers before Armature are not used: {', '.join(before)}")


def read(armature: bpy.types.Object, meshes: typing.Sequence[bpy.types.Object], unweighted: str,
         maps: typing.Sequence[str] = (), need_weights: bool = True) -> Snapshot:
    """The rig of mesh objects that an armature deforms.

    unweighted: as SinewCharacter.unweighted. maps: vertex groups to hand over as maps. need_weights: False to compute
    them. Raises BindError.
    """
    warnings: typing.List[str] = []
    bones = _sorted_bones(armature)
    if not bones:
        raise BindError(f"{armature.name}: has no bones")
    names = [bone.name for bone in bones]
    deforming = {bone.name: j for j, bone in enumerate(bones) if bone.use_deform}
    if any(bone.bbone_segments > 1 for bone in bones):
        warnings.append("bones with B-Bone segments are used as straight bones")
    parents = [names.index(bone.parent.name) if bone.parent else -1 for bone in bones]
    rest = [_matrix(bone.matrix_local)[:3] for bone in bones]
    to_armature = np.linalg.inv(_matrix(armature.matrix_world))

    data, parts, controls, missing_count, has_still, first = [], [], {}, 0, False, 0
    for mesh_object in meshes:
        if mesh_object.mode == "EDIT":
            mesh_object.update_from_editmode()
        mesh = mesh_object.data
        if not mesh.polygons:
            raise BindError(f"{mesh_object.name}: has no faces")
        if not _follows(mesh_object, armature):
            warnings.append(f"{mesh_object.name}: is not parented to {armature.name}; after one moves without the other, "
                            "bind again")
        modifier = armature_modifier(mesh_object, armature)
        if modifier is not None:
            _check_modifier(mesh_object, modifier, warnings.append)
        matrix = to_armature @ _matrix(mesh_object.matrix_world)
        if abs(np.linalg.det(matrix[:3, :3])) < 1e-12:
            raise BindError(f"{mesh_object.name}: has a scale of 0")
        keys = mesh.shape_keys
        points = _points(matrix, keys.reference_key.data if keys else mesh.vertices)
        corners, sizes = _faces(mesh, np.linalg.det(matrix[:3, :3]) < 0)
        shapes = _shapes(mesh_object, matrix)
        each = sinew.MeshData(mesh_object.name, points, corners, face_sizes=sizes, shapes=shapes,
                              maps={name: _group_values(mesh_object, name) for name in maps
                                    if name in mesh_object.vertex_groups})
        if need_weights:
            weights, influences = _weights(mesh_object, deforming)
            missing = weights.sum(axis=1) == 0
            missing_count += int(missing.sum())
            if missing.all() and unweighted != "STILL":
                raise BindError(f"{mesh_object.name}: no vertex is in a group of a bone of {armature.name}; "
                                "compute weights first")
            if missing.any() and unweighted == "NEAREST":
                _copy_from_nearest(points, weights, influences, missing)
            elif missing.any():
                has_still |= unweighted == "STILL"
                each.fallback_joint = len(names) if unweighted == "STILL" else parents.index(-1)
            each.weights, each.influences = weights, influences
        data.append(each)
        controls.update({name: 0.0 for name in shapes})
        parts.append(Part(mesh_object.name, first, first + len(points), np.linalg.inv(matrix)[:3], list(shapes)))
        first += len(points)
    if missing_count and unweighted == "REFUSE":
        raise BindError(counted(missing_count, "vertex is", "vertices are")
                        + " in no group of a bone; choose what to do under 'Vertices without weights'")
    if missing_count:
        warnings.append(counted(missing_count, "vertex", "vertices") + f" without weights: {unweighted.lower()}")
    if has_still:
        names, parents, rest = names + [STILL_JOINT], parents + [-1], rest + [np.eye(4)[:3]]

    scale = bpy.context.scene.unit_settings.scale_length
    rig = sinew.Rig.from_meshes(data, names, parents, np.array(rest), controls=controls, label=armature.name,
                                up_axis=_up_axis(armature), meters_per_unit=scale)
    place = {name: k for k, name in enumerate(rig.controls)}
    for part in parts:
        part.shapes = [place[name] for name in part.shapes]
    return Snapshot(rig, [bone.name for bone in bones], has_still, parts, warnings)
