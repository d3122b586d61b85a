"""A rig from the SkelRoots of a stage."""

import dataclasses
import os
import re
import typing

import numpy as np
from pxr import Tf, Usd, UsdGeom, UsdSkel  # type: ignore[import]

from .._sinew import Rig, _rig_of_file
from .._text import counted
from ..errors import NotFound
from ..mesh_data import ClipData, MeshData
from .meshes import bind, influence_primvars, read_mesh, read_shapes
from .problems import Names, Problems, bad
from .skeletons import EARLIEST, Carrier, Motion, Skeleton, columns

_ALL = Usd.TraverseInstanceProxies()


@dataclasses.dataclass
class Character:
    """What was read. deformer: the recipe that deforms like UsdSkel. start: the time code of frame 0.

    fps: frames per second that the stage is played at.
    """
    rig: Rig
    deformer: str
    start: float
    fps: float


def open_stage(path: str) -> typing.Any:
    """The stage of a file, with default load rules. NotFound, InvalidArgument."""
    if not os.path.exists(path):
        raise NotFound(f"{path}: no such file", "NOT_FOUND", exit_code=65)
    if not os.path.isfile(path):
        raise bad(path, "is no file")
    try:
        return Usd.Stage.Open(path)
    except Tf.ErrorException as error:
        # "\n\tError in 'function' at line 3 in file x.cpp : 'reason'", the last one says only that it failed.
        reasons = re.findall(r"in file \S+ : '(.*?)'(?=\n\tError in|$)", str(error), re.DOTALL) or [str(error)]
        raise bad(path, "OpenUSD cannot read it: " + " ".join(reasons[0].split())) from None


class _Reader:

    def __init__(self, stage: typing.Any) -> None:
        self.stage, self.problems = stage, Problems()
        self.meshes: typing.List[MeshData] = []
        self.skeletons: typing.List[Skeleton] = []
        self.carriers: typing.List[Carrier] = []
        self.joints: typing.List[str] = []
        self.places: typing.List[str] = []
        self.parents: typing.List[int] = []
        self.controls: typing.Dict[str, float] = {}
        self.methods: typing.Set[str] = set()
        self._joint_names, self._mesh_names, self._control_names = Names(), Names(), Names()
        for error in stage.GetCompositionErrors():
            self.problems.lost("/", " ".join(str(error).split()))
        self.metres = float(UsdGeom.GetStageMetersPerUnit(stage))
        if not UsdGeom.StageHasAuthoredMetersPerUnit(stage):
            self.problems.info("/", f"metersPerUnit is not set; USD takes {self.metres:g}")

    def read_roots(self) -> None:
        """Skeletons and meshes of all SkelRoots."""
        outside = 0
        prims = iter(Usd.PrimRange(self.stage.GetPseudoRoot(), _ALL))
        for prim in prims:
            if prim.IsA(UsdSkel.Root):
                self._read_root(UsdSkel.Root(prim))
                prims.PruneChildren()
            elif prim.IsA(UsdGeom.Mesh):
                outside += 1
                if UsdGeom.PrimvarsAPI(prim).FindPrimvarWithInheritance("skel:jointIndices"):
                    self.problems.lost(prim.GetPath(), "a mesh with joint weights outside of a SkelRoot, where UsdSkel does "
                                       "not skin it")
        if outside:
            self.problems.info("/", counted(outside, "mesh outside of SkelRoots is", "meshes outside of SkelRoots are") + " not read")

    def _read_root(self, root: typing.Any) -> None:
        cache = UsdSkel.Cache()
        cache.Populate(root, _ALL)
        skeletons: typing.Dict[typing.Any, Skeleton] = {}
        of_mesh: typing.Dict[typing.Any, Skeleton] = {}
        for binding in cache.ComputeSkelBindings(root, _ALL):
            prim = binding.GetSkeleton().GetPrim()
            for query in binding.GetSkinningTargets():
                if not prim:
                    continue
                if prim.GetPath() not in skeletons:
                    skeletons[prim.GetPath()] = self._add_skeleton(prim, cache.GetSkelQuery(binding.GetSkeleton()))
                of_mesh[query.GetPrim().GetPath()] = skeletons[prim.GetPath()]
        prims = iter(Usd.PrimRange(root.GetPrim(), _ALL))
        for prim in prims:
            if prim.IsA(UsdGeom.PointInstancer):
                self.problems.lost(prim.GetPath(), "a PointInstancer and what is below it")
                prims.PruneChildren()
            elif prim.IsA(UsdGeom.Mesh):
                self._add_mesh(UsdGeom.Mesh(prim), cache.GetSkinningQuery(prim), of_mesh.get(prim.GetPath()))
            elif prim.IsA(UsdSkel.Skeleton) and prim.GetPath() not in skeletons:
                self.problems.info(prim.GetPath(), "no mesh is bound to the skeleton; it is not read")
            elif prim.IsA(UsdGeom.PointBased):
                self.problems.lost(prim.GetPath(), f"a {prim.GetTypeName()}; only meshes are read")

    def _add_skeleton(self, prim: typing.Any, query: typing.Any) -> Skeleton:
        skeleton = Skeleton(prim, query, len(self.joints))
        skeleton.report(self.problems)
        self.joints += skeleton.names(self._joint_names)
        self.places += [f"{skeleton.place} joint '{joint}'" for joint in skeleton.joints]
        self.parents += [parent if parent < 0 else skeleton.first + parent for parent in skeleton.parents]
        self.skeletons.append(skeleton)
        return skeleton

    def _add_mesh(self, mesh: typing.Any, query: typing.Any, skeleton: typing.Optional[Skeleton]) -> None:
        data = read_mesh(mesh, self._mesh_names.take(mesh.GetPrim().GetName()), self.problems)
        if data is None:
            return
        primvars = influence_primvars(mesh.GetPrim())
        if primvars is None:
            self._carry(mesh.GetPrim(), data)
        elif skeleton is None:
            raise bad(data.place, "has joint weights and no skeleton: need skel:skeleton, and SkelBindingAPI in apiSchemas")
        else:
            bind(data, query, skeleton, primvars, self.problems)
            self.methods.add(str(query.GetSkinningMethod()))
        if query:
            read_shapes(data, query, self.problems, lambda name: self._control(name, skeleton))
        self.meshes.append(data)

    def _carry(self, prim: typing.Any, data: MeshData) -> None:
        """A mesh without joint weights moves with its own transform, as in UsdSkel."""
        joint = len(self.joints)
        self.joints.append(self._joint_names.take(data.name))
        self.places.append(data.place)
        self.parents.append(-1)
        self.carriers.append(Carrier(prim, joint))
        data.joints, data.inverse_bind = [joint], np.eye(3, 4)[None]
        data.weights, data.influences = np.ones((len(data.positions), 1)), np.full((len(data.positions), 1), joint)
        self.problems.warn(data.place, f"has no joint weights; the joint '{self.joints[-1]}' moves it as its transform does")

    def _control(self, name: str, skeleton: typing.Optional[Skeleton]) -> str:
        """The control of a blend shape: one for all meshes of a skeleton, whose animation drives it."""
        known = skeleton.controls if skeleton else {}
        if name not in known:
            known[name] = self._control_names.take(name)
            self.controls[known[name]] = 0.0
        return known[name]

    def read_unbound(self) -> None:
        """All meshes of the stage where it has them, without skin, and all skeletons of SkelRoots."""
        world = UsdGeom.XformCache(EARLIEST)
        for prim in Usd.PrimRange(self.stage.GetPseudoRoot(), _ALL):
            if prim.IsA(UsdSkel.Root) and not any(skeleton.prim.GetPath().HasPrefix(prim.GetPath())
                                                  for skeleton in self.skeletons):
                cache = UsdSkel.Cache()
                cache.Populate(UsdSkel.Root(prim), _ALL)
                for below in Usd.PrimRange(prim, _ALL):
                    if below.IsA(UsdSkel.Skeleton):
                        self._add_skeleton(below, cache.GetSkelQuery(UsdSkel.Skeleton(below)))
            elif prim.IsA(UsdGeom.Mesh):
                data = read_mesh(UsdGeom.Mesh(prim), self._mesh_names.take(prim.GetName()), self.problems)
                if data is not None:
                    _place(data, columns(np.array(world.GetLocalToWorldTransform(prim), float)))
                    self.meshes.append(data)

    def report_unused(self) -> None:
        used = {skeleton.animation.GetPrim().GetPath() for skeleton in self.skeletons if skeleton.animation}
        unused = [str(prim.GetPath()) for prim in Usd.PrimRange(self.stage.GetPseudoRoot())
                  if prim.IsA(UsdSkel.Animation) and prim.GetPath() not in used]
        if unused:
            self.problems.info(unused[0], counted(len(unused), "animation is", "animations are")
                               + " the skel:animationSource of no skeleton, and not read")

    def clips(self, motion: Motion) -> typing.List[ClipData]:
        """One clip, with everything that moves on the stage, or none."""
        seconds = motion.set_time()
        if seconds is None:
            return []
        sources = {str(skeleton.animation.GetPrim().GetName()) for skeleton in self.skeletons if skeleton.animation}
        default = self.stage.GetDefaultPrim()
        name = sources.pop() if len(sources) == 1 else default.GetName() if default else "motion"
        motion(0.0)  # an animation that cannot be used is an error of the file
        if motion.start != 0:
            self.problems.info(name, f"frame 0 of the clip is time code {motion.start:g} of the stage")
        return [ClipData(name, seconds, motion)]


def _place(data: MeshData, world: typing.Any) -> None:
    """Moves a mesh to where the stage has it. A mirroring turns its faces over."""
    data.positions = data.positions @ world[:, :3].T + world[:, 3]
    data.normals = None
    if np.linalg.det(world[:, :3]) < 0:
        first = np.repeat(np.cumsum(data.face_sizes) - data.face_sizes, data.face_sizes)
        size = np.repeat(data.face_sizes, data.face_sizes)
        order = first + (size - (np.arange(len(first)) - first)) % size
        data.faces, data.uvs = data.faces[order], None if data.uvs is None else data.uvs[order]


def read(stage: typing.Any, *, muscles: typing.Any, allow_no_skin: bool, unweighted: str) -> Character:
    """The rig of all SkelRoots of a stage, which stays open as long as the rig has clips."""
    layer = stage.GetRootLayer()
    path = layer.realPath if os.path.isfile(layer.realPath) else ""
    label = os.path.basename(path) or layer.GetDisplayName() or layer.identifier
    reader = _Reader(stage)
    try:
        if not 0 < reader.metres < float("inf"):
            raise bad("metersPerUnit", f"got {reader.metres:g}, need more than 0")
        reader.read_roots()
        if not reader.methods:
            if not allow_no_skin:
                raise bad("/", "no mesh below a SkelRoot is bound to a skeleton, need at least one with skel:skeleton, "
                          "primvars:skel:jointIndices and primvars:skel:jointWeights")
            reader = _Reader(stage)
            reader.read_unbound()
        motion = Motion(stage, reader.skeletons, reader.carriers, reader.joints, sorted(reader.controls))
        rest = motion.joints(EARLIEST, at_rest=True)
        clips = reader.clips(motion)
        reader.report_unused()
    except ValueError as error:
        raise _in_file(label, error) from None
    linear = reader.methods != {str(UsdSkel.Tokens.dualQuaternion)}
    rig = _rig_of_file(reader.meshes, reader.joints, reader.parents, rest, places=reader.places,
                       controls=reader.controls, clips=clips, up_axis=str(UsdGeom.GetStageUpAxis(stage)),
                       meters_per_unit=reader.metres, problems=reader.problems.entries, path=path,
                       label=label, format="USD", unweighted=unweighted, muscles=muscles)
    return Character(rig, ("shapes | " if reader.controls else "") + ("lbs" if linear else "dqs"), motion.start,
                     _frame_rate(stage))


def _frame_rate(stage: typing.Any) -> float:
    if stage.HasAuthoredMetadata("framesPerSecond"):
        return float(stage.GetFramesPerSecond())
    return float(stage.GetTimeCodesPerSecond())


def _in_file(label: str, error: ValueError) -> ValueError:
    """The error of a prim with the name of the file in front."""
    if error.args and hasattr(error, "exit_code"):
        error.args = (f"{label}: {error.args[0]}", *error.args[1:])
    return error
