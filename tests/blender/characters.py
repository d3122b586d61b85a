"""Characters that the tests author in Blender."""

import bpy
import numpy as np


def new_scene():
    """Without objects, in this session: add-ons stay as they are."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return bpy.context.scene


def chain(bones=4, name="Rig"):
    """An armature of bones of length 1 along Z, moved, turned and scaled as an object."""
    armature = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for k in range(bones):
        bone = armature.data.edit_bones.new(f"bone{k}")
        bone.head, bone.tail, bone.roll, bone.parent = (0, 0, k), (0, 0, k + 1), 0.3 * k, parent
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    armature.location, armature.rotation_euler, armature.scale = (1, 2, 3), (0.3, 0.5, 0.2), (2, 2, 2)
    return armature


def tube(armature, name, radius, cuts=6):
    """A closed tube around the bones, with n-gons as ends, smooth weights and an Armature modifier."""
    bones = len(armature.data.bones)
    bpy.ops.mesh.primitive_cylinder_add(vertices=24, radius=radius, depth=bones, location=(0, 0, bones / 2),
                                        end_fill_type="NGON")
    tube_object = bpy.context.object
    tube_object.name = name
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide(number_cuts=cuts)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.object.transform_apply(location=True)
    for bone in armature.data.bones:
        tube_object.vertex_groups.new(name=bone.name)
    for vertex in tube_object.data.vertices:
        height = min(max(vertex.co.z - 0.5, 0), bones - 1)
        low = min(int(height), bones - 2)
        tube_object.vertex_groups[low].add([vertex.index], 1 - (height - low), "REPLACE")
        tube_object.vertex_groups[low + 1].add([vertex.index], height - low, "REPLACE")
    tube_object.parent = armature
    tube_object.modifiers.new("Armature", "ARMATURE").object = armature
    return tube_object


def statue():
    """A person of cubes along its bones, twice as large as the template and 4 above the ground: up is Z, it faces -Y."""
    limbs = [((0, .5, 0), (0, 0, 0), .13), ((0, .5, 0), (0, .72, 0), .12)]
    for side in (1, -1):
        limbs += [((side * .1, 0, 0), (side * .15, -.8, 0), .06), ((side * .15, -.8, 0), (side * .15, -.8, .1), .06),
                  ((0, .5, 0), (side * .2, .5, 0), .07), ((side * .2, .5, 0), (side * .6, 0, .15), .06)]
    points, faces = [], []
    for start, end, half in limbs:
        for part in np.linspace(0, 1, 12):
            x, y, z = (1 - part) * np.array(start) + part * np.array(end)
            for face in ((1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (3, 7, 8, 4), (1, 5, 7, 3), (2, 4, 8, 6)):
                faces.append([len(points) + corner - 1 for corner in face])
            points += [(2 * (x + half * (2 * (k & 1) - 1)), -2 * (z + half * (2 * (k >> 2) - 1)),
                        4 + 2 * (y + half * (2 * (k >> 1 & 1) - 1))) for k in range(8)]
    mesh = bpy.data.meshes.new("Statue")
    mesh.from_pydata(points, [], faces)
    statue_object = bpy.data.objects.new("Statue", mesh)
    bpy.context.scene.collection.objects.link(statue_object)
    return statue_object


def add_shape(tube_object, name="Wide"):
    """A shape key that animation drives from 0 at frame 1 to 1 at frame 10."""
    tube_object.shape_key_add(name="Basis")
    key = tube_object.shape_key_add(name=name)
    for point in key.data:
        point.co.x *= 1.3
    for frame, value in ((1, 0.0), (10, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    return key


def animate(armature, angle=0.4):
    """Bends and twists every bone, from rest at frame 1 to frame 10."""
    for k, bone in enumerate(armature.pose.bones):
        bone.rotation_mode = "XYZ"
        for frame, share in ((1, 0.0), (10, 1.0)):
            bone.rotation_euler = (angle * share, 0.3 * k * share, 0.2 * share)
            bone.keyframe_insert("rotation_euler", frame=frame)


def add_camera():
    """Sees a chain() and, 6 to the right, the same again."""
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (5.5, -30, 6), (np.pi / 2, 0, 0)
    camera.data.lens = 60
    bpy.context.scene.collection.objects.link(camera)
    bpy.context.scene.camera = camera


def world_points(mesh_object):
    """(V, 3): the evaluated vertices in world space."""
    evaluated = mesh_object.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = np.empty(len(evaluated.data.vertices) * 3, np.float32)
    evaluated.data.vertices.foreach_get("co", points)
    matrix = np.array(evaluated.matrix_world)
    return points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def select(active, *others):
    for each in bpy.context.scene.objects:
        each.select_set(each in others)
    bpy.context.view_layer.objects.active = active
