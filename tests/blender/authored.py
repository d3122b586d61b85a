"""Files that the tests author in Blender: what makes scenes harder than a single character."""

import bpy

from characters import add_shape, animate, chain, tube
from base import reopened


def _empty(name, places):
    """places: locations by frame."""
    empty = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(empty)
    for frame, place in places.items():
        empty.location = place
        empty.keyframe_insert("location", frame=frame)
    return empty


def _drive(driver, target, path, target_type):
    """By the sum of one property, which needs no scripts."""
    driver.type = "SUM"
    variable = driver.variables.new()
    variable.targets[0].id_type, variable.targets[0].id = target_type, target
    variable.targets[0].data_path = path


def constrained():
    """Bones by IK, a constraint and a driver; shape keys by animation and by a driver; meshes with parents, scales."""
    armature = chain(bones=5)
    bones = armature.pose.bones
    bones["bone4"].constraints.new("IK").target = _empty("Target", {1: (1, 2, 13), 10: (7, 3, 6)})
    bones["bone4"].constraints["IK"].chain_count = 3
    helper = _empty("Helper", {1: (0, 0, 0), 10: (0.6, 0, 0)})
    helper.rotation_euler = (0.5, 0.2, 0.7)
    copy = bones["bone1"].constraints.new("COPY_ROTATION")
    copy.target, copy.influence, copy.mix_mode = helper, 0.4, "ADD"
    bones["bone0"].rotation_mode = "XYZ"
    _drive(bones["bone0"].driver_add("rotation_euler", 1).driver, helper, "location.x", "OBJECT")

    body = tube(armature, "Body", 0.5)
    body.scale = (1.2, 0.8, 1.1)
    add_shape(body)
    driven = body.shape_key_add(name="Long")
    for point in driven.data:
        point.co.y *= 1.2
    _drive(driven.driver_add("value").driver, helper, "location.x", "OBJECT")

    belt = tube(armature, "Belt", 0.6)
    belt.parent = body
    belt.scale, belt.rotation_euler, belt.location = (1.1, 0.9, 1.0), (0.1, 0, 0.2), (0, 0.1, 0.3)
    root = _empty("Root", {1: (0, 0, 0), 10: (1, 1, 0)})
    root.scale, root.rotation_euler = (0.7, 0.7, 0.7), (0, 0.3, 0.4)
    armature.parent = root
    beside = tube(armature, "Beside", 0.4)
    beside.parent = root
    beside.location, beside.scale, beside.rotation_euler = (1, 2, 3), (2.1, 1.8, 2), (0.3, 0.5, 0.2)


def library():
    """A character in a collection, saved as a file that others link: n-gons, shape keys, scales of its own."""
    armature = chain()
    armature.scale = (2, 1, 0.5)
    body = tube(armature, "Body", 0.5)
    body.scale = (1.5, 1, 0.8)
    body.modifiers.new("Smooth", "SMOOTH")
    add_shape(body)
    collection = bpy.data.collections.new("Character")
    bpy.context.scene.collection.children.link(collection)
    for each in (armature, body):
        bpy.context.scene.collection.objects.unlink(each)
        collection.objects.link(each)
    reopened("library.blend")


def uses_library(path):
    """The character of library() as a library override that is animated here, and a mesh of this file on its bones."""
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.collections = ["Character"]
    scene, view_layer = bpy.context.scene, bpy.context.view_layer
    wanted.collections[0].override_hierarchy_create(scene, view_layer, do_fully_editable=True)
    armature = next(each for each in scene.objects if each.type == "ARMATURE")
    animate(armature)
    cloth = tube(armature, "Cloth", 0.6)
    cloth.scale = (1, 1.3, 0.9)
