#!/usr/bin/env node
// subagent.mjs: a `delegate` tool that runs a task in an e of its own.
//
// Each call starts `e rpc --no-extensions` in the same directory, writes one request and reads one
// result. The child has no extensions, so it cannot delegate again; --trust passes on that this e
// was allowed to work here. Its session is saved, and the result names the log, so that the model can
// look up what the answer left out.
//
// Install: put this one file in ~/.e/extensions/ and chmod +x it. E_BIN names the e to run when it
// is not the one on PATH.

import { spawn } from "node:child_process";

// Edit these. An agent without `tools` has every built-in tool; a model in braces stands for none,
// and the child takes the one that e would take.
const AGENTS = [
  { name: "Explore", description: "finds things out", tools: ["read", "grep"], model: "{provider/model}" },
  { name: "Plan", description: "reads and makes a plan", tools: ["read", "grep"], model: "{provider/model}" },
  { name: "Build", description: "does the work with every tool", model: "{provider/model}" },
];

const SECONDS = 240; // of a task, unless the call says otherwise
const MOST_SECONDS = 280; // e gives a tool call 300
const GRACE = 8_000; // ms between SIGTERM, on which the child answers with what it has, and SIGKILL
const MOST_OUTPUT = 16 * 1024 * 1024; // characters of a child's answer
const MOST_CONTENT = 1024 * 1024; // characters of the result; e shows the model 32 KiB and keeps the rest

const children = new Set();
const names = AGENTS.map((agent) => agent.name);

const manifest = {
  name: "subagent",
  version: "1.0",
  events: [],
  tools: [
    {
      name: "delegate",
      description:
        "Run a task in a fresh agent in the same directory and get its answer. It knows nothing of this " +
        `conversation, so say everything it needs. Agents: ${AGENTS.map(({ name, description }) => `${name} ${description}`).join("; ")}.`,
      parameters: {
        type: "object",
        properties: {
          task: { type: "string", description: "What to do, and what to answer with." },
          agent: { type: "string", enum: names, description: "Who does it; Build by default." },
          model: { type: "string", description: "provider/model, instead of the agent's." },
          timeout_seconds: { type: "integer", description: `${SECONDS} by default, ${MOST_SECONDS} at most.` },
        },
        required: ["task"],
      },
      label: { category: "delegation", running: "Delegating", completed: "Delegated", target: "task" },
    },
  ],
};

async function delegate({ task, agent: name = "Build", model, timeout_seconds: wanted = SECONDS }, update) {
  const agent = AGENTS.find((agent) => agent.name === name);
  if (!agent) throw new Error(`there is no agent \`${name}\`; take one of ${names.join(", ")}`);
  if (typeof task !== "string" || !task.trim()) throw new Error("`task` must not be empty");
  const seconds = Math.min(Math.max(Number(wanted) || SECONDS, 1), MOST_SECONDS);
  const chosen = model ?? (agent.model?.startsWith("{") ? undefined : agent.model);
  update(`${name} has started\n`);
  const request = { id: 1, prompt: task, tools: agent.tools, model: chosen, save: true };
  const { answer, late } = await oneShot(request, seconds);
  return result(name, answer, late && seconds);
}

/** What the parent's model reads about a child's answer. */
function result(name, answer, late) {
  const wrong = late ? `it was stopped after ${late} s` : (answer.error ?? (answer.aborted ? "it was interrupted" : null));
  const text = clip(answer.final_output || answer.output || "");
  const parts = [wrong && `${name} did not finish: ${wrong}`, text, answer.session && `Session log: ${answer.session}`];
  return {
    content: parts.filter(Boolean).join("\n\n"),
    is_error: Boolean(wrong),
    summary: `${name}, ${answer.tools?.calls ?? 0} calls`,
  };
}

/** A text of bounded length. */
const clip = (text) =>
  text.length > MOST_CONTENT ? `${text.slice(0, MOST_CONTENT)}\n[the rest is in the session log]` : text;

/** Runs a child for one request line. Every child ends: by itself, by SIGTERM, or by SIGKILL. */
function oneShot(request, seconds) {
  return new Promise((resolve, reject) => {
    const program = process.env.E_BIN || "e";
    const child = spawn(program, ["rpc", "--no-extensions", "--trust"], { stdio: "pipe" });
    children.add(child);
    let late = false;
    let answer;
    let said = ""; // on stderr, the end of it
    let pieces = [];
    let size = 0;

    const kill = () => child.kill("SIGKILL");
    let watchdog;
    const terminate = () => {
      late = !answer;
      child.kill("SIGTERM");
      watchdog = setTimeout(kill, GRACE);
    };
    const deadline = setTimeout(terminate, seconds * 1000);

    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (chunk) => {
      size += chunk.length;
      if (size > MOST_OUTPUT) return kill();
      pieces.push(chunk);
      if (answer || !chunk.includes("\n")) return;
      const lines = pieces.join("").split("\n");
      pieces = [lines.pop()];
      answer = lines.map(parse).find((message) => message?.id === request.id);
      if (answer) child.stdin.end();
    });
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (chunk) => (said = (said + chunk).slice(-2000)));
    child.stdin.on("error", () => {}); // the child is gone; "close" tells
    child.stdin.write(`${JSON.stringify(request)}\n`);

    const settle = (error) => {
      clearTimeout(deadline);
      clearTimeout(watchdog);
      children.delete(child);
      // An answer without an output is a refusal: the turn never began.
      if (answer && answer.output !== undefined) resolve({ answer, late });
      else if (answer?.error) reject(new Error(answer.error));
      else reject(error);
    };
    child.on("error", ({ message }) => settle(new Error(`cannot start \`${program}\`: ${message}; set E_BIN`)));
    // A stranger that holds the pipes must not hold the call.
    child.on("exit", () => setTimeout(() => [child.stdout, child.stderr].forEach((pipe) => pipe.destroy()), 500));
    child.on("close", (status, signal) => {
      const end = late ? `was stopped after ${seconds} s` : `ended with ${signal ?? `status ${status}`}`;
      settle(new Error(`\`${program}\` ${end} without an answer${said.trim() && `: ${said.trim()}`}`));
    });
  });
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// The protocol: one JSON object a line. An answer repeats the id of its request.

const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

async function serve({ id, method, params }) {
  if (method === "shutdown") return leave();
  if (method === "initialize") return send({ id, result: manifest });
  if (method !== "tool_call") return id !== undefined && send({ id, error: `unknown method ${method}` });
  const update = (chunk) => send({ method: "tool.update", params: { id, stream: "stdout", chunk } });
  try {
    send({ id, result: await delegate(params.arguments, update) });
  } catch (error) {
    send({ id, error: error.message });
  }
}

/** Children get a SIGTERM, on which they end their commands. What is left then, e ends with us. */
function leave() {
  for (const child of children) {
    child.kill("SIGTERM");
    child.on("close", () => children.size || process.exit(0));
  }
  setTimeout(() => process.exit(0), children.size ? 400 : 0);
}

let rest = []; // pieces of a line that has not ended
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = chunk.split("\n");
  for (const line of lines.splice(0, lines.length - 1)) {
    const message = parse(rest.join("") + line);
    rest = [];
    if (message) serve(message);
  }
  rest.push(lines[0]);
});
process.stdin.on("end", leave);
process.stdout.on("error", leave);
