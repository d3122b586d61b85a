"""Messages of google.rpc, which errors carry: status_pb2 and error_details_pb2.

    from sinew.v1.google_rpc import error_details_pb2, status_pb2

    status = status_pb2.Status.FromString(dict(error.trailing_metadata())["grpc-status-details-bin"])
    for detail in status.details:
        request = error_details_pb2.BadRequest()
        if detail.Unpack(request):
            print(request.field_violations[0].field)

They are those of the package googleapis-common-protos where it is installed: a process can hold only one file of that
name. Otherwise they are shipped with this package, with what Sinew's errors need.
"""

try:
    from google.rpc import error_details_pb2, status_pb2
except ImportError:
    from ._shipped.google.rpc import error_details_pb2, status_pb2

__all__ = ["error_details_pb2", "status_pb2"]
