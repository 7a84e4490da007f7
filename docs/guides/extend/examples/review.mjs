#!/usr/bin/env node
// review.mjs: /review puts the changes of the working tree beside the conversation.
//
//   /review [commit or range]    everything since HEAD, new files included, unless told otherwise
//
// The pane lists the files; moving through them shows each one's diff. In the pane: `a` asks the
// model about the file, `c` starts a comment on it in the composer, `r` looks again, and Enter on lines of
// the diff attaches them to the next prompt, which is e's own doing. After every turn it looks again by
// itself. Without a terminal the command answers with the whole diff. Needs git.
//
// Install: put it in ~/.e/extensions/review/ with scaffold.mjs beside it, chmod +x review.mjs.

import { execFile } from "node:child_process";
import { connect } from "./scaffold.mjs";

const MOST = 200 * 1024; // characters of a diff; a pane holds 256 KiB
const DIFF = ["diff", "--no-color", "--no-ext-diff", "--no-renames", "--relative"];

let review; // what is shown: { range, files, selected }, while the pane is open

/** What git prints. Status 1 is how `diff --no-index` says that there are differences. */
function git(...args) {
  const options = { cwd: e.cwd, maxBuffer: 64 * 1024 * 1024, timeout: 20_000 };
  return new Promise((resolve, reject) =>
    execFile("git", ["-c", "core.quotePath=off", ...args], options, (error, stdout, stderr) =>
      error && error.code !== 1 ? reject(new Error(stderr.trim().split("\n")[0] || error.message)) : resolve(stdout),
    ),
  );
}

const records = (text) => text.split("\0").filter(Boolean);

/** The files that differ: { path, detail, fresh }. */
async function changed(range) {
  const counts = records(await git(...DIFF, "--numstat", "-z", ...range, "--"));
  const files = counts.map((record) => {
    const [added, removed, path] = record.split("\t");
    return { path, detail: added === "-" ? "binary" : `+${added} -${removed}` };
  });
  if (range[0] !== "HEAD") return files;
  const fresh = records(await git("ls-files", "--others", "--exclude-standard", "-z"));
  return [...files, ...fresh.map((path) => ({ path, detail: "new", fresh: true }))];
}

async function diff(range, file) {
  const args = file.fresh ? ["--no-index", "--", "/dev/null", file.path] : [...range, "--", file.path];
  return (await git(...DIFF.slice(0, file.fresh ? 3 : undefined), ...args)).slice(0, MOST);
}

/** Shows the list and the selected file's diff. What a later call selects wins. */
async function show(path) {
  const { range, files } = review;
  const file = files.find((file) => file.path === path) ?? files[0];
  review.selected = file.path;
  const body = await diff(range, file);
  if (review?.selected !== file.path) return;
  const items = files.map(({ path, detail }) => ({ id: path, label: path, detail }));
  await e.ui.pane({
    id: "review",
    title: `Changes, ${files.length} ${files.length === 1 ? "file" : "files"}`,
    side: "right",
    hint: "a ask · c comment · r look again · enter attaches lines",
    sections: [
      { kind: "list", id: "files", selected: file.path, items },
      { kind: "diff", id: "patch", title: file.path, body },
    ],
  });
}

/** Looks again, keeping the place. Nothing left to show closes the pane. */
async function refresh() {
  if (!review) return;
  const files = await changed(review.range);
  if (!review) return;
  review.files = files;
  if (files.length) return show(review.selected);
  review = undefined;
  await e.ui.pane(null);
}

const e = connect({
  manifest: {
    name: "review",
    version: "1.0",
    commands: [{ name: "review", description: "show the changes in a pane", arguments: "[range]" }],
    events: ["turn_end"],
  },
  handlers: {
    async command({ args }) {
      const range = args.trim().split(/\s+/).filter(Boolean);
      if (range.some((word) => word.startsWith("-"))) throw new Error("give a commit or a range, no options");
      if (!range.length) range.push("HEAD");
      const files = await changed(range);
      if (!files.length) return { notice: "nothing has changed" };
      review = { range, files };
      try {
        await show();
        return {};
      } catch {
        review = undefined; // there is no terminal
        const bodies = await Promise.all(files.slice(0, 100).map((file) => diff(range, file)));
        return { show: { title: `git diff ${range.join(" ")}`, body: bodies.join("").slice(0, MOST), format: "diff" } };
      }
    },
    event: refresh,
    pane: {
      select: ({ section, id }) => (review && section === "files" ? show(id) : undefined),
      async key({ key }) {
        const path = review?.selected;
        if (!path) return;
        if (key === "r") await refresh();
        if (key === "c") await e.ui.compose({ text: `In \`${path}\`: ` });
        if (key !== "a") return;
        const command = `git diff ${review.range.join(" ")} -- ${path}`;
        await e.session.send({ content: `Review the change of \`${path}\` (${command}). Name lines.` });
      },
      closed: () => void (review = undefined),
    },
  },
});
