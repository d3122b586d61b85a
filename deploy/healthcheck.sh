#!/usr/bin/env bash
# Asks a gRPC server for grpc.health.v1.Health/Check with nothing but bash, for containers without other tools.
#
# usage: deploy/healthcheck.sh [HOST PORT]      (default: 127.0.0.1 50051; plaintext only)
# Exit code: 0 the server answers SERVING, 1 anything else.
set -uo pipefail
export LC_ALL=C
host=${1:-127.0.0.1} port=${2:-50051}

# One HTTP/2 request, byte by byte: preface, SETTINGS, HEADERS (POST http, path, authority, te, content-type; literals,
# no Huffman), DATA (an empty HealthCheckRequest, 5 bytes of gRPC framing).
request='PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
request+='\x00\x00\x00\x04\x00\x00\x00\x00\x00'
headers='\x83\x86'
length=2
literal() {
  headers+="\\x00$(printf '\\x%02x' "${#1}")$1$(printf '\\x%02x' "${#2}")$2"
  length=$((length + 3 + ${#1} + ${#2}))
}
literal :path /grpc.health.v1.Health/Check
literal :authority health
literal te trailers
literal content-type application/grpc
request+="\\x00\\x00$(printf '\\x%02x' "$length")\\x01\\x04\\x00\\x00\\x00\\x01$headers"
request+='\x00\x00\x05\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00'

{ exec 3<>"/dev/tcp/$host/$port"; } 2>/dev/null || {
  echo "healthcheck: nothing listens on $host:$port" >&2
  exit 1
}
printf '%b' "$request" >&3
# HealthCheckResponse{status: SERVING} is a message of two bytes, 08 01, behind its five bytes of framing. The server
# keeps the connection open, so its answer is read byte by byte; a NUL byte reads as an empty string.
seen=
while [[ ${#seen} -lt 4096 && $SECONDS -lt 5 ]] && IFS= read -r -t 3 -d '' -n 1 -u 3 byte; do
  printf -v hex '%02x' "'$byte"
  seen+=$hex
  [[ $seen != *00000000020801 ]] || exit 0
done
echo "healthcheck: $host:$port did not answer SERVING" >&2
exit 1
