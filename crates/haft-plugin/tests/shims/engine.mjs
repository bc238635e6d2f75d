// The checks inside the real engine: a host process loads a tool that imports one file of checks; each call
// runs one of them.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";

const TOOL = (file) => `
import list from ${JSON.stringify(file)};
export const names = { description: "names", args: {}, execute: async () => JSON.stringify(list.map(([name]) => name)) };
export const run = { description: "run", args: {}, async execute({ index }) {
  try { await list[index][1](); return "ok"; } catch (error) { return "FAILED " + (error?.name ?? "") + ": " + (error?.message ?? error) + "\\n" + (error?.stack ?? ""); }
} };`;

async function answered({ op, with: input }) {
  if (op !== "fetch") throw new Error(`nobody answers ${op} in the checks`);
  const response = await fetch(input.url, {
    method: input.method,
    headers: input.headers,
    redirect: input.redirect,
    body: input.body == null ? undefined : Buffer.from(input.body, "base64"),
  });
  const body = Buffer.from(await response.arrayBuffer()).toString("base64");
  const { status, statusText, url, redirected } = response;
  return { status, statusText, url, redirected, headers: [...response.headers], body };
}

const hosts = [];
process.on("exit", () => hosts.forEach((host) => host.kill()));

export function engineRealm(program) {
  return {
    async load(file) {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), "shims-engine-"));
      const tool = path.join(folder, "tool.mjs");
      fs.writeFileSync(tool, TOOL(file));
      const host = spawn(program, [], { stdio: ["pipe", "pipe", "inherit"], cwd: folder });
      const waiting = new Map();
      let next = 1;
      const say = (line) => host.stdin.write(`${JSON.stringify(line)}\n`);
      readline.createInterface({ input: host.stdout }).on("line", (text) => {
        const line = JSON.parse(text);
        if (line.ask !== undefined) {
          answered(line).then(
            (ok) => say({ answer: line.ask, ok }),
            (error) => say({ answer: line.ask, error: { name: error.name, message: error.message } }),
          );
        } else waiting.get(line.id)?.(line);
      });
      host.on("exit", (code, signal) => {
        for (const settle of waiting.values())
          settle({ error: { message: `the host ended: ${code ?? signal}` } });
      });
      host.unref();
      hosts.push(host);
      const order = (what) =>
        new Promise((done, fail) => {
          const id = next++;
          waiting.set(id, (line) =>
            line.error ? fail(new Error(`${line.error.message} ${line.error.stack ?? ""}`)) : done(line.ok),
          );
          say({ id, ...what });
        });
      await order({
        do: "load",
        file: tool,
        as: "tool",
        input: { directory: folder, worktree: folder, project: { id: "p" }, serverUrl: "http://localhost:1" },
      });
      const context = {
        sessionID: "s",
        messageID: "m",
        agent: "a",
        callID: "c",
        directory: folder,
        worktree: folder,
        extra: {},
        messages: [],
      };
      const names = JSON.parse((await order({ do: "call", tool: "names", args: {}, context })).output);
      const run = (index) => async () => {
        const { output } = await order({ do: "call", tool: "run", args: { index }, context });
        if (output !== "ok") throw Object.assign(new Error(output), { stack: output });
      };
      return { default: names.map((name, index) => [name, run(index)]) };
    },
  };
}
