#!/usr/bin/env node
// protected.mjs: keeps credentials out of the conversation and off the disk.
//
// Blocks read, write, edit, grep and bash where they touch ~/.ssh, ~/.aws, ~/.gnupg, .env*, *.pem or
// *.key: by the path argument, links followed, and by what a command mentions. gate.mjs is about what
// a command does; this is about what is read. A grep of a directory skips hidden names; with `all` it
// passes too, unless the directory holds one of the three folders.
//
// A guard rail, not a sandbox: a command can build a name that this does not see, and a hook that is
// gone lets everything through. `e docs sandboxing` has what really contains e.
//
// Install: put it in ~/.e/extensions/protected/ with scaffold.mjs beside it, chmod +x protected.mjs.

import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve, sep } from "node:path";
import { connect } from "./scaffold.mjs";

const FOLDERS = [".ssh", ".aws", ".gnupg"];
const FILES = [/^\.env/i, /.\.pem$/i, /.\.key$/i];
const TOOLS = ["read", "write", "edit", "grep", "bash"];

/** A path as it is on disk: `~` expanded, links followed as far as the path exists. */
function real(path) {
  const whole = resolve(e.cwd, path.replace(/^~(?=\/|$)/, homedir()));
  try {
    return realpathSync(whole);
  } catch {
    return dirname(whole) === whole ? whole : join(real(dirname(whole)), basename(whole));
  }
}

/** Whether a path names a credential, by any of its parts. */
function isSecret(path) {
  const secret = (part) => FOLDERS.includes(part.toLowerCase()) || FILES.some((file) => file.test(part));
  return path.split(/[/\\]/).some(secret);
}

const holdsSecrets = (directory) => FOLDERS.some((folder) => join(homedir(), folder).startsWith(join(directory, sep)));

/** What in a command could be a path; quotes and backslashes hide nothing. */
const words = (command) => new Set(command.replace(/["'\\]/g, "").split(/[\s;|&<>()`=:,{}$@]+/));

const MOST_WORDS = 1000; // whose links are followed, so that no command makes the hook slow

function touched(name, args) {
  if (name === "bash") {
    if (typeof args.command !== "string") return undefined;
    const all = [...words(args.command)];
    return all.find(isSecret) ?? all.slice(0, MOST_WORDS).find((word) => word && isSecret(real(word)));
  }
  const path = typeof args.path === "string" ? args.path : ".";
  if (isSecret(path) || isSecret(real(path))) return path;
  if (name !== "grep") return undefined;
  if (typeof args.glob === "string" && isSecret(args.glob)) return args.glob;
  return args.all && holdsSecrets(real(path)) ? path : undefined;
}

const e = connect({
  manifest: { name: "protected", version: "1.0", events: [] },
  handlers: {
    hooks: {
      tool_call({ name, arguments: args }) {
        const path = TOOLS.includes(name) && args && typeof args === "object" ? touched(name, args) : undefined;
        if (path === undefined) return { block: false };
        return { block: true, reason: `\`${path}\` looks like a credential; ask the user for what you need to know` };
      },
    },
  },
});
