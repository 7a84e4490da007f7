#!/usr/bin/env node
// plan.mjs: a plan mode. While it is on the model can read and propose, and nothing else.
//
//   e --plan, ctrl+alt+p, /plan     on and off; `plan` stands on the status row
//   /plan steps                     the steps as a panel: space keeps or drops one
//   /plan go                        carries out the steps that are kept
//
// The model hands in its plan with propose_plan. It opens in a pane beside the conversation, where
// Enter keeps or drops a step, and after the turn you choose: carry it out, change it, or think on. When
// you close that question, the plan is kept, and /plan go carries it out later.
// session.tools narrows what the model sees and may call; where e does not serve session.* requests
// (e rpc), the tool_call hook refuses the rest.
//
// Install: put it in ~/.e/extensions/plan/ with scaffold.mjs beside it, chmod +x plan.mjs.

import { connect } from "./scaffold.mjs";

const READING = ["read", "grep", "read_result", "propose_plan"];

const SUFFIX = `Plan mode is on. Look around with read and grep, change nothing, and hand in your plan with
propose_plan when you know enough. The user decides whether it is carried out.`;

let on = false;
let plan; // { title, notes, steps: [{ text, keep }] }
let fresh = false; // handed in during this turn
let pane = false; // whether ours is open
let panel = false;
let cursor = 0;

/** A request that may be refused: there is no terminal, or no single session. */
const perhaps = (request) => request.catch(() => ({ cancelled: true }));

async function turn(wanted) {
  on = wanted;
  await perhaps(e.session.tools({ names: on ? READING : null }));
  await perhaps(e.ui.status({ text: on ? "plan" : null }));
}

const kept = () => plan.steps.filter((step) => step.keep).map((step, at) => `${at + 1}. ${step.text}`).join("\n");

async function paint() {
  if (pane) {
    const items = plan.steps.map(({ text, keep }, at) => ({
      id: String(at),
      label: `${at + 1}. ${text}`,
      ...(!keep && { detail: "dropped", token: "dim" }),
    }));
    const sections = [{ kind: "list", id: "steps", items }];
    if (plan.notes) sections.push({ kind: "markdown", id: "notes", body: plan.notes });
    const hint = "enter keeps or drops a step";
    await perhaps(e.ui.pane({ id: "plan", title: plan.title, side: "right", hint, sections }));
  }
  if (panel) {
    const lines = plan.steps.map(({ text, keep }, at) => [
      { text: at === cursor ? "› " : "  ", token: "accent" },
      { text: keep ? "✓ " : "✗ ", token: keep ? "success" : "dim" },
      { text, token: keep ? "text" : "dim" },
    ]);
    await perhaps(e.ui.panel({ title: plan.title, lines, interactive: true }));
  }
}

function toggle(at) {
  const step = plan?.steps[at];
  if (!step) return undefined;
  step.keep = !step.keep;
  return paint();
}

async function carryOut() {
  await turn(false);
  pane = false; // e tells only what the user closes
  await perhaps(e.ui.pane(null));
  await perhaps(e.session.send({ content: `Carry out this plan:\n\n${kept()}` }));
}

/** What becomes of a plan that was handed in. */
async function decide() {
  const options = [
    { label: "Carry it out", description: "with every tool", value: "go" },
    { label: "Change it", description: "say what, and the model plans again", value: "change" },
    { label: "Think on", description: "stay in plan mode", value: "stay" },
  ];
  const { value } = await perhaps(e.ui.select({ title: `Plan: ${plan.title}`, options }));
  if (value === "go") {
    await carryOut();
  } else if (value === "change") {
    const { text } = await perhaps(e.ui.editor({ title: "What should change?" }));
    if (text?.trim()) await perhaps(e.session.send({ content: text }));
  }
}

const e = connect({
  manifest: {
    name: "plan",
    version: "1.0",
    tools: [
      {
        name: "propose_plan",
        description: "Hand in a plan for what the user asked. The user sees it and decides; do not repeat it.",
        parameters: {
          type: "object",
          properties: {
            title: { type: "string", description: "What it achieves, in a few words." },
            steps: { type: "array", items: { type: "string" }, description: "One sentence each, in order." },
            notes: { type: "string", description: "Risks and open questions, as Markdown." },
          },
          required: ["title", "steps"],
        },
        label: { category: "plan", running: "Planning", completed: "Planned", target: "title" },
      },
    ],
    commands: [{ name: "plan", description: "plan mode, and the steps of a plan", arguments: "[on|off|steps|go]" }],
    flags: [{ name: "plan", type: "boolean", default: false, description: "start in plan mode" }],
    shortcuts: [{ key: "ctrl+alt+p", description: "plan mode" }],
    events: ["session_start", "turn_end"],
  },
  handlers: {
    async tool({ arguments: { title, steps, notes } }) {
      plan = { title, notes, steps: steps.map((text) => ({ text: String(text), keep: true })) };
      fresh = pane = true;
      cursor = 0;
      await paint();
      const display = `# ${title}\n\n${kept()}\n\n${notes ?? ""}`;
      return { content: "The user has the plan.", summary: `${steps.length} steps`, display, format: "markdown" };
    },
    async command({ args }) {
      const word = args.trim();
      if (word === "steps" || word === "go") {
        if (!plan) return { notice: "there is no plan yet" };
        if (word === "go" && !kept()) return { notice: "no step is kept" };
        if (word === "go") return carryOut().then(() => ({}));
        panel = true;
        await paint();
        return {};
      }
      await turn(word ? word === "on" : !on);
      return { notice: `plan mode is ${on ? "on" : "off"}` };
    },
    async shortcut() {
      await turn(!on);
      return { notice: `plan mode is ${on ? "on" : "off"}` };
    },
    hooks: {
      before_turn: () => (on ? { system_suffix: SUFFIX } : {}),
      tool_call({ name }) {
        if (!on || READING.includes(name)) return { block: false };
        return { block: true, reason: `plan mode is on and only ${READING.join(", ")} may run` };
      },
    },
    async event(name, { reason, aborted }) {
      if (name === "session_start") {
        // A new or resumed session starts with every tool again.
        return turn(reason === "startup" ? e.flag("plan") : on);
      }
      const decided = fresh && on && !aborted;
      fresh = false;
      if (decided) await decide();
    },
    key({ key }) {
      if (key === "up") cursor = Math.max(cursor - 1, 0);
      if (key === "down") cursor = Math.min(cursor + 1, plan.steps.length - 1);
      return key === "space" ? toggle(cursor) : paint();
    },
    panelClosed: () => void (panel = false),
    pane: {
      activate: ({ id }) => toggle(Number(id)),
      closed: () => void (pane = false),
    },
  },
});
