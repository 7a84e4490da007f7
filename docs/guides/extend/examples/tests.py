#!/usr/bin/env python3
"""tests.py: runs the project's tests, for you and for the model.

  run_tests         a tool: streams what the command prints, answers with its end
  /tests [words]    the same from the composer
  status row        whether the last run passed, and when

The command is {"extensions": {"tests": {"command": "make test"}}} in settings.json, else a guess by
the files that are there. With "watch": true the tests run again after every turn that wrote a file.

Install: copy this one file to ~/.e/extensions/ and chmod +x it. Needs Python 3.8 and nothing else.
"""
import codecs
import json
import os
import select
import shlex
import signal
import subprocess
import sys
import threading
import time

GUESSES = [
    ("Cargo.toml", "cargo test"),
    ("go.mod", "go test ./..."),
    ("package.json", "npm test --silent"),
    ("pyproject.toml", "python3 -m pytest -q"),
    ("Makefile", "make test"),
]
LIMIT = 280  # seconds; e gives a tool call 300
GRACE = 2  # seconds between SIGTERM and SIGKILL
TAIL = 24 * 1024  # characters of output in the answer; failures stand at the end

MANIFEST = {
    "name": "tests",
    "version": "1.0",
    "tools": [
        {
            "name": "run_tests",
            "description": "Run the project's tests and get the end of what they print.",
            "parameters": {
                "type": "object",
                "properties": {"filter": {"type": "string", "description": "Words behind the command: a test's name."}},
            },
            "label": {"category": "test run", "running": "Testing", "completed": "Tested", "target": "filter"},
        }
    ],
    "commands": [{"name": "tests", "description": "run the project's tests", "arguments": "[filter]"}],
    "events": ["tool_end", "turn_end"],
}

config = {}
one_run = threading.Lock()  # tests that run twice at once disturb each other
one_line = threading.Lock()
running = None  # the process of a run
wrote = False  # whether this turn changed a file


def send(**message):
    with one_line:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def status(text):
    """The slot on the status row. The answer is of no interest: without a terminal it is an error."""
    send(id="status", method="ui.status", params={"text": text})


def command():
    if "command" in config:
        return config["command"]
    for file, guess in GUESSES:
        if os.path.exists(file):
            return guess
    raise ValueError("no test command: set extensions.tests.command in settings.json")


def end(process, sign):
    """Ends a run with everything it started."""
    try:
        os.killpg(process.pid, sign)
    except ProcessLookupError:
        pass


def output(process):
    """Pieces of what a run prints, until it has ended. What it left behind does not hold this up."""
    ended, at_end = os.pipe()

    def wait():
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        end(process, signal.SIGKILL)  # it is not reaped yet, so its number is still its own
        os.close(at_end)

    background(wait)
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    sources, deadline, signs = [process.stdout, ended], time.monotonic() + LIMIT, [signal.SIGTERM]
    while sources:
        ready = select.select(sources, [], [], max(0, deadline - time.monotonic()))[0]
        if process.stdout in ready:
            data = os.read(process.stdout.fileno(), 65536)
            if data:
                yield decode(data)
            else:
                sources.remove(process.stdout)
        elif ended in ready:
            sources.remove(ended)
            deadline = time.monotonic() + 0.2  # for what is still in the pipe
        elif ended in sources:
            end(process, signs.pop() if signs else signal.SIGKILL)
            deadline += GRACE
        else:
            break
    os.close(ended)


def run(words, update):
    """Runs the tests; returns whether they passed, a summary and the end of the output."""
    global running
    line = command() + "".join(" " + shlex.quote(word) for word in words)
    with one_run:
        start = time.monotonic()
        status("tests …")
        process = subprocess.Popen(
            line,
            shell=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        running = process
        tail = ""
        for text in output(process):
            update(text)
            tail = (tail + text)[-TAIL:]
        running = None
        process.stdout.close()
        code = process.wait()
        seconds = time.monotonic() - start
        stopped = f"stopped after {LIMIT} s" if seconds >= LIMIT else None
        verdict = "passed" if code == 0 else stopped or f"failed, status {code}"
        status(f"tests {'✓' if code == 0 else '✗'} {time.strftime('%H:%M')}")
        return code == 0, f"{verdict} in {seconds:.1f} s", tail


def tool_call(id, params):
    def update(chunk):
        send(method="tool.update", params={"id": id, "stream": "stdout", "chunk": chunk})

    passed, summary, output = run(shlex.split(params["arguments"].get("filter", "")), update)
    return {"content": f"{command()}: {summary}\n\n{output}", "is_error": not passed, "summary": summary}


def slash(_, params):
    passed, summary, output = run(shlex.split(params.get("args", "")), lambda text: None)
    if passed:
        return {"notice": f"tests {summary}"}
    return {"show": {"title": f"tests {summary}", "body": output, "format": "text"}}


def watch():
    passed, summary, _ = run([], lambda text: None)
    if not passed:
        send(method="notify", params={"message": f"tests {summary}; /tests shows them"})


def event(params):
    global wrote
    extra = params.get("extra", {})
    if params["name"] == "tool_end":
        wrote = wrote or extra.get("name") in ("write", "edit")
    elif wrote:
        wrote = False
        if config.get("watch"):
            background(watch)


def background(work, *args):
    threading.Thread(target=work, args=args, daemon=True).start()


def answer(id, handler, params):
    try:
        send(id=id, result=handler(id, params))
    except Exception as error:
        send(id=id, error=str(error))


def main():
    global config
    sys.stdin.reconfigure(encoding="utf-8")
    sys.stdout.reconfigure(encoding="utf-8")
    for line in sys.stdin:
        message = json.loads(line)
        method, id, params = message.get("method"), message.get("id"), message.get("params") or {}
        if method == "initialize":
            config = params.get("extensions_config", {}).get("tests", {})
            send(id=id, result=MANIFEST)
        elif method == "tool_call":
            background(answer, id, tool_call, params)
        elif method == "command":
            background(answer, id, slash, params)
        elif method == "event":
            event(params)
        elif method == "shutdown":
            break
        elif method is not None and id is not None:
            send(id=id, error=f"unknown method {method}")


try:
    main()
except BrokenPipeError:
    sys.stdout = None  # e is gone; there is nobody left to flush for
finally:
    if running:
        end(running, signal.SIGKILL)
