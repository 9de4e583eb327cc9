"""`rankbox watch --page` on a copy of the project, for tests."""

import re
import signal
import subprocess
import threading


class Watching:
    """A running `watch --page` in a copy of the project."""

    def __init__(self, program, root, *arguments):
        self.process = subprocess.Popen([program, "watch", "--page", *arguments], cwd=root,
                                        stdout=subprocess.PIPE, text=True)
        self.url = ""
        for line in self.process.stdout:
            found = re.match(r"open (http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/)$", line)
            if found:
                self.url, self.port, self.token = found[1], int(found[2]), found[3]
                break
        # Nobody reads the rest, and a full pipe would stop it.
        self.reader = threading.Thread(target=self.process.stdout.read, daemon=True)
        self.reader.start()

    def end(self):
        """Ctrl-C. Returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(30)
        finally:
            self.process.kill()
            self.reader.join()
            self.process.stdout.close()
