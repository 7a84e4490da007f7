#!/usr/bin/env python3
"""A client of `e rpc` in a page: python3 client.py [e] [prompt]

Starts e, opens a session in this directory, prints the reply as it streams, and says what the turn
came to on standard error. Needs nothing but Python's standard library.
"""
import json
import queue
import subprocess
import sys
import threading


class Client:
    """One `e rpc` process. Calls may come from several threads."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lock = threading.Lock()
        self.count = 0
        self.waiting = {}  # request id -> queue of its events and, last, its response
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            id = message.get("request") if "type" in message else message.get("id")
            inbox = self.waiting.get(id)
            if inbox is not None:
                inbox.put(message)
        for inbox in list(self.waiting.values()):
            inbox.put({"error": "e has ended"})

    def stream(self, method, **params):
        """Yields the events of a request and returns its result."""
        inbox = queue.Queue()
        with self.lock:
            self.count += 1
            id = self.count
            self.waiting[id] = inbox
            line = json.dumps({"id": id, "method": method, "params": params})
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        try:
            while True:
                message = inbox.get()
                if "type" in message:
                    yield message
                elif "error" in message:
                    raise RuntimeError(message["error"])
                else:
                    return message["result"]
        finally:
            del self.waiting[id]

    def call(self, method, **params):
        """The result of a request; its events are ignored."""
        events = self.stream(method, **params)
        while True:
            try:
                next(events)
            except StopIteration as end:
                return end.value

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def main():
    e = sys.argv[1] if len(sys.argv) > 1 else "e"
    prompt = " ".join(sys.argv[2:]) or "hello from Python"
    client = Client(e, "rpc", "--trust", "--model", "offline/echo")
    hello = client.call("hello")
    print("e", hello["version"], "speaks protocol", hello["protocol"], file=sys.stderr)
    session = client.call("session.create")["session"]

    def turn():
        result = yield from client.stream("session.prompt", session=session, prompt=prompt)
        print()
        print("tokens:", result["usage"]["output_tokens"], "error:", result["error"], file=sys.stderr)

    for event in turn():
        if event["type"] == "text":
            print(event["delta"], end="", flush=True)
    sys.exit(client.close())


if __name__ == "__main__":
    main()
