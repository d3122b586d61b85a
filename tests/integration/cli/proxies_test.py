"""`sinew` behind proxies: a CONNECT proxy that the environment names, and nginx with a limit on bodies.

usage: proxies_test.py --sinew FILE --sinewd FILE
"""

import argparse
import base64
import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest

parser = argparse.ArgumentParser()
parser.add_argument("--sinew", required=True)
parser.add_argument("--sinewd", required=True)
options, rest = parser.parse_known_args()

_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy", "no_grpc_proxy", "no_proxy", "NO_PROXY")


class ConnectProxy:
    """An HTTP proxy that answers CONNECT to any host with a way to one server, or with another status."""

    def __init__(self, server: str, status: str = "200 OK") -> None:
        host, port = server.rsplit(":", 1)
        self.server, self.status = (host, int(port)), status
        self.requests: list[str] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self.listener.accept()[0],), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            request = b""
            while not request.endswith(b"\r\n\r\n"):
                request += client.recv(1)
            self.requests.append(request.decode())
            client.sendall(f"HTTP/1.1 {self.status}\r\n\r\n".encode())
            if self.status.startswith("200"):
                with socket.create_connection(self.server) as server:
                    threading.Thread(target=self._pass, args=(server, client), daemon=True).start()
                    self._pass(client, server)

    @staticmethod
    def _pass(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self.listener.close()


def resolves(host: str) -> bool:
    """Whether this machine knows the name: a bare one has none for itself."""
    try:
        return bool(socket.getaddrinfo(host, None))
    except socket.gaierror:
        return False


class Proxies(unittest.TestCase):

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="sinew-proxies-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, *arguments: object) -> subprocess.Popen:
        program = subprocess.Popen([str(each) for each in arguments], stdout=subprocess.PIPE,  # pylint: disable=consider-using-with
                                   stderr=subprocess.DEVNULL, text=True)

        def stop() -> None:
            program.terminate()
            program.wait(30)
            program.stdout.close()
        self.addCleanup(stop)
        return program

    def serve(self, listen: str = "127.0.0.1:0", *more: object) -> str:
        """The address of a server."""
        server = self.start(options.sinewd, "--listen", listen, "--http", "off", "--exit-with-parent", *more)
        return server.stdout.readline().split("listening on ")[1].strip()

    def proxy(self, server: str, status: str = "200 OK") -> ConnectProxy:
        proxy = ConnectProxy(server, status)
        self.addCleanup(proxy.close)
        return proxy

    def sinew(self, *arguments: object, **variables: str) -> subprocess.CompletedProcess:
        environment = {name: value for name, value in os.environ.items() if name not in _PROXIES}
        return subprocess.run([options.sinew, *map(str, arguments)], env={**environment, **variables}, capture_output=True,
                              text=True, check=False)

    def assert_reaches(self, server: str, **variables: str) -> None:
        done = self.sinew("stats", "--server", server, **variables)
        self.assertEqual(done.returncode, 0, (server, done.stderr))

    def test_this_machine_is_reached_directly_by_all_its_names(self) -> None:
        address = self.serve()
        port = address.rsplit(":", 1)[1]
        proxy = self.proxy(address)
        for server in ("localhost:{}", "LOCALHOST:{}", "127.0.0.1:{}", "dns:///localhost:{}", "dns:localhost:{}",
                       "ipv4:127.0.0.1:{}"):
            if "local" not in server.lower() or resolves("localhost"):
                self.assert_reaches(server.format(port), http_proxy=f"http://{proxy.address}")
        everywhere = self.serve("0.0.0.0:0", "--insecure").rsplit(":", 1)[1]
        for server in (socket.gethostname(), "127.0.0.2", "0.0.0.0"):
            if resolves(server):
                self.assert_reaches(f"{server}:{everywhere}", http_proxy=f"http://{proxy.address}")
        if os.path.exists("/proc/net/if_inet6") and "00000000000000000000000000000001" in pathlib.Path("/proc/net/if_inet6").read_text():
            port = self.serve("[::1]:0").rsplit(":", 1)[1]
            for server in ("[::1]:{}", "ipv6:[::1]:{}"):
                self.assert_reaches(server.format(port), http_proxy=f"http://{proxy.address}")
        self.assertEqual(proxy.requests, [])

    def test_other_hosts_are_reached_through_the_proxy(self) -> None:
        proxy = self.proxy(self.serve())
        self.assert_reaches("farm.example:50051", https_proxy=f"http://alice:p%40ss@{proxy.address}", no_proxy="arm.example")
        self.assertEqual(len(proxy.requests), 1)
        self.assertTrue(proxy.requests[0].startswith("CONNECT farm.example:50051 HTTP/1."), proxy.requests)
        self.assertIn("Proxy-Authorization: Basic " + base64.b64encode(b"alice:p@ss").decode(), proxy.requests[0])
        done = self.sinew("stats", "--server", "farm.example:50051", http_proxy=f"http://{proxy.address}", no_proxy=".EXAMPLE")
        self.assertEqual(done.returncode, 69)
        self.assertNotIn("proxy", done.stderr)
        self.assertEqual(len(proxy.requests), 1)

    def test_names_in_certificates_are_those_of_the_server(self) -> None:
        key, cert = self.folder / "key.pem", self.folder / "cert.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=farm.example",
                        "-addext", "subjectAltName=DNS:farm.example", "-keyout", key, "-out", cert], check=True,
                       capture_output=True)
        proxy = self.proxy(self.serve("127.0.0.1:0", "--tls-cert", cert, "--tls-key", key))
        variables = {"http_proxy": f"http://{proxy.address}", "SINEW_TLS_CA": str(cert)}
        self.assert_reaches("farm.example", **variables)
        self.assertEqual(self.sinew("stats", "--server", "other.example", **variables).returncode, 69)
        self.assertEqual(len({request.split()[1] for request in proxy.requests}), 2)

    def test_failures_name_the_proxy_without_its_password(self) -> None:
        refusing = self.proxy("127.0.0.1:9", "403 Forbidden").address
        with socket.create_server(("127.0.0.1", 0)) as closed:
            nothing = f"127.0.0.1:{closed.getsockname()[1]}"
        for address in (refusing, nothing):
            done = self.sinew("stats", "--server", "farm.example", http_proxy=f"http://alice:secret@{address}")
            self.assertEqual(done.returncode, 69, done.stderr)
            self.assertIn(f"through the proxy {address} of $http_proxy", done.stderr)
            self.assertIn("$no_proxy", done.stderr)
            self.assertNotIn("secret", done.stderr)

    def test_limit_of_nginx_on_bodies_is_named(self) -> None:
        nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        if nginx is None:
            self.skipTest("nginx is not installed (deploy/install-deps.sh test)")
        with socket.create_server(("127.0.0.1", 0)) as free:
            address = f"127.0.0.1:{free.getsockname()[1]}"
        configuration = self.folder / "nginx.conf"
        configuration.write_text(f"""
            daemon off; pid {self.folder}/pid; error_log {self.folder}/errors;
            events {{}}
            http {{
              access_log off; client_body_temp_path {self.folder}/bodies; client_max_body_size 100k;
              server {{ listen {address} http2; location / {{ grpc_pass grpc://{self.serve()}; }} }}
            }}""")
        self.start(nginx, "-c", configuration, "-p", self.folder)
        while subprocess.run([options.sinewd, "--probe", address], capture_output=True, check=False).returncode != 0:
            pass
        done = self.sinew("upload", "model:hand", "--server", address, "--wait", "1")
        self.assertEqual(done.returncode, 69, done.stderr)
        self.assertIn("a proxy in front of the server has", done.stderr)
        self.assertIn("client_max_body_size", done.stderr)
        self.assertNotIn("RST_STREAM", done.stderr)
        small = self.sinew("upload", "model:tube", "--server", address)
        self.assertEqual((small.returncode, small.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(argv=[__file__, *rest])
