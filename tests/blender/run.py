"""Runs a test script in background Blender whose only add-on is installed from a zip, in a folder of its own."""

import argparse
import os
import subprocess
import sys
import tempfile

options = argparse.ArgumentParser()
options.add_argument("--blender", required=True)
options.add_argument("--zip", required=True)
options.add_argument("--script", required=True)
arguments, rest = options.parse_known_args()

with tempfile.TemporaryDirectory() as folder:
    paths = {name: os.path.join(folder, name.lower()) for name in
             ("BLENDER_USER_CONFIG", "BLENDER_USER_SCRIPTS", "BLENDER_USER_DATAFILES", "SINEW_TEST_FOLDER")}
    for path in paths.values():
        os.mkdir(path)
    install = (f"import bpy; bpy.ops.preferences.addon_install(filepath={arguments.zip!r}); "
               "bpy.ops.preferences.addon_enable(module='sinew_blender')")
    command = [arguments.blender, "--background", "--factory-startup", "--python-exit-code", "3",
               "--python-expr", install, "--python", arguments.script, "--", *rest]
    sys.exit(subprocess.run(command, env={**os.environ, **paths}, check=False).returncode)
