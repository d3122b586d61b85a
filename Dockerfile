# The server and the command line `sinew`, on Debian 12. Build: docker build -t sinew . (or buildah bud --format docker, which keeps HEALTHCHECK)
# Run: docker run --rm -p 127.0.0.1:50051:50051 --read-only --cap-drop all sinew --insecure
# Command line: docker run --rm --entrypoint sinew -v "$PWD:/data" -w /data sinew --local bake hero.glb --deformer ddm \
#   --out hero.pc2, as a user who may write there (-u); or in a running container: docker exec NAME sinew \
#   --server unix:/dev/shm/sinewd.sock stats
# Without --insecure the server needs TLS and authentication; see "On a network" in README.md. Either way, clients that
# you do not trust must come through the edge, deploy/edge/haproxy.cfg: do not publish 50051 to them.
# Metrics and probes are on a port that only the container reaches. For Prometheus and an orchestrator add
# --http 0.0.0.0:8080, and publish 8080 to a private network alone: it needs no authentication.

FROM debian:bookworm-slim AS build
WORKDIR /src
COPY deploy/install-deps.sh deploy/
RUN deploy/install-deps.sh build && rm -rf /var/lib/apt/lists/*
COPY CMakeLists.txt CMakePresets.json ./
COPY proto proto
COPY core core
COPY server server
COPY client client
RUN cmake --preset release -DSINEW_BUILD_TESTS=OFF \
 && cmake --build --preset release --target sinewd sinew \
 && strip build/release/bin/sinewd build/release/bin/sinew

# The page of `sinew view` and `sinewd --web`; where npm's registry cannot be reached, --build-arg PAGE=off leaves it out.
FROM debian:bookworm-slim AS page
WORKDIR /src
COPY deploy/install-deps.sh deploy/
RUN deploy/install-deps.sh web && rm -rf /var/lib/apt/lists/*
COPY LICENSE ./
COPY proto proto
COPY client/web client/web
ARG PAGE=on
RUN if [ "$PAGE" = off ]; then mkdir /page; else client/web/build.sh /page; fi

FROM debian:bookworm-slim AS runtime
COPY deploy/install-deps.sh /tmp/install-deps.sh
RUN /tmp/install-deps.sh runtime \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/cache/debconf/*-old /var/log/apt /var/log/dpkg.log /tmp/install-deps.sh \
 && groupadd --gid 10001 sinew \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin sinew \
 && install -d -o sinew -g sinew -m 700 /var/lib/sinew    # a new volume for --data-dir gets this owner
COPY LICENSE /usr/share/doc/sinew/copyright
COPY --from=build /src/build/release/bin/sinewd /src/build/release/bin/sinew /usr/local/bin/
COPY --from=page /page /usr/local/share/sinew/web

# The bill of materials, made where python is: packages of the image, and those whose headers are in the programs.
FROM build AS sbom
COPY --from=runtime /var/lib/dpkg /image/var/lib/dpkg
COPY --from=runtime /usr/share/doc /image/usr/share/doc
COPY --from=page /page /page
COPY deploy/sbom.py deploy/
ARG REVISION=
RUN python3 deploy/sbom.py --root /image --revision "$REVISION" --version "$(build/release/bin/sinewd --version | cut -d ' ' -f 2)" \
  --compiled-in libeigen3-dev libnanoflann-dev nlohmann-json3-dev libtinygltf-dev libutfcpp-dev libcli11-dev \
  --crates "ufbx@$(sed -n 's/^ufbx_crate=//p' deploy/install-deps.sh)=MIT" $([ ! -e /page/index.html ] || echo --page client/web/package-lock.json) --out /sbom.cdx.json

FROM runtime
# docker build --build-arg REVISION="$(git rev-parse HEAD)" --build-arg VERSION=...
ARG REVISION=
ARG VERSION=
LABEL org.opencontainers.image.title="sinewd" \
      org.opencontainers.image.description="Skin deformation as a gRPC service" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.version="$VERSION"
COPY --from=sbom /sbom.cdx.json /usr/share/doc/sinew/sbom.cdx.json
USER 10001:10001
EXPOSE 50051
STOPSIGNAL SIGTERM
# The standard gRPC health service, asked from inside; arguments of `docker run` follow the entry point's. The socket
# answers without TLS; /dev/shm is writable also where the root is not.
HEALTHCHECK --interval=3s --timeout=6s --start-period=5s --retries=3 CMD ["sinewd", "--probe", "unix:/dev/shm/sinewd.sock"]
ENTRYPOINT ["sinewd", "--listen", "0.0.0.0:50051", "--listen", "unix:/dev/shm/sinewd.sock"]
