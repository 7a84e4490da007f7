#!/usr/bin/env node
// hello.mjs: every surface at once, on the scaffold.
//
//   /hello [name]        a command, with completions; the session is named after who was greeted
//   greet                a tool for the model, with progress and a row of its own in the transcript
//   hello!               an input hook: the line becomes a prompt
//   settings.json        {"extensions": {"hello": {"greeting": "Good day"}}}
//
// Install: mkdir -p ~/.e/extensions/hello, copy this file and scaffold.mjs there,
// chmod +x ~/.e/extensions/hello/hello.mjs, start e again.

import { connect } from "./scaffold.mjs";

const PEOPLE = ["Ada", "Barbara", "Grace"];

const greeting = (name) => `${e.config.greeting ?? "Hello"}, ${name}`;

const e = connect({
  manifest: {
    name: "hello",
    version: "1.0",
    tools: [
      {
        name: "greet",
        description: "Greet a person by name.",
        parameters: {
          type: "object",
          properties: { who: { type: "string", description: "The person's name." } },
          required: ["who"],
        },
        label: { category: "greeting", running: "Greeting", completed: "Greeted", target: "who" },
      },
    ],
    commands: [{ name: "hello", description: "greet somebody", arguments: "<name>", completions: true }],
    events: ["session_start"],
  },
  handlers: {
    tool({ arguments: { who } }, { update }) {
      update(`looking for ${who}\n`);
      return { content: greeting(who), summary: "politely", session_name: `hello ${who}` };
    },
    command({ args }) {
      const who = args.trim() || "world";
      return { notice: greeting(who), session_name: `hello ${who}` };
    },
    complete: ({ prefix }) =>
      PEOPLE.filter((name) => name.toLowerCase().startsWith(prefix.toLowerCase())).map((name) => ({ value: name })),
    hooks: {
      input: ({ text }) => (text === "hello!" ? { replace: "Greet everybody in this repository's history." } : {}),
    },
    // Rejected where there is no terminal, which is fine.
    event: () => void e.ui.status({ text: greeting("you") }).catch(() => {}),
  },
});
