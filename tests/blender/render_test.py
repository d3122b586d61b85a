"""Final renders of animations: each frame has its own pose, and colours are visible."""

import os
import sys

import bpy
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from base import FOLDER, AddonTest, outputs, run, sinew_blender, state  # noqa: E402
from characters import add_camera, animate, chain, tube  # noqa: E402

SIZE = 96


class Renders(AddonTest):

    def setUp(self):
        super().setUp()
        self.armature = chain()
        self.armature.sinew.offset = (6, 0, 0)
        self.mesh = tube(self.armature, "Body", 0.5)
        animate(self.armature)
        add_camera()
        self.scene.render.engine = "CYCLES"
        self.scene.cycles.samples, self.scene.cycles.use_denoising = 1, False
        self.scene.render.resolution_x = self.scene.render.resolution_y = SIZE
        self.scene.view_settings.view_transform = "Standard"

    def pictures(self, first, last):
        """(pixels, 3) sRGB of every frame of a rendered animation."""
        self.scene.frame_start, self.scene.frame_end = first, last
        self.scene.render.filepath = str(FOLDER / "render")
        bpy.ops.render.render(animation=True)
        result = []
        for frame in range(first, last + 1):
            image = bpy.data.images.load(str(FOLDER / f"render{frame:04d}.png"))
            pixels = np.empty(SIZE * SIZE * 4, np.float32)
            image.pixels.foreach_get(pixels)
            bpy.data.images.remove(image)
            result.append(pixels.reshape(-1, 4)[:, :3])
        return result

    def show_attribute(self):
        """A material that shines in the colours of the add-on, on all meshes."""
        material = bpy.data.materials.new("Colours")
        material.use_nodes = True
        nodes = material.node_tree.nodes
        nodes.clear()
        colour, emission = nodes.new("ShaderNodeVertexColor"), nodes.new("ShaderNodeEmission")
        colour.layer_name = "Sinew"
        output = nodes.new("ShaderNodeOutputMaterial")
        material.node_tree.links.new(colour.outputs["Color"], emission.inputs["Color"])
        material.node_tree.links.new(emission.outputs["Emission"], output.inputs["Surface"])
        self.mesh.data.materials.append(material)

    def test_every_frame_has_its_pose(self):
        self.show_attribute()
        self.bind(self.armature, "dqs")
        self.armature.sinew.second.set_text("dqs")
        self.armature.sinew.compare, self.armature.sinew.colours = True, "DISTANCE"  # the second is blue
        pictures = [picture[:, 2] > 0.5 for picture in self.pictures(8, 10)]
        for one, other in ((0, 1), (1, 2)):
            self.assertGreater(np.count_nonzero(pictures[one] != pictures[other]), 5)
        self.scene.frame_set(8)
        again, = self.pictures(8, 8)
        np.testing.assert_array_equal(again[:, 2] > 0.5, pictures[0])

    def test_heat_map_is_in_the_picture(self):
        self.show_attribute()
        self.bind(self.armature, "lbs")
        self.armature.sinew.second.set_text("dqs")
        self.armature.sinew.compare, self.armature.sinew.colours = True, "DISTANCE"
        rest, bent = self.pictures(1, 1)[0], self.pictures(10, 10)[0]
        for picture, has_red in ((rest, False), (bent, True)):  # at rest both methods agree
            self.assertGreater(np.count_nonzero(picture[:, 2] - picture[:, 0] > 0.3), 20)
            self.assertEqual(np.count_nonzero(picture[:, 0] - picture[:, 2] > 0.3) > 5, has_red)

    def test_vertex_status_is_in_the_picture(self):
        self.show_attribute()
        self.armature.sinew.colours = "STATUS"
        self.bind(self.armature, "dqs | bulge_free | implicit | relax")
        picture, = self.pictures(10, 10)
        self.assertEqual(state(self.armature).error, "")
        attribute = outputs(self.armature)[0].data.color_attributes["Sinew"].data
        vertices = np.empty(len(attribute) * 4, np.float32)
        attribute.foreach_get("color_srgb", vertices)
        vertices = vertices.reshape(-1, 4)[:, :3]
        seen = 0
        for colour in sinew_blender.output.STATUS_COLOURS:
            has = [np.count_nonzero(np.abs(colours - colour).max(axis=1) < 0.02) for colours in (vertices, picture)]
            if has[0] > len(vertices) / 4:
                self.assertGreater(has[1], 20)
                seen += 1
        self.assertGreater(seen, 0)


if __name__ == "__main__":
    run()
