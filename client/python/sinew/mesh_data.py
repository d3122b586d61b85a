"""The arrays of a mesh, for Rig.from_meshes."""

import dataclasses
import typing


@dataclasses.dataclass
class MeshData:
    """A mesh with V vertices. Arrays of any numeric type and layout; nothing is copied before use.

    name: unique within the rig.
    positions: (V, 3), in model space at rest.
    faces: (F, C) vertices, or lists of corners. With face_sizes: (sum of face_sizes,) corners of all faces.
    weights, influences: (V, N) weights that sum to 1 for each vertex, and the numbers of their joints. A weight of 0
        is no influence. None: no weights yet, see Client.weights.
    face_sizes: (F,) corners of each face, or None.
    fallback_joint: the joint of vertices without weights. None: such vertices are an error.
    shapes: morph targets: names of controls, and offsets (V, 3) that the method `shapes` adds where the
        control is 1.
    maps: names and (V,) numbers, which parameters of methods can refer to.
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
