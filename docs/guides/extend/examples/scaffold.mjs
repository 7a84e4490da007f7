// scaffold.mjs: e's line protocol, so that an extension is nothing but handlers.
//
// A helper, not an extension: put it beside an extension that imports it and leave it without
// execute permission. Node 18 or newer, no dependencies.
//
//   import { connect } from "./scaffold.mjs";
//   const e = connect({
//     manifest: { name: "hi", commands: [{ name: "hi", description: "say hi" }] },
//     handlers: { command: () => ({ notice: e.config.greeting ?? "hi" }) },
//   });
//
// Handlers get the request's params and return its result, now or later. What they throw becomes
// the error that e shows. All are optional:
//
//   tool(params, { update })       tool_call; update(chunk, stream = "stdout") shows progress
//   command, complete, shortcut    command, command.complete, shortcut
//   hooks: { tool_call, … }        hook.tool_call and so on; each one named here is declared
//   event(name, extra)             the events listed in the manifest
//   key(params), panelClosed()     ui.key, ui.panel_closed
//   pane: { select, activate, key, closed }
//   ready(params)                  after the manifest was sent
//   shutdown()                     e is leaving; there is half a second
//
// `manifest` may be a function of the initialize params, and may be async.

const MAX_LINE = 10 * 1024 * 1024; // e retires an extension that sends a longer one
const FAMILIES = {
  ui: "notify show select confirm input editor status activity compose panel widget pane",
  session: "send info name model effort tools interrupt compact",
};

export function connect({ manifest, handlers }) {
  const waiting = new Map(); // our request id -> { resolve, reject }
  let requests = 0;
  let declared = []; // flags of the manifest
  let passed = {}; // flags of the command line
  let told; // the last error that nobody waited for

  const e = {
    cwd: process.cwd(),
    hasUi: false, // whether somebody can answer ui.* requests
    capabilities: [],
    config: {}, // "extensions".<name> of settings.json
    /** The value of a flag: what was passed, else the declared default, else undefined. */
    flag: (name) => (e.flagPassed(name) ? passed[name] : declared.find((flag) => flag.name === name)?.default),
    /** Whether the flag was on the command line. */
    flagPassed: (name) => Object.hasOwn(passed, name),
    /** A notice in the transcript. */
    notify: (message) => send({ method: "notify", params: { message: String(message) } }),
    /** Any request to e; rejects with e's words when e refuses it. */
    request(method, params = {}) {
      const id = `r${++requests}`;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        send({ id, method, params });
      });
    },
  };
  // e.ui.confirm({ title }), e.session.tools({ names }), e.ui.panel(null) and so on.
  for (const [family, methods] of Object.entries(FAMILIES)) {
    const call = (method) => [method, (params) => e.request(`${family}.${method}`, params)];
    e[family] = Object.fromEntries(methods.split(" ").map(call));
  }

  const routes = {
    async initialize(params) {
      const made = typeof manifest === "function" ? await manifest(params) : manifest;
      const { cwd, ui, capabilities, extensions_config } = params;
      Object.assign(e, { cwd, hasUi: ui, capabilities, config: extensions_config?.[made.name] ?? {} });
      declared = made.flags ?? [];
      return { hooks: Object.keys(handlers.hooks ?? {}), ...made };
    },
    tool_call:
      handlers.tool &&
      ((params, id) =>
        handlers.tool(params, {
          update: (chunk, stream = "stdout") => send({ method: "tool.update", params: { id, stream, chunk } }),
        })),
    command: handlers.command,
    "command.complete": handlers.complete && (async (params) => ({ items: await handlers.complete(params) })),
    shortcut: handlers.shortcut,
    event: ({ name, extra }) => handlers.event?.(name, extra),
    flags: ({ flags }) => void (passed = flags),
    "ui.key": handlers.key,
    "ui.panel_closed": handlers.panelClosed,
    shutdown: leave,
  };

  function route(method) {
    if (Object.hasOwn(routes, method)) return routes[method];
    const [family, name] = method.split(".");
    if (family === "hook") return handlers.hooks?.[name];
    if (family === "pane") return handlers.pane?.[name];
  }

  async function serve({ id, method, params }) {
    const handler = route(method);
    const asked = id !== undefined && id !== null;
    try {
      if (!handler && asked) throw new Error(`unknown method ${method}`);
      const result = (await handler?.(params ?? {}, id)) ?? {};
      if (asked) send({ id, result });
      if (method === "initialize") await handlers.ready?.(params);
    } catch (error) {
      // An error nobody waits for goes to stderr, which e shows as a notice; the same one again says nothing new.
      const text = error?.message ?? String(error);
      if (asked) send({ id, error: text });
      else if (text !== told) console.error(`${method}: ${text}`);
      if (!asked) told = text;
    }
  }

  function send(message) {
    let line = JSON.stringify(message) + "\n";
    if (Buffer.byteLength(line) > MAX_LINE) {
      if (message.id === undefined) return;
      waiting.get(message.id)?.reject(new Error("the request is longer than 10 MiB"));
      if (waiting.delete(message.id)) return;
      line = JSON.stringify({ id: message.id, error: "the answer is longer than 10 MiB" }) + "\n";
    }
    process.stdout.write(line);
  }

  function receive(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return console.error(`not JSON: ${line.slice(0, 80)}`);
    }
    if (typeof message.method === "string") return void serve(message);
    const open = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error === undefined) open?.resolve(message.result ?? {});
    else open?.reject(new Error(message.error));
  }

  async function leave() {
    try {
      await handlers.shutdown?.();
    } finally {
      process.exit(0);
    }
  }

  // Standard output belongs to the protocol.
  console.log = console.info = console.error;
  process.stdout.on("error", () => process.exit(0));
  process.stderr.on("error", () => {});
  eachLine(process.stdin, receive, leave);
  return e;
}

/** Calls `take` with every line. node:readline would also split at U+2028. */
export function eachLine(stream, take, end = () => {}) {
  let pieces = []; // of a line that has not ended; joined once, however long it becomes
  stream.setEncoding("utf8"); // keeps characters whole that arrive in two chunks
  stream.on("data", (chunk) => {
    const lines = chunk.split("\n");
    for (const last of lines.splice(0, lines.length - 1)) {
      pieces.push(last);
      const line = pieces.join("").replace(/\r$/, "");
      pieces = [];
      if (line.trim()) take(line);
    }
    pieces.push(lines[0]);
  });
  stream.on("end", end);
}
