"""Characters that usd-core writes, and their points as UsdSkel skins them."""

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, Vt

JOINTS = ["hip", "hip/spine", "hip/spine/head", "hip/leg"]
PARENTS = [-1, 0, 1, 0]
_AT = np.array([(0, 1, 0), (0, 1, 0.1), (0, 0.8, 0), (0.3, -0.2, 0)])  # relative to the parent


def matrix(translation=(0, 0, 0), axis=(0, 0, 1), degrees=0.0, scale=(1, 1, 1)):
    out = Gf.Matrix4d().SetScale(Gf.Vec3d(*scale)) * Gf.Matrix4d().SetRotate(Gf.Rotation(Gf.Vec3d(*axis), degrees))
    return out.SetTranslateOnly(Gf.Vec3d(*translation))


def world(local):
    """Joint to skeleton from joint to parent."""
    out = []
    for parent, each in zip(PARENTS, local):
        out.append(each if parent < 0 else each * out[parent])
    return out


def rest_locals(bend=0.0):
    return [matrix(at, (1, 2, 3), bend * (j + 1)) for j, at in enumerate(_AT)]


def new_stage(path, *, up="Y", metres=1.0, rate=24.0, times=(1, 11)):
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageUpAxis(stage, up)
    UsdGeom.SetStageMetersPerUnit(stage, metres)
    stage.SetTimeCodesPerSecond(rate)
    if times:
        stage.SetStartTimeCode(times[0])
        stage.SetEndTimeCode(times[1])
    return stage


def add_skeleton(stage, path, *, joints=JOINTS, bind=None, rest=None):
    skeleton = UsdSkel.Skeleton.Define(stage, path)
    skeleton.CreateJointsAttr(joints)
    skeleton.CreateBindTransformsAttr(world(rest_locals(5)) if bind is None else bind)
    skeleton.CreateRestTransformsAttr(rest_locals() if rest is None else rest)
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim())
    return skeleton


def add_animation(stage, path, skeleton, *, joints=("hip/spine", "hip", "hip/leg"), times=(1, 6, 11), seed=1, scale=0.2):
    """Rotations far apart, translations and scales, for some of the joints, in another order."""
    rng = np.random.default_rng(seed)
    animation = UsdSkel.Animation.Define(stage, path)
    animation.CreateJointsAttr(list(joints))
    rotations, translations = animation.CreateRotationsAttr(), animation.CreateTranslationsAttr()
    scales = animation.CreateScalesAttr()
    for time in times:
        turns = [Gf.Quatf(Gf.Rotation(Gf.Vec3d(*rng.normal(size=3)), rng.uniform(-80, 80)).GetQuat()) for _ in joints]
        rotations.Set(Vt.QuatfArray(turns), time)
        translations.Set([Gf.Vec3f(*(_AT[JOINTS.index(joint)] + rng.normal(size=3) * 0.1)) for joint in joints], time)
        scales.Set([Gf.Vec3h(*(1 + rng.uniform(-scale, scale, 3))) for _ in joints], time)
    if skeleton:
        UsdSkel.BindingAPI(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets([animation.GetPath()])
    return animation


def add_mesh(stage, path, *, seed=2, rings=12, sides=7):
    """A tube with quads, its ends closed by polygons, and texture coordinates for each corner."""
    rng = np.random.default_rng(seed)
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    points = [(0.2 * np.cos(a), 0.5 + 2.5 * r / rings, 0.2 * np.sin(a)) for r in range(rings) for a in angle]
    points = np.array(points) + rng.normal(size=(rings * sides, 3)) * 0.02
    counts = [4] * ((rings - 1) * sides) + [sides, sides]
    corners = [(r * sides + s, (r + 1) * sides + s, (r + 1) * sides + (s + 1) % sides, r * sides + (s + 1) % sides)
               for r in range(rings - 1) for s in range(sides)]
    corners = np.concatenate([np.ravel(corners), np.arange(sides), np.arange(rings * sides)[-sides:][::-1]])
    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(points.astype(np.float32)))
    mesh.CreateFaceVertexCountsAttr(counts)
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(corners.astype(np.int32)))
    uvs = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, "faceVarying")
    uvs.Set(Vt.Vec2fArray.FromNumpy(rng.uniform(size=(len(corners), 2)).astype(np.float32)))
    return mesh


def bind_mesh(mesh, skeleton, *, joints=None, size=3, constant=False, geometry=None, method=None, seed=3, sums=1.0):
    """Random weights of `size` joints for each point."""
    rng = np.random.default_rng(seed)
    api = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    if skeleton:
        api.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    if joints:
        api.CreateJointsAttr(joints)
    rows = 1 if constant else len(mesh.GetPointsAttr().Get())
    count = len(joints or JOINTS)
    numbers = np.array([rng.permutation(count)[:size] for _ in range(rows)])
    weights = rng.dirichlet(np.ones(size), rows) * sums
    api.CreateJointIndicesPrimvar(constant, size).Set(Vt.IntArray.FromNumpy(numbers.ravel().astype(np.int32)))
    api.CreateJointWeightsPrimvar(constant, size).Set(Vt.FloatArray.FromNumpy(weights.ravel().astype(np.float32)))
    if geometry is not None:
        api.CreateGeomBindTransformAttr(geometry)
    if method:
        api.CreateSkinningMethodAttr(method)
    return api


def add_shapes(mesh, names, *, between=((0.5,),), sparse=True, seed=4):
    """Blend shapes with in-betweens; points in any order."""
    rng = np.random.default_rng(seed)
    api = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    points = len(mesh.GetPointsAttr().Get())
    targets = []
    for s, name in enumerate(names):
        shape = UsdSkel.BlendShape.Define(mesh.GetPrim().GetStage(), mesh.GetPath().AppendChild(name))
        moved = rng.permutation(points)[:points // 3] if sparse else None
        rows = points if moved is None else len(moved)

        def offsets():
            return Vt.Vec3fArray.FromNumpy((rng.normal(size=(rows, 3)) * 0.1).astype(np.float32))

        shape.CreateOffsetsAttr(offsets())
        shape.CreateNormalOffsetsAttr(offsets())
        if moved is not None:
            shape.CreatePointIndicesAttr(Vt.IntArray.FromNumpy(moved.astype(np.int32)))
        for k, weight in enumerate(between[s % len(between)]):
            each = shape.CreateInbetween(f"between{k}")
            each.SetWeight(weight)
            each.SetOffsets(offsets())
        targets.append(shape.GetPath())
    api.CreateBlendShapesAttr(list(names))
    api.CreateBlendShapeTargetsRel().SetTargets(targets)


def animate_shapes(animation, names, rows):
    """rows: the weights at each time."""
    animation.CreateBlendShapesAttr(list(names))
    for time, row in rows.items():
        animation.CreateBlendShapeWeightsAttr().Set(list(row), time)


def joint_orders(path):
    """A mesh and an animation that name some joints, in orders of their own; rest and bind pose differ."""
    stage = new_stage(path)
    UsdSkel.Root.Define(stage, "/Hero")
    skeleton = add_skeleton(stage, "/Hero/Skel", rest=rest_locals(12))
    add_animation(stage, "/Hero/Walk", skeleton)
    bind_mesh(add_mesh(stage, "/Hero/Body"), skeleton, joints=["hip/leg", "hip/spine/head", "hip"], size=2)
    bind_mesh(add_mesh(stage, "/Hero/Shoe", seed=7), skeleton, size=4, sums=1.0)
    return stage


def geometry_bind(path):
    """Mesh, group and bindings have transforms; skeleton and animation are inherited."""
    stage = new_stage(path, rate=30, times=(1, 11))
    root = UsdSkel.Root.Define(stage, "/Hero")
    root.AddTranslateOp().Set((3, 0, 1))
    skeleton = add_skeleton(stage, "/Hero/Skel")
    animation = add_animation(stage, "/Hero/Run", None, seed=5)
    api = UsdSkel.BindingAPI.Apply(root.GetPrim())
    api.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    api.CreateAnimationSourceRel().SetTargets([animation.GetPath()])
    UsdGeom.Xform.Define(stage, "/Hero/Geo").AddRotateXOp().Set(40)
    mesh = add_mesh(stage, "/Hero/Geo/Body")
    mesh.CreateOrientationAttr("leftHanded")
    bind_mesh(mesh, None, geometry=matrix((0.1, 0.2, -0.3), (1, 1, 0), 25, (1.5, 0.8, 1)))
    return stage


def blend_shapes(path):
    """In-betweens on both sides of 0, weights beyond them, and a name that two meshes share."""
    stage = new_stage(path)
    UsdSkel.Root.Define(stage, "/Hero")
    skeleton = add_skeleton(stage, "/Hero/Skel")
    animation = add_animation(stage, "/Hero/Talk", skeleton)
    for name, seed in (("Face", 2), ("Brows", 8)):
        mesh = add_mesh(stage, f"/Hero/{name}", seed=seed)
        bind_mesh(mesh, skeleton, geometry=matrix((0, 0.1, 0), scale=(1.2, 1.2, 1.2)))
        add_shapes(mesh, ["smile", "blink", name.lower()], between=((0.25, 0.6), (-1.0, 0.5), ()), sparse=name == "Face",
                   seed=seed)
    animate_shapes(animation, ["blink", "brows", "unused", "smile"],
                   {1: (-1.3, 0, 1, 0.1), 4: (0.2, 1, 0, 0.5), 8: (0.9, -0.5, 0, 1.4), 11: (0, 0.3, 0, -0.4)})
    return stage


def two_skeletons(path):
    """Two SkelRoots whose joints, meshes and blend shapes have equal names, one with two meshes."""
    stage = new_stage(path, times=None)
    for c, name in enumerate(("Horse", "Rider")):
        UsdSkel.Root.Define(stage, f"/{name}").AddTranslateOp().Set((c, c * 1.5, 0))
        skeleton = add_skeleton(stage, f"/{name}/Skel", rest=rest_locals(c * 20))
        animation = add_animation(stage, f"/{name}/Ride", skeleton, seed=11 + c)
        for k in range(c + 1):
            mesh = add_mesh(stage, f"/{name}/Body" if k == 0 else f"/{name}/Hat", seed=20 + c + k)
            bind_mesh(mesh, skeleton, seed=30 + c + k, joints=JOINTS[::-1])
            add_shapes(mesh, ["swell"], seed=40 + c + k)
        animate_shapes(animation, ["swell"], {1: (c,), 11: (0.7,)})
    return stage


def moving_skeleton(path):
    """Z up, in centimetres: the skeleton and a group above it move, at a rate of 25."""
    stage = new_stage(path, up="Z", metres=0.01, rate=25, times=(1001, 1011))
    group = UsdGeom.Xform.Define(stage, "/Shot")
    UsdSkel.Root.Define(stage, "/Shot/Hero")
    scaled = [each * matrix() for each in rest_locals(3)]
    for each in scaled:
        each.SetTranslateOnly(each.ExtractTranslation() * 100)
    skeleton = add_skeleton(stage, "/Shot/Hero/Skel", rest=scaled, bind=world(scaled))
    animation = add_animation(stage, "/Shot/Hero/Fly", skeleton, times=(1001, 1004, 1011), joints=JOINTS)
    attribute = animation.GetTranslationsAttr()
    for time in attribute.GetTimeSamples():
        attribute.Set([each * 100 for each in attribute.Get(time)], time)
    mesh = add_mesh(stage, "/Shot/Hero/Body")
    points = np.array(mesh.GetPointsAttr().Get()) * 100
    mesh.GetPointsAttr().Set(Vt.Vec3fArray.FromNumpy(points.astype(np.float32)))
    bind_mesh(mesh, skeleton)
    turn, move = skeleton.AddRotateZOp(), group.AddTranslateOp()
    for time, angle in ((1001, 10), (1011, 130)):
        turn.Set(angle, time)
        move.Set((angle, 0, -angle), time)
    return stage


def rigid_meshes(path):
    """A rigid mesh with constant weights, and meshes without weights: one moves itself, one has a blend shape."""
    stage = new_stage(path)
    UsdSkel.Root.Define(stage, "/Robot")
    skeleton = add_skeleton(stage, "/Robot/Skel")
    animation = add_animation(stage, "/Robot/Work", skeleton)
    bind_mesh(add_mesh(stage, "/Robot/Plate", seed=50), skeleton, constant=True, size=2, geometry=matrix((0, 1, 0), (1, 0, 0), 30))
    bind_mesh(add_mesh(stage, "/Robot/Skin", seed=51), skeleton)
    lamp = add_mesh(stage, "/Robot/Lamp", seed=52)
    turn = lamp.AddRotateYOp()
    for time in (1, 11):
        turn.Set(time * 10, time)
    badge = add_mesh(stage, "/Robot/Badge", seed=53)
    badge.AddTranslateOp().Set((0, 2, 0))
    add_shapes(badge, ["pulse"])
    UsdSkel.BindingAPI(badge.GetPrim()).CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    animate_shapes(animation, ["pulse"], {1: (0,), 11: (1.2,)})
    return stage


def dual_quaternions(path):
    stage = new_stage(path)
    UsdSkel.Root.Define(stage, "/Hero")
    skeleton = add_skeleton(stage, "/Hero/Skel")
    add_animation(stage, "/Hero/Twist", skeleton, joints=JOINTS, scale=0)
    bind_mesh(add_mesh(stage, "/Hero/Body"), skeleton, method="dualQuaternion", geometry=matrix((0, 0.1, 0), (1, 0, 0), 10))
    return stage


def instances(path):
    """Two instances of one character, with an animation each that they inherit."""
    stage = new_stage(path)
    shared = stage.CreateClassPrim("/_hero")
    skeleton = add_skeleton(stage, "/_hero/Skel")
    mesh = add_mesh(stage, "/_hero/Body")
    bind_mesh(mesh, skeleton)
    for k in range(2):
        root = UsdSkel.Root.Define(stage, f"/Crowd{k}")
        animation = add_animation(stage, f"/Crowd{k}/Cheer", None, seed=60 + k)
        UsdSkel.BindingAPI.Apply(root.GetPrim()).CreateAnimationSourceRel().SetTargets([animation.GetPath()])
        hero = UsdGeom.Xform.Define(stage, f"/Crowd{k}/Hero")
        hero.AddTranslateOp().Set((2 * k, 0, 0))
        hero.GetPrim().GetReferences().AddInternalReference(shared.GetPath())
        hero.GetPrim().SetInstanceable(True)
    return stage


def skinned_points(stage, time):
    """Points of all meshes below SkelRoots in the space of the stage, as UsdSkel computes them, in stage order."""
    every = Usd.TraverseInstanceProxies()
    xforms = UsdGeom.XformCache(time)
    out = []
    for root in (prim for prim in Usd.PrimRange(stage.GetPseudoRoot(), every) if prim.IsA(UsdSkel.Root)):
        cache = UsdSkel.Cache()
        cache.Populate(UsdSkel.Root(root), every)
        skeletons = {query.GetPrim().GetPath(): binding.GetSkeleton()
                     for binding in cache.ComputeSkelBindings(UsdSkel.Root(root), every)
                     for query in binding.GetSkinningTargets()}
        for prim in Usd.PrimRange(root, every):
            if not prim.IsA(UsdGeom.Mesh):
                continue
            query = cache.GetSkinningQuery(prim)
            skeleton = skeletons.get(prim.GetPath())
            skel_query = cache.GetSkelQuery(skeleton) if skeleton else None
            points = Vt.Vec3fArray(UsdGeom.Mesh(prim).GetPointsAttr().Get(time))
            if skel_query and query.HasBlendShapes():
                shapes = UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(prim))
                weights = skel_query.GetAnimQuery().ComputeBlendShapeWeights(time)
                weights = query.GetBlendShapeMapper().Remap(weights)
                assert shapes.ComputeDeformedPoints(*shapes.ComputeSubShapeWeights(weights),
                                                    shapes.ComputeBlendShapePointIndices(),
                                                    shapes.ComputeSubShapePointOffsets(), points)
            moved = prim
            if skel_query and query.HasJointInfluences():
                moved = skeleton.GetPrim()
                assert query.ComputeSkinnedPoints(skel_query.ComputeSkinningTransforms(time), points, time)
            to_world = np.array(xforms.GetLocalToWorldTransform(moved))
            out.append(np.array(points, float) @ to_world[:3, :3] + to_world[3, :3])
    return np.concatenate(out)
