#!/usr/bin/env node
// project.mjs: `e --project <directory>` starts e in another directory.
//
// A startup hook sees the command line before e does. This one takes its flag out, and has e start
// again in the directory, with everything else that was typed. The directory must exist and must be
// trusted, as if you had gone there.
//
// Install: put it in ~/.e/extensions/project/ with scaffold.mjs beside it, chmod +x project.mjs.

import { statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { connect } from "./scaffold.mjs";

const FLAG = "project";

/** The command line without the flag and its value; what stands behind `--` is prompt. */
function without(argv, flag) {
  const end = argv.indexOf("--");
  const rest = [];
  for (let at = 0; at < argv.length; at += 1) {
    const options = end < 0 || at < end;
    if (options && argv[at] === `--${flag}`) at += 1;
    else if (!options || !argv[at].startsWith(`--${flag}=`)) rest.push(argv[at]);
  }
  return rest;
}

connect({
  manifest: {
    name: "project",
    version: "1.0",
    flags: [{ name: FLAG, type: "string", description: "start in this directory" }],
    events: [],
  },
  handlers: {
    hooks: {
      // An error here stops the launch: better than a turn in the wrong directory.
      startup({ cwd, argv, flags }) {
        if (!Object.hasOwn(flags, FLAG)) return {};
        if (!flags[FLAG]) throw new Error(`--${FLAG} needs a directory`);
        const directory = resolve(cwd, flags[FLAG].replace(/^~(?=\/|$)/, homedir()));
        const found = statSync(directory, { throwIfNoEntry: false });
        if (!found?.isDirectory()) throw new Error(`\`${directory}\` is not a directory`);
        const rest = without(argv, FLAG);
        // The new e asks this hook again, with a command line that no longer has the flag.
        return directory === cwd ? { argv: rest } : { argv: rest, relaunch: { cwd: directory } };
      },
    },
  },
});
