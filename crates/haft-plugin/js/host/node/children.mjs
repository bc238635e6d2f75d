// Programs that a call started end when it is aborted, as far as Node's own functions started them.
import { ChildProcess } from "node:child_process";
import { current } from "./ops.mjs";

const started = new Map();

export function watchChildren() {
  const { spawn } = ChildProcess.prototype;
  ChildProcess.prototype.spawn = function (...args) {
    const order = current();
    if (order !== null) {
      const children = started.get(order) ?? new Set();
      started.set(order, children.add(this));
      this.once("exit", () => children.delete(this));
    }
    return spawn.apply(this, args);
  };
}

export function endChildren(order) {
  for (const child of started.get(order) ?? []) child.kill("SIGKILL");
}

export function forgetChildren(order) {
  started.delete(order);
}
