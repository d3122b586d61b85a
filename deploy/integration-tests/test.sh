#!/usr/bin/env bash
# A test against the server $SINEW_SERVER: it lists its methods, and its frames have the bits of a server in this process.
set -euo pipefail
server=${SINEW_SERVER:?the address of a server, such as sinewd:50051}
for _ in {1..150}; do  # 30 s
  sinewd --probe "$server" >/dev/null 2>&1 && break
  sleep 0.2
done
sinewd --probe "$server"  # says why, if it is not healthy

cd /tmp
sinew --server "$server" methods >methods
grep -q '^ddm:' methods
sinew --server "$server" bake model:hand --deformer ddm --frames 0-5 --out remote.npy
sinew --local bake model:hand --deformer ddm --frames 0-5 --out local.npy
sinew verify remote.npy
cmp remote.npy local.npy
echo "test passed"
