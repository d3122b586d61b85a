"""Messages and stubs of sinew.v1, generated from proto/sinew/v1: the protocol without the client library.

    import grpc
    from sinew.v1 import info_service_pb2, info_service_pb2_grpc

    channel = grpc.insecure_channel("127.0.0.1:50051")
    print(info_service_pb2_grpc.InfoServiceStub(channel).GetServerInfo(info_service_pb2.GetServerInfoRequest()))

Needs protobuf and grpcio, which `import sinew` does not. google_rpc has the messages of error details.
"""

try:
    import google.protobuf  # noqa: F401
    import grpc  # type: ignore[import]  # noqa: F401
except ImportError as error:
    raise ImportError(f"sinew.v1: {error}; needs protobuf and grpcio: the extra sinew[v1] of the wheel, or Debian's "
                      "python3-protobuf and python3-grpcio") from error
