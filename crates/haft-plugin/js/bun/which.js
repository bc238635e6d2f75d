// `Bun.which`: the file a command name stands for.
import { access, cwd as here, stat } from "haft:ops";
import process from "haft:node/process";
import { resolve } from "haft:node/path";

function runnable(path) {
  try {
    access(path, 1);
    return stat(path, true).kind === "file";
  } catch {
    return false;
  }
}

export function which(name, { PATH = process.env.PATH ?? "", cwd = here() } = {}) {
  if (name === "") return null;
  if (name.includes("/")) {
    const path = resolve(cwd, name);
    return runnable(path) ? path : null;
  }
  for (const folder of PATH.split(":"))
    if (folder && runnable(`${folder}/${name}`)) return `${folder}/${name}`;
  return null;
}
