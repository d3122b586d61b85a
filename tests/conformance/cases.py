"""The conformance cases for clients in Python: reads them and judges the frames of a client."""

import dataclasses
import hashlib
import json
import pathlib
import typing

import numpy as np


@dataclasses.dataclass
class Case:
    name: str
    recipe: str
    rig: str  # its name
    rig_path: pathlib.Path
    vertices: int
    frames: typing.List[str]  # names
    poses: np.ndarray  # (F, J, 12) float32
    controls: typing.Optional[np.ndarray]  # (F, K) float32
    not_in_blender: str  # why its objects cannot be made there, or empty
    shapes: typing.Dict[str, np.ndarray]  # by control: (V, 3) offsets, if they can
    reference: typing.Optional[np.ndarray]  # (F, V, 3) float64
    distance: float
    share: float
    determinism_digest: str
    hashes: typing.List[str]  # of the positions of each frame


def load(folder: pathlib.Path, expected_path: pathlib.Path) -> typing.List[Case]:
    """The cases that conformance_cases wrote to folder, with the bits that the repository expects."""
    index = json.loads((folder / "index.json").read_text())
    expected = json.loads(expected_path.read_text())["cases"]
    cases = []
    for entry in index["cases"]:
        rig, bits, near = index["rigs"][entry["rig"]], expected[entry["name"]], entry.get("reference")
        cases.append(Case(
            name=entry["name"], recipe=entry["recipe"], rig=entry["rig"], rig_path=folder / rig["rig"],
            vertices=rig["vertices"], frames=rig["frames"], poses=np.load(folder / rig["poses"]),
            controls=np.load(folder / rig["controls"]) if "controls" in rig else None,
            not_in_blender=rig.get("not_in_blender", ""),
            shapes={control: np.load(folder / file) for control, file in rig.get("shapes", {}).items()},
            reference=np.load(folder / near["positions"]) if near else None, distance=near["distance"] if near else 0.0,
            share=near["share"] if near else 0.0, determinism_digest=bits["determinism_digest"],
            hashes=bits["positions"]))
    return cases


class Judge:
    """Compares frames with what the cases expect, and counts."""

    def __init__(self, client: str) -> None:
        self.client = client
        self.cases = 0
        self.references = 0
        self.near = 0  # cases
        self.equal = 0
        self.other_digest = 0

    def check_near(self, case: Case, k: int, positions: np.ndarray, more: float = 0.0) -> None:
        """Frame k against the reference in double. more: added to the distance that the case allows."""
        assert case.reference is not None and positions.shape == case.reference[k].shape, positions.shape
        distances = np.sort(np.linalg.norm(positions - case.reference[k], axis=1))
        farthest = distances[int(np.ceil(case.share * len(distances))) - 1]
        assert farthest <= case.distance + more, (
            f"{case.name}, {case.frames[k]}: got {farthest} from the reference, need at most {case.distance + more}")

    def check_bits(self, case: Case, k: int, positions: np.ndarray) -> None:
        """Frame k against the bits of the repository."""
        assert positions.dtype == np.float32, positions.dtype
        got = hashlib.sha256(np.ascontiguousarray(positions, "<f4").tobytes()).hexdigest()
        assert got == case.hashes[k], f"{case.name}, {case.frames[k]}: got the bits {got}, need {case.hashes[k]}"

    def check(self, case: Case, frames: np.ndarray, digest: str) -> None:
        """All frames of a case, deformed with this determinism digest."""
        self.cases += 1
        assert len(frames) == len(case.frames), (len(frames), len(case.frames))
        if case.reference is not None:
            self.references += 1
            for k, positions in enumerate(frames):
                self.check_near(case, k, positions)
            self.near += 1
        if digest != case.determinism_digest:
            self.other_digest += 1
            return
        for k, positions in enumerate(frames):
            self.check_bits(case, k, positions)
        self.equal += 1

    def report(self) -> None:
        print(f"conformance: {self.client}: {self.near} of {self.references} cases near their reference, "
              f"{self.equal} of {self.cases} with equal bits")
        if self.other_digest:
            print(f"conformance: {self.client}: the bits of {self.other_digest} cases are not compared: this machine "
                  "has another determinism digest")
