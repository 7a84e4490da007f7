#!/usr/bin/env node
// gate.mjs: stops commands that destroy what cannot be brought back.
//
// A guard rail for an honest model, not a sandbox: it reads the command's text, and a command can
// be spelled in endless ways. It fails open, as every hook of e: when this program is slow or gone,
// calls run, and e says once that the hook no longer guards. Only an explicit block stops a call.
//
// Install: put it in ~/.e/extensions/gate/ with scaffold.mjs beside it, chmod +x gate.mjs.
// With {"extensions": {"gate": {"ask": true}}} in settings.json a person may let a command through;
// e stops its clock while the question is open.

import { connect } from "./scaffold.mjs";

// Each pattern is tried on one command of a line at a time; a pipe is one command.
const RULES = [
  [/\brm\s(.*\s)?(-\w*[rR]|--recursive)/, "it deletes a whole tree"],
  [/\bfind\s.*\s(-delete|-exec\s+rm)\b/, "it deletes whatever it finds"],
  [/\bgit\s(.*\s)?push\s(.*\s)?(--force\b(?!-with-lease)|-\w*f|\+\S)/, "it overwrites history that others have"],
  [/\bgit\s(.*\s)?reset\s(.*\s)?--hard\b/, "it throws uncommitted work away"],
  [/\bgit\s(.*\s)?clean\s(.*\s)?(-\w*f|--force)/, "it deletes files that git does not know"],
  [/\bgit\s(.*\s)?(checkout|restore)\s(.*\s)?\.(\s|$)/, "it throws uncommitted work away"],
  [/\b(mkfs(\.\w+)?|wipefs|shred)\s/, "it erases a disk or a file"],
  [/\bdd\s.*\bof=\/dev\/|>\s*\/dev\/(sd|nvme|disk|vd)/, "it writes to a disk"],
  [/\b(curl|wget)\s.*\|\s*(sudo\s+)?\w*sh\b/, "it runs what it downloads"],
  [/\bch(mod|own)\s(.*\s)?(-\w*R|--recursive)\s(.*\s)?(\/|~)(\s|$)/, "it changes the rights of everything"],
  [/\b(drop|truncate)\s+(database|table|schema)\b/i, "it drops data"],
];

const LONGEST = 4096; // of one command that is looked at, so that no text makes the hook slow

/** Why a line of commands is not to run, or undefined. */
function danger(line) {
  const commands = line.split(/;|&&?|\|\||\n/).map((command) => command.replace(/["'\\]/g, "").slice(0, LONGEST));
  return RULES.find(([pattern]) => commands.some((command) => pattern.test(command)))?.[1];
}

const e = connect({
  manifest: { name: "gate", version: "1.0", events: [] },
  handlers: {
    hooks: {
      async tool_call({ name, arguments: args }) {
        const command = name === "bash" ? args?.command : undefined;
        const why = typeof command === "string" ? danger(command) : undefined;
        if (!why) return { block: false };
        if (e.config.ask && e.hasUi) {
          const question = { title: "Run this command?", message: `${why}: ${command}` };
          const answer = await e.ui.confirm(question).catch(() => ({}));
          if (answer.confirmed === true) return { block: false };
        }
        const reason = `the gate stopped this command: ${why}; ask the user to run it, or find another way`;
        return { block: true, reason };
      },
    },
  },
});
