// Bun: it knows TypeScript itself, and needs only the packages that haft brings along.
import * as fs from "node:fs";
import * as path from "node:path";
import { planOwn } from "./loading.mjs";
import { request } from "./ops.mjs";
import { OURS } from "./resolving.mjs";

const folders = ["plugin", "zod"];

export async function prepare(file) {
  const absent = Object.keys(OURS).filter((name) => !isInstalled(name, file));
  const names = [];
  for (const folder of folders) {
    const { files } = await request("module", { name: folder });
    planOwn(`${folder}/index`).finish({ files });
    names.push(...Object.keys(files));
  }
  globalThis.Bun.plugin({
    name: "haft",
    setup(build) {
      const code = (name) => ({
        contents: planOwn(name).done.source.replace(/from "zod"/, 'from "haft:zod/index"'),
        loader: "js",
      });
      for (const name of names) build.module(`haft:${name}`, () => code(name));
      for (const name of absent) build.module(name, () => code(OURS[name].slice("haft:".length)));
    },
  });
}

export function importFile(file) {
  return import(file);
}

/** A package, if it is installed where a file would find it. */
export async function importFor(name, file) {
  if (!isInstalled(name, file)) return undefined;
  try {
    return await import(globalThis.Bun.resolveSync(name, path.dirname(file)));
  } catch {
    return undefined;
  }
}

/** Every file that was read so far. */
export async function filesRead(file) {
  const { cache } = (await import("node:module")).createRequire(file);
  return Object.keys(cache).filter((name) => name.startsWith("/") && !/\/\[eval\]$/.test(name));
}

function isInstalled(name, file) {
  const parts = name.split("/").slice(0, name.startsWith("@") ? 2 : 1);
  for (let at = path.dirname(file); ; at = path.dirname(at)) {
    if (fs.existsSync(path.join(at, "node_modules", ...parts, "package.json"))) return true;
    if (path.dirname(at) === at) return false;
  }
}
