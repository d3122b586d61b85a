"""The tests in Blender as a Python module, the package bpy of PyPI, with the extension installed from its zip.

usage: bpy_run.py ZIP MODULE[.CLASS[.TEST]]...        Exit code: 0 if all passed.
"""

import os
import sys
import tempfile
import unittest

with tempfile.TemporaryDirectory() as folder:
    for name in ("BLENDER_USER_CONFIG", "BLENDER_USER_SCRIPTS", "BLENDER_USER_EXTENSIONS", "SINEW_TEST_FOLDER"):
        os.environ[name] = os.path.join(folder, name.lower())
        os.mkdir(os.environ[name])
    import bpy
    print("Blender", bpy.app.version_string)
    bpy.ops.extensions.package_install_files(filepath=sys.argv[1], repo="user_default", enable_on_install=True)
    sys.path.insert(0, os.path.dirname(__file__))
    result = unittest.main(module=None, argv=["bpy_run.py", *sys.argv[2:]], exit=False, verbosity=2).result
# bpy 4.2 crashes at the end of any process in which a handler was added.
sys.stdout.flush()
os._exit(0 if result.wasSuccessful() else 1)
