// What a plugin is given when it starts. Parts that cost something to make are made when they are first used.
import { internal } from "haft:ops";
import { clientOf } from "./client.js";

const { defineProperty } = Object;

export function pluginInput(given) {
  const input = {
    client: clientOf(given),
    project: given.project,
    directory: given.directory,
    worktree: given.worktree,
    experimental_workspace: {
      register() {
        throw new Error("haft has no workspace adapters: experimental_workspace.register is not supported");
      },
    },
  };
  lazy(input, "serverUrl", () => {
    const { URL } = internal("web/url");
    return new URL(given.serverUrl ?? "http://localhost:4096");
  });
  input.$ = shell(given.directory);
  return input;
}

function shell(directory) {
  let made;
  const made$ = () => {
    if (made === undefined) {
      const { $ } = internal("bun/index");
      made = directory && typeof $.Shell === "function" ? new $.Shell().cwd(directory) : $;
    }
    return made;
  };
  return new Proxy(() => {}, {
    apply: (_, self, args) => Reflect.apply(made$(), self, args),
    construct: (_, args) => Reflect.construct(made$(), args),
    get: (_, name) => {
      const value = made$()[name];
      return typeof value === "function" && name !== "Shell" ? value.bind(made$()) : value;
    },
    has: (_, name) => name in made$(),
    set: (_, name, value) => Reflect.set(made$(), name, value),
  });
}

function lazy(object, name, make) {
  defineProperty(object, name, {
    configurable: true,
    enumerable: true,
    get() {
      const value = make();
      defineProperty(object, name, { configurable: true, enumerable: true, writable: true, value });
      return value;
    },
  });
}
