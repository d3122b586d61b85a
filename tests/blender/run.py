"""Runs a script in Blender whose only add-on is installed from a zip, in a folder of its own."""

import argparse
import os
import subprocess
import sys
import tempfile

options = argparse.ArgumentParser()
options.add_argument("--blender", required=True)
options.add_argument("--zip", required=True)
options.add_argument("--script", required=True)
options.add_argument("--window", action="store_true", help="in a window, under xvfb-run, instead of the background")
arguments, rest = options.parse_known_args()

with tempfile.TemporaryDirectory() as folder:
    paths = {name: os.path.join(folder, name.lower()) for name in
             ("BLENDER_USER_CONFIG", "BLENDER_USER_SCRIPTS", "BLENDER_USER_DATAFILES", "SINEW_TEST_FOLDER")}
    for path in paths.values():
        os.mkdir(path)
    install = (f"import bpy; bpy.ops.preferences.addon_install(filepath={arguments.zip!r}); "
               "bpy.ops.preferences.addon_enable(module='sinew_blender')")
    screen = "-screen 0 800x600x24"
    start = (["xvfb-run", "-a", "-s", screen, arguments.blender, "--enable-event-simulate", "--no-window-focus",
              "--window-geometry", "0", "0", "800", "600"] if arguments.window else [arguments.blender, "--background"])
    command = [*start, "--factory-startup", "--python-exit-code", "3",
               "--python-expr", install, "--python", arguments.script, "--", *rest]
    environment = {**os.environ, **paths, "LIBGL_ALWAYS_SOFTWARE": "1"}
    sys.exit(subprocess.run(command, env=environment, check=False).returncode)
