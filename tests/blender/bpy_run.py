"""addon_test.py in Blender as a Python module: the package bpy of PyPI. Exit code: 0 if all passed.

usage: bpy_run.py ADDONS [TEST...]       ADDONS: the folder that contains sinew_blender
"""

import os
import pathlib
import shutil
import sys
import tempfile
import unittest

with tempfile.TemporaryDirectory() as folder:
    for name in ("BLENDER_USER_CONFIG", "BLENDER_USER_SCRIPTS", "SINEW_TEST_FOLDER"):
        os.environ[name] = os.path.join(folder, name.lower())
        os.mkdir(os.environ[name])
    shutil.copytree(pathlib.Path(sys.argv[1]) / "sinew_blender",
                    pathlib.Path(os.environ["BLENDER_USER_SCRIPTS"]) / "addons" / "sinew_blender")
    import bpy
    bpy.ops.preferences.addon_enable(module="sinew_blender")
    sys.path.insert(0, os.path.dirname(__file__))
    import addon_test
    print("Blender", bpy.app.version_string)
    result = unittest.main(module=addon_test, argv=["addon_test.py", *sys.argv[2:]], exit=False, verbosity=2).result
# bpy 4.2 crashes at the end of any process in which a handler was added.
sys.stdout.flush()
os._exit(0 if result.wasSuccessful() else 1)
