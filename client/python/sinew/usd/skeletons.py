"""Skeletons of a stage and what moves them, evaluated by UsdSkel."""

import typing

import numpy as np
from pxr import Usd, UsdGeom, UsdSkel  # type: ignore[import]

from .._text import counted
from .problems import Names, Problems, bad, expect_finite

EARLIEST = Usd.TimeCode.EarliestTime()


def columns(matrices: typing.Any) -> typing.Any:
    """(..., 4, 4) for row vectors, as USD has them, as (..., 3, 4) for column vectors."""
    return np.swapaxes(np.asarray(matrices, float), -1, -2)[..., :3, :]


class Skeleton:
    """A skeleton that meshes are bound to. An instance of a character has one of its own.

    first: the number of its first joint in the rig.
    """

    def __init__(self, prim: typing.Any, query: typing.Any, first: int) -> None:
        self.prim, self.query, self.first = prim, query, first
        self.place = str(prim.GetPath())
        joints = UsdSkel.Skeleton(prim).GetJointsAttr().Get(EARLIEST) or []
        self.joints = [str(joint) for joint in joints]
        if not self.joints:
            raise bad(self.place, "joints: got none, need one or more")
        right, why = UsdSkel.Topology(joints).Validate()
        if not right:
            raise bad(self.place, f"joints: {why}")
        if not query:
            raise bad(self.place, "is no skeleton that UsdSkel can use")
        self.index = {joint: j for j, joint in enumerate(self.joints)}
        if len(self.index) != len(self.joints):
            repeated = next(joint for j, joint in enumerate(self.joints) if self.index[joint] != j)
            raise bad(self.place, f"joints: '{repeated}' is named twice")
        self.parents = [int(parent) for parent in UsdSkel.Topology(joints).GetParentIndices()]
        self.animation: typing.Any = query.GetAnimQuery() or None
        self.controls: typing.Dict[str, str] = {}  # of the rig, by the name of the blend shape
        self.bind = self._transforms("bindTransforms", UsdSkel.Skeleton(prim).GetBindTransformsAttr())
        self.rest = self._rest()

    def _transforms(self, name: str, attribute: typing.Any) -> typing.Any:
        """(J, 4, 4), or None where the attribute has no value."""
        values = attribute.Get(EARLIEST)
        if values is None or len(values) == 0:
            return None
        if len(values) != len(self.joints):
            raise bad(self.place, f"{name}: got {len(values)}, need one for each of the {len(self.joints)} joints")
        array = np.array(values, float).reshape(-1, 4, 4)
        expect_finite(f"{self.place}.{name}", array)
        return array

    def _rest(self) -> typing.Any:
        """(J, 4, 4): joint to skeleton at rest. Where the skeleton has no rest pose: as it was bound."""
        if self._transforms("restTransforms", UsdSkel.Skeleton(self.prim).GetRestTransformsAttr()) is None:
            if self.bind is None:
                raise bad(self.place, "restTransforms and bindTransforms: both are missing, need a pose at rest")
            return self.bind
        return np.array(self.query.ComputeJointSkelTransforms(EARLIEST, True), float)

    def inverse_bind(self) -> typing.Any:
        """(J, 4, 4): from the space where meshes were bound to each joint."""
        if self.bind is None:
            raise bad(self.place, f"bindTransforms: missing, need one for each of the {len(self.joints)} joints")
        for joint, matrix in zip(self.joints, self.bind):
            if np.linalg.det(matrix) == 0:
                raise bad(f"{self.place}.bindTransforms", f"that of '{joint}' has no inverse")
        return np.linalg.inv(self.bind)

    def names(self, names: Names) -> typing.List[str]:
        """Names of the joints in the rig: jointNames, where each joint has one, else the ends of their paths."""
        given = UsdSkel.Skeleton(self.prim).GetJointNamesAttr().Get(EARLIEST) or []
        wanted = [str(name) for name in given]
        if len(wanted) != len(self.joints) or not all(wanted):
            wanted = [joint.rsplit("/", 1)[-1] for joint in self.joints]
        return [names.take(name) for name in wanted]

    def report(self, problems: Problems) -> None:
        if self.query.HasRestPose() is False:
            problems.warn(self.place, "has no restTransforms; at rest it is as it was bound")
        source = UsdSkel.BindingAPI(self.prim).GetInheritedAnimationSource()
        if self.animation is None:
            targets = UsdSkel.BindingAPI(self.prim).GetAnimationSourceRel().GetTargets()
            if source or targets:
                problems.lost(self.place, f"skel:animationSource {source.GetPath() if source else targets[0]} is no "
                              "SkelAnimation; the skeleton keeps its rest pose")
            return
        unknown = [str(joint) for joint in self.animation.GetJointOrder() if str(joint) not in self.index]
        if unknown:
            problems.lost(self.animation.GetPrim().GetPath(), f"moves {counted(len(unknown), 'joint')} that {self.place} does not "
                          f"have, the first is '{unknown[0]}'")

    def pose(self, time: typing.Any) -> typing.Any:
        """(J, 4, 4): joint to skeleton at a time."""
        if self.animation is None:
            return self.rest
        self._expect_complete_animation(time)
        if not self.animation.GetJointOrder():
            return self.rest  # it moves blend shapes only
        matrices = np.array(self.query.ComputeJointSkelTransforms(time, False), float)
        if matrices.shape != (len(self.joints), 4, 4):
            raise bad(self.place, "restTransforms: missing, need them because "
                      f"{self.animation.GetPrim().GetPath()} does not move all joints")
        return matrices

    def _expect_complete_animation(self, time: typing.Any) -> None:
        """UsdSkel poses a skeleton at rest where an animation cannot be used. Here it is an error."""
        need = len(self.animation.GetJointOrder())
        animation = UsdSkel.Animation(self.animation.GetPrim())
        for attribute in (animation.GetTranslationsAttr(), animation.GetRotationsAttr(), animation.GetScalesAttr()):
            got = len(attribute.Get(time) or [])
            if got != need:
                raise bad(attribute.GetPath(), f"got {counted(got, 'value')} at time {time.GetValue():g}, need one for each of the "
                          f"{need} joints of the animation")

    def weights(self, time: typing.Any) -> typing.Dict[str, float]:
        """Values of controls at a time, by name. UsdSkel leaves blend shapes alone that the animation does not name."""
        if self.animation is None or not self.controls:
            return {}
        order = [str(name) for name in self.animation.GetBlendShapeOrder() or []]
        values = self.animation.ComputeBlendShapeWeights(time) if order else []
        if values is None or len(values) != len(order):
            place = UsdSkel.Animation(self.animation.GetPrim()).GetBlendShapeWeightsAttr().GetPath()
            raise bad(place, f"got {counted(len(values or []), 'value')} at time {time.GetValue():g}, need one for each of the "
                      f"{len(order)} blend shapes of the animation")
        return {self.controls[name]: value for name, value in zip(order, values) if name in self.controls}

    def samples(self) -> typing.List[float]:
        """Time codes at which the animation has values."""
        if self.animation is None:
            return []
        return [*self.animation.GetJointTransformTimeSamples(), *self.animation.GetBlendShapeWeightTimeSamples()]


class Carrier:
    """A joint for a mesh that no skeleton moves: it has the transform of its prim."""

    def __init__(self, prim: typing.Any, joint: int) -> None:
        self.prim, self.joint = prim, joint


def transform_samples(prim: typing.Any) -> typing.List[float]:
    """Time codes at which the prim or one above it moves."""
    samples: typing.List[float] = []
    while prim and not prim.IsPseudoRoot():
        xformable = UsdGeom.Xformable(prim)
        if xformable:
            samples += xformable.GetTimeSamples()
        prim = prim.GetParent()
    return samples


class Motion:
    """What moves the joints and controls of a rig over time. A call is one pose, for sinew.ClipData.

    names: of the joints, for messages. controls: in the order of the rig.
    start, rate: the time code at 0 seconds, and time codes per second.
    """

    def __init__(self, stage: typing.Any, skeletons: typing.List[Skeleton], carriers: typing.List[Carrier],
                 names: typing.List[str], controls: typing.List[str]) -> None:
        self._stage = stage  # prims are valid as long as it is there
        self.skeletons, self.carriers, self.names = skeletons, carriers, names
        self.controls = {name: k for k, name in enumerate(controls)}
        self.start, self.rate = 0.0, 24.0

    def time_code(self, seconds: float) -> float:
        code = self.start + seconds * self.rate
        # Frame k is at k / fps seconds: rounding must not miss the sample that is held from there on.
        near = round(code * 1e6) / 1e6
        return near if abs(code - near) < 1e-8 * max(1.0, abs(code)) else code

    def __call__(self, seconds: float) -> typing.Tuple[typing.Any, typing.Any]:
        time = Usd.TimeCode(self.time_code(seconds))
        values = np.zeros(len(self.controls))
        for skeleton in self.skeletons:
            for name, value in skeleton.weights(time).items():
                values[self.controls[name]] = value
        if not np.isfinite(values).all():
            raise bad(f"time {time.GetValue():g}", "the weight of a blend shape is not finite")
        return self.joints(time), values

    def joints(self, time: typing.Any, at_rest: bool = False) -> typing.Any:
        """(J, 3, 4): joint to model space, which is that of the stage."""
        world = UsdGeom.XformCache(time)
        matrices = np.zeros((len(self.names), 4, 4))
        for skeleton in self.skeletons:
            last = skeleton.first + len(skeleton.joints)
            matrices[skeleton.first:last] = (skeleton.rest if at_rest else skeleton.pose(time)) @ np.array(
                world.GetLocalToWorldTransform(skeleton.prim), float)
        for carrier in self.carriers:
            matrices[carrier.joint] = np.array(world.GetLocalToWorldTransform(carrier.prim), float)
        good = np.isfinite(matrices).all(axis=(1, 2))
        if not good.all():
            when = "at rest" if at_rest else f"at time {time.GetValue():g}"
            raise bad(f"joint '{self.names[int(good.argmin())]}'", f"its transform {when} is not finite")
        return columns(matrices)

    def set_time(self) -> typing.Optional[float]:
        """Sets start and rate. Returns the length in seconds, or None if nothing ever moves.

        The stage says from where to where, or else the samples do.
        """
        samples = [code for skeleton in self.skeletons for code in skeleton.samples()]
        for prim in [*(skeleton.prim for skeleton in self.skeletons), *(carrier.prim for carrier in self.carriers)]:
            samples += transform_samples(prim)
        if not samples and not any(skeleton.animation for skeleton in self.skeletons):
            return None
        self.rate = float(self._stage.GetTimeCodesPerSecond())
        if not 0 < self.rate < 1e9:
            raise bad("timeCodesPerSecond", f"got {self.rate:g}, need more than 0")
        if self._stage.HasAuthoredTimeCodeRange():
            self.start, end = float(self._stage.GetStartTimeCode()), float(self._stage.GetEndTimeCode())
        else:
            self.start, end = (float(min(samples)), float(max(samples))) if samples else (0.0, 0.0)
        if not (np.isfinite([self.start, end]).all() and self.start <= end):
            raise bad("endTimeCode", f"got {end:g}, need at least startTimeCode {self.start:g}")
        return (end - self.start) / self.rate
