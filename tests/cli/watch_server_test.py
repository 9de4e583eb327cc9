#!/usr/bin/env python3
"""Who may talk to the server of `rankbox watch --page`, and how it ends.

    watch_server_test.py RANKBOX
"""

import http.client
import os
import socket
import subprocess
import sys
import unittest

from project import copy_of_project
from watching import Watching


class ServerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = copy_of_project()
        cls.watching = Watching(PROGRAM, cls.root)
        cls.port, cls.token = cls.watching.port, cls.watching.token
        cls.own = f"127.0.0.1:{cls.port}"

    @classmethod
    def tearDownClass(cls):
        cls.watching.end()

    def ask(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        self.addCleanup(connection.close)
        connection.putrequest(method, path, skip_host=True)
        for name, value in {"Host": self.own, **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse()

    def test_the_page_and_nothing_else(self):
        page = self.ask(f"/{self.token}/", Origin=f"http://{self.own}")
        text = page.read().decode()
        self.assertEqual(page.status, 200)
        self.assertIn("default-src 'none'", text)
        self.assertEqual(page.headers["Content-Security-Policy"], "frame-ancestors 'self'")
        self.assertEqual(page.headers["Cache-Control"], "no-store")
        for path in ("run", "events/", "..", "none"):
            self.assertEqual(self.ask(f"/{self.token}/{path}").status, 404, path)

    def test_others_are_refused(self):
        token, root = self.token, f"/{self.token}/"
        for path, headers in [
                ("/", {}), ("/events", {}), (f"/{token}", {}), (f"/{token[:-1]}/", {}),
                (f"/{'0' * 32}/", {}), (f"/{'0' * 32}/events", {}), (f"//{token}/", {}),
                (root, {"Host": f"localhost:{self.port}"}),
                (root, {"Host": f"rebound.example:{self.port}"}),
                (root, {"Host": "127.0.0.1"}), (root, {"Host": ""}),
                (root, {"Origin": "https://example.org"}), (root, {"Origin": "null"}),
                (f"{root}events", {"Origin": f"http://localhost:{self.port}"}),
                (f"{root}events", {"Origin": f"https://{self.own}"})]:
            answer = self.ask(path, **headers)
            self.assertEqual(answer.status, 403, (path, headers))
            self.assertNotIn(token, answer.read().decode())
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            self.assertEqual(self.ask(root, method).status, 403, method)

    def test_only_this_machine_can_connect(self):
        with self.assertRaises(ConnectionRefusedError):  # as from the outside: another address
            socket.create_connection(("127.0.0.2", self.port), timeout=30)

    def test_a_taken_port_is_one_line(self):
        second = subprocess.run([PROGRAM, "watch", "--page", "--port", str(self.port)],
                                cwd=self.root, capture_output=True, text=True, timeout=60)
        self.assertEqual(second.returncode, 2)
        self.assertEqual(second.stderr.count("\n"), 1)
        self.assertIn(f"--port {self.port}: cannot listen on 127.0.0.1:{self.port}", second.stderr)

    def test_a_port_without_a_page_is_a_mistake(self):
        alone = subprocess.run([PROGRAM, "watch", "--port", "8080"], cwd=self.root,
                               capture_output=True, text=True, timeout=60)
        self.assertEqual((alone.returncode, alone.stderr.count("\n")), (2, 1))
        self.assertIn("only --page has a port", alone.stderr)

    def test_ctrl_c_ends_it_with_a_page_open(self):
        watching = Watching(PROGRAM, self.root, "broadcast_ring")
        connection = http.client.HTTPConnection("127.0.0.1", watching.port, timeout=30)
        self.addCleanup(connection.close)
        connection.request("GET", f"/{watching.token}/events")
        events = connection.getresponse()
        self.assertIn(b'"name":"broadcast_ring"', events.readline())
        self.assertEqual(watching.end(), 130)
        while events.readline():  # to its end
            pass
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", watching.port), timeout=30)


if __name__ == "__main__":
    PROGRAM = os.path.realpath(sys.argv.pop(1))
    unittest.main(verbosity=2)
