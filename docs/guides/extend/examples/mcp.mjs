#!/usr/bin/env node
// mcp.mjs: the tools of one MCP server on standard input and output, as tools of e.
//
// Speaks revision 2025-11-25 of the protocol: the initialize handshake, every page of tools/list,
// tools/call, and progress, which becomes live output of the call. Prompts, resources, sampling and
// elicitation are not for e: requests of the server are refused in the protocol's words. A server that
// dies fails the calls it had; the next call starts it once more.
//
// Install: put this one file in ~/.e/extensions/, chmod +x it, and say in ~/.e/settings.json
//
//   {"extensions": {"mcp": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/safe/root"]}}}
//
// Also `env` and `cwd` for the server, and `prefix` for the names of its tools. A copy under another
// name, such as github.mjs, is another server and reads its entry by that name. e gives an extension
// five seconds to start: run a server that npx must first download once by hand.

import { spawn } from "node:child_process";
import { basename, dirname } from "node:path";

const REVISION = "2025-11-25";
// Of earlier ones the part that is used here is the same.
const REVISIONS = [REVISION, "2025-06-18", "2025-03-26", "2024-11-05"];
const BUILT_IN = ["read", "write", "edit", "grep", "bash", "read_result"];

const START = 4_500; // ms; e waits 5 s for the manifest
const RESTART = 20_000; // ms, inside a tool call
const CALL = 290_000; // ms; e waits 300 s for a tool
const MOST_TOOLS = 256; // what a manifest may hold
const MOST_LINE = 32 * 1024 * 1024; // characters of a message of the server
const MOST_CONTENT = 4 * 1024 * 1024; // characters of a result; e takes lines of 10 MiB

let config;
let clientInfo;
let server; // a promise of the running server
const tools = new Map(); // name in e -> name at the server
let told = false; // whether e has the tools, which it takes once

// ---- the server

/** Starts the configured server and shakes hands. */
async function start(limit) {
  const { command, args = [], cwd, env } = config;
  const peer = connect(spawn(command, args, { stdio: "pipe", cwd, env: { ...process.env, ...env } }));
  try {
    const hello = await peer.request("initialize", { protocolVersion: REVISION, capabilities: {}, clientInfo }, limit);
    if (!REVISIONS.includes(hello.protocolVersion)) {
      throw new Error(`the server speaks revision ${hello.protocolVersion}, which this bridge does not know`);
    }
    peer.notify("notifications/initialized");
    return peer;
  } catch (error) {
    peer.end(0);
    throw error;
  }
}

/** The server; a dead one is started once more. */
async function running() {
  const known = server;
  const peer = await known.catch(() => undefined);
  if (peer?.alive()) return peer;
  // Calls that find it dead together start one.
  if (server === known) server = start(RESTART);
  return server;
}

/** JSON-RPC with a child process. Every request ends: with its answer, its deadline or the child. */
function connect(child) {
  const waiting = new Map(); // id -> { resolve, reject, progress }
  let requests = 0;
  let dead; // why, once it is
  let said = ""; // on stderr, the end of it

  const write = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const die = (why) => {
    dead ??= new Error(`the MCP server ${why}${said.trim() && `: ${said.trim().split("\n").at(-1)}`}`);
    for (const { reject } of waiting.values()) reject(dead);
    waiting.clear();
  };

  function receive(line) {
    const message = parse(line);
    if (message === undefined) return; // a server that prints to stdout; nothing was lost
    const { id, method, params, result, error } = message;
    if (method === "notifications/progress") return waiting.get(params?.progressToken)?.progress?.(params);
    if (method === "notifications/tools/list_changed") return changed();
    if (method === "ping" && id !== undefined) return write({ id, result: {} });
    if (method !== undefined) {
      return id !== undefined && write({ id, error: { code: -32601, message: `e does not offer ${method}` } });
    }
    const open = waiting.get(id);
    waiting.delete(id);
    if (error) open?.reject(new Error(error.message ?? JSON.stringify(error)));
    else open?.resolve(result ?? {});
  }

  child.on("error", (error) => die(`could not be started: ${error.message}`));
  child.on("close", (status, signal) => die(`ended with ${signal ?? `status ${status}`}`));
  child.on("exit", () => setTimeout(() => [child.stdout, child.stderr].forEach((pipe) => pipe.destroy()), 200));
  child.stdin.on("error", () => {}); // "close" tells
  child.stderr.setEncoding("utf8");
  child.stderr.on("data", (chunk) => (said = (said + chunk).slice(-2000)));
  eachLine(child.stdout, receive, () => {}, () => {
    child.kill("SIGKILL");
    die(`sent a message of more than ${MOST_LINE} characters`);
  });

  return {
    alive: () => !dead,
    notify: (method, params) => write({ method, params }),
    async request(method, params, limit, progress) {
      if (dead) throw dead;
      const id = ++requests;
      let deadline;
      const answer = new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject, progress });
        write({ id, method, params: progress ? { ...params, _meta: { progressToken: id } } : params });
        deadline = setTimeout(() => {
          waiting.delete(id);
          if (method !== "initialize") write({ method: "notifications/cancelled", params: { requestId: id } });
          reject(new Error(`the MCP server did not answer ${method} within ${limit / 1000} s`));
        }, limit);
      });
      return answer.finally(() => clearTimeout(deadline));
    },
    /** The transport's way to ask for an end: a closed stdin, then a signal. */
    end(grace = 100) {
      child.stdin.end();
      setTimeout(() => child.kill("SIGTERM"), grace);
      return new Promise((resolve) => (dead ? resolve() : child.on("close", resolve)));
    },
  };
}

/** Every page of the server's tools. */
async function list(peer, until) {
  const found = [];
  let cursor;
  do {
    const params = cursor === undefined ? {} : { cursor };
    const page = await peer.request("tools/list", params, Math.max(until - Date.now(), 1));
    found.push(...(page.tools ?? []));
    cursor = page.nextCursor;
  } while (typeof cursor === "string" && found.length < MOST_TOOLS);
  return found.slice(0, MOST_TOOLS);
}

// ---- e

async function initialize({ e_version, extensions_config: all = {} }) {
  const until = Date.now() + START;
  // The name of this file, or of its directory where it is index.mjs.
  const stem = basename(process.argv[1]).replace(/\.\w+$/, "");
  const own = stem === "index" ? basename(dirname(process.argv[1])) : stem;
  const name = Object.hasOwn(all, own) ? own : "mcp";
  config = all[name];
  if (typeof config?.command !== "string") throw new Error(`no server: set extensions.${own}.command in settings.json`);
  clientInfo = { name: "e", version: e_version ?? "0" };
  server = start(START);
  const found = (await list(await server, until)).filter((tool) => tool.execution?.taskSupport !== "required");
  told = true;
  return { name, version: "1.0", events: [], tools: found.map((tool) => declare(tool, name)) };
}

/** A tool of the server as e declares tools. Names are made legal, and never those of e's own tools. */
function declare({ name, title, description, inputSchema, annotations }, owner) {
  const wanted = `${config.prefix ?? ""}${name}`.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
  let own = BUILT_IN.includes(wanted) ? `${owner}_${wanted}` : wanted;
  for (let copy = 2; tools.has(own); copy += 1) own = `${wanted.slice(0, 60)}_${copy}`;
  tools.set(own, name);
  const label = title ?? annotations?.title;
  return {
    name: own,
    description: description ?? label ?? name,
    parameters: inputSchema ?? { type: "object" },
    ...(label && { label: { category: owner, running: label, completed: label } }),
  };
}

/** The server has other tools now. */
function changed() {
  const message = "the tools of the MCP server changed; /reload shows the new ones";
  if (told) send({ method: "notify", params: { message } });
  told = false;
}

async function call({ name, arguments: args }, update) {
  if (!tools.has(name)) throw new Error(`there is no tool \`${name}\``);
  const peer = await running();
  const show = ({ progress, total, message }) => {
    const count = total === undefined ? progress : `${progress}/${total}`;
    update(`${[count, message].filter((part) => part !== undefined).join(" ")}\n`);
  };
  const params = { name: tools.get(name), arguments: args ?? {} };
  const { content = [], structuredContent, isError } = await peer.request("tools/call", params, CALL, show);
  // A server that answers with structure is to say it in words as well; not all do.
  const text = content.map(words).join("\n") || (structuredContent && JSON.stringify(structuredContent)) || "";
  return { content: text.slice(0, MOST_CONTENT), is_error: isError === true };
}

/** A content block as text. */
function words(block) {
  const size = (data = "") => `${Math.ceil((data.length * 3) / 4096)} KiB`;
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.type}, ${block.mimeType}, ${size(block.data)}, not shown]`;
    case "resource_link":
      return [`[resource ${block.uri}]`, block.description ?? block.title].filter(Boolean).join(" ");
    case "resource":
      return block.resource?.text ?? `[resource ${block.resource?.uri}, ${size(block.resource?.blob)}, not shown]`;
    default:
      return JSON.stringify(block);
  }
}

// ---- the lines

const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

async function serve({ id, method, params }) {
  if (method === "shutdown") return leave();
  if (id === undefined || id === null) return;
  try {
    const update = (chunk) => send({ method: "tool.update", params: { id, stream: "stdout", chunk } });
    if (method === "initialize") send({ id, result: await initialize(params) });
    else if (method === "tool_call") send({ id, result: await call(params, update) });
    else send({ id, error: `unknown method ${method}` });
  } catch (error) {
    send({ id, error: error.message });
  }
}

async function leave() {
  setTimeout(() => process.exit(0), 400); // what is left of the server then, e ends with us
  await (await server?.catch(() => undefined))?.end();
  process.exit(0);
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Calls `take` with every line; a character may arrive in two chunks, a line in many. */
function eachLine(stream, take, end, tooLong = () => {}) {
  let pieces = [];
  let size = 0;
  stream.setEncoding("utf8");
  stream.on("data", (chunk) => {
    const lines = chunk.split("\n");
    for (const last of lines.splice(0, lines.length - 1)) {
      take([...pieces, last].join(""));
      pieces = [];
      size = 0;
    }
    pieces.push(lines[0]);
    size += lines[0].length;
    if (size > MOST_LINE) tooLong();
  });
  stream.on("end", end);
}

eachLine(process.stdin, (line) => void serve(parse(line) ?? {}), leave);
process.stdout.on("error", leave);
