"""Which server to use, and how long to wait for it."""

import bpy

from . import connection, live


def _server_changed(_self, _context) -> None:
    connection.reset()
    live.refresh_soon()


class SinewPreferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    server: bpy.props.EnumProperty(
        name="Server", default="LOCAL", update=_server_changed, items=(
            ("LOCAL", "In Blender", "Deform in Blender's own process; needs no other program"),
            ("REMOTE", "Remote", "Use a sinewd server on this machine or another one")))
    address: bpy.props.StringProperty(
        name="Address", default="127.0.0.1:50051", update=_server_changed,
        description="host, host:port or unix:/path of the server")
    tls_ca: bpy.props.StringProperty(
        name="TLS authorities", subtype="FILE_PATH", update=_server_changed,
        description="PEM file with the authorities of the server's certificate, or: system. Empty: no TLS")
    token_file: bpy.props.StringProperty(
        name="Token file", subtype="FILE_PATH", update=_server_changed,
        description="File with the bearer token for the server. Empty: none")
    deadline: bpy.props.FloatProperty(
        name="Deadline", default=0.5, min=0.02, max=30.0, unit="TIME_ABSOLUTE",
        description="Longest wait for a frame in the viewport. After it the last shape stays, and the add-on "
        "tries again in the background")
    render_deadline: bpy.props.FloatProperty(
        name="Deadline in renders", default=120.0, min=1.0, max=3600.0, unit="TIME_ABSOLUTE",
        description="Longest wait for a frame of a final render, with all retries and binding")

    def draw(self, _context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "server", expand=True)
        if self.server == "REMOTE":
            for name in ("address", "tls_ca", "token_file"):
                layout.prop(self, name)
        layout.prop(self, "deadline")
        layout.prop(self, "render_deadline")


def register() -> None:
    bpy.utils.register_class(SinewPreferences)


def unregister() -> None:
    bpy.utils.unregister_class(SinewPreferences)
