"""The arrays of meshes and the functions of clips, for Rig.from_meshes."""

import dataclasses
import typing


@dataclasses.dataclass
class ShapeData:
    """A morph target of a mesh: what is added to its vertices where the control has the value `weight`.

    offsets: (V, 3), or (N, 3) with vertices: (N,) rising, the vertices that move.
    weight: not 0. Between 0 and neighbouring targets of a control offsets are linear.
    normal_offsets: like offsets, added to MeshData.normals; or None.
    """
    offsets: typing.Any
    weight: float = 1.0
    vertices: typing.Any = None
    normal_offsets: typing.Any = None


@dataclasses.dataclass
class ClipData:
    """A motion of a rig.

    name: unique within the rig.
    end: seconds. Clip.poses() has the frames from 0 to here, unless others are asked for.
    pose: a function of the time in seconds. It returns the joints, (J, 3, 4) joint to model space, or a tuple of
        them and the controls, (K,) in the order of Rig.controls. It is called in the thread of Clip.poses(), for
        each frame, and what it raises ends that call.
    """
    name: str
    end: float
    pose: typing.Callable[[float], typing.Any]


@dataclasses.dataclass
class MeshData:
    """A mesh with V vertices. Arrays of any numeric type and layout; nothing is copied before use.

    name: unique within the rig.
    positions: (V, 3), in model space at rest, or where inverse_bind takes them from.
    faces: (F, C) vertices, or lists of corners. With face_sizes: (sum of face_sizes,) corners of all faces.
    weights, influences: (V, N) weights that sum to 1 for each vertex, and the numbers of their joints. A weight of 0
        is no influence. None: no weights yet, see Client.weights.
    face_sizes: (F,) corners of each face, or None.
    fallback_joint: the joint of vertices without weights. None: such vertices are an error.
    shapes: morph targets: names of controls, and offsets (V, 3) that the method `shapes` adds where the
        control is 1; or a ShapeData, or a list of them by rising weight: a shape with in-betweens.
    maps: names and (V,) numbers, which parameters of methods can refer to.
    joints: (S,) numbers of the joints that may move the mesh; None: all.
    inverse_bind: (S, 3, 4), from the space of positions to that of each of `joints`. None: the inverse of the rest pose.
    normals: (V, 3) of unit length, in the space of positions; None: from the faces.
    uvs: (corners of all faces, 2) texture coordinates, v upwards; only caches use them.
    place: where it is from, for messages.
    """
    name: str
    positions: typing.Any
    faces: typing.Any
    weights: typing.Any = None
    influences: typing.Any = None
    face_sizes: typing.Any = None
    fallback_joint: typing.Optional[int] = None
    shapes: typing.Dict[str, typing.Any] = dataclasses.field(default_factory=dict)
    maps: typing.Dict[str, typing.Any] = dataclasses.field(default_factory=dict)
    joints: typing.Any = None
    inverse_bind: typing.Any = None
    normals: typing.Any = None
    uvs: typing.Any = None
    place: str = ""
