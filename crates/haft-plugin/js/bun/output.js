// What a finished shell command leaves: its output, or an error that carries it.
import { internal } from "haft:ops";
import { Buffer } from "haft:node/parts/buffer";

const readers = {
  text(encoding) {
    return this.stdout.toString(encoding);
  },
  json() {
    return JSON.parse(this.stdout.toString());
  },
  arrayBuffer() {
    return new Uint8Array(this.stdout).buffer;
  },
  bytes() {
    return new Uint8Array(this.stdout);
  },
  blob() {
    return new (internal("web/blob").Blob)([this.stdout]);
  },
};

export class ShellOutput {
  constructor(stdout, stderr, exitCode) {
    this.stdout = Buffer.from(stdout);
    this.stderr = Buffer.from(stderr);
    this.exitCode = exitCode;
  }
}

export class ShellError extends Error {
  constructor(output) {
    super(`Failed with exit code ${output.exitCode}`);
    const { stdout, stderr, exitCode } = output;
    Object.assign(this, { exitCode, stdout, stderr, name: "ShellError" });
    Object.defineProperty(this, "info", {
      value: { exitCode, stderr: stderr.toString(), stdout: stdout.toString() },
    });
  }
}

for (const name in readers) {
  for (const of of [ShellOutput, ShellError])
    Object.defineProperty(of.prototype, name, { value: readers[name], writable: true, configurable: true });
}
