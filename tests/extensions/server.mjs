// A server of the Model Context Protocol for tests: three pages of tools, one that dies, one that is slow.
import { createInterface } from "node:readline";

const PAGES = [["read", "a.b"], ["a_b", "die"], ["slow", "refuse", "blocks"]];
let ready = false;

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (text) => ({ type: "text", text });

const tools = {
  die() {
    console.error("last words");
    process.exit(7);
  },
  refuse: () => ({ content: [text("no")], isError: true }),
  blocks: () => ({ content: [text("one"), { type: "image", mimeType: "image/png", data: "aaaa" }, { type: "resource_link", uri: "x:y" }] }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    console.log("a banner that is no message");
    write({ id: "s", method: "ping" });
    const { protocolVersion, clientInfo } = params;
    if (protocolVersion !== "2025-11-25" || clientInfo.name !== "e") process.exit(9);
    write({ id, result: { protocolVersion: process.env.REVISION ?? protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "t", version: "1" } } });
  } else if (method === "notifications/initialized") {
    ready = true;
  } else if (method === "tools/list") {
    const page = Number(params.cursor ?? 0);
    const next = page + 1 < PAGES.length ? { nextCursor: String(page + 1) } : {};
    const list = PAGES[page].map((name) => ({ name, inputSchema: { type: "object" } }));
    write(ready ? { id, result: { tools: list, ...next } } : { id, error: { code: -1, message: "too early" } });
  } else if (method === "tools/call") {
    const { progressToken } = params._meta;
    if (params.name === "slow") {
      for (const progress of [1, 2]) write({ method: "notifications/progress", params: { progressToken, progress, total: 2, message: "é" } });
    }
    write({ id, result: (tools[params.name] ?? (() => ({ content: [text(`${params.name} ${process.pid}`)] })))() });
  }
});
