// The two ends of the protocol. haft puts them where nothing that prints comes near them: what it says is
// file 3, what it hears is file 4. They are read and written here only, with functions taken before any other
// code runs.
import * as fs from "node:fs";
import * as net from "node:net";
import { StringDecoder } from "node:string_decoder";

const { createReadStream, readSync, writeSync } = fs;
const { stringify, parse } = JSON;
const { wait } = Atomics;
const FROM_HAFT = 3;
const TO_HAFT = 4;

const decoder = new StringDecoder("utf8");
const idle = new Int32Array(new SharedArrayBuffer(4));
const inbox = [];
let held = "";
let hear = () => {};
let isHearing = false;

/** Says something, as one line. */
export function send(message) {
  const bytes = Buffer.from(`${wellFormed(stringify(message))}\n`);
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(TO_HAFT, bytes, done);
    } catch (error) {
      if (error.code !== "EAGAIN") process.reallyExit(0);
      wait(idle, 0, 0, 1);
    }
  }
}

/** Hears everything from now on, message by message, until haft ends. */
export function listen(listener) {
  hear = listener;
  const stream = globalThis.Bun
    ? createReadStream("", { fd: FROM_HAFT })
    : new net.Socket({ fd: FROM_HAFT, readable: true, writable: false });
  stream.on("data", (chunk) => {
    take(chunk);
    deliver();
  });
  stream.on("end", () => process.reallyExit(0));
  stream.on("error", () => process.reallyExit(0));
}

/** Waits on the spot for a message; others that come meanwhile are heard later, in their order. */
export function waitFor(wanted) {
  const bytes = Buffer.allocUnsafe(1 << 16);
  for (;;) {
    for (let i = 0; i < inbox.length; i++) {
      if (!wanted(inbox[i])) continue;
      const [found] = inbox.splice(i, 1);
      if (inbox.length > 0) setImmediate(deliver);
      return found;
    }
    try {
      const length = readSync(FROM_HAFT, bytes);
      if (length === 0) process.reallyExit(0);
      take(bytes.subarray(0, length));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      wait(idle, 0, 0, 1);
    }
  }
}

function take(chunk) {
  const lines = (held + decoder.write(chunk)).split("\n");
  held = lines.pop();
  for (let i = 0; i < lines.length; i++) {
    if (lines[i].trim() === "") continue;
    try {
      inbox.push(parse(lines[i]));
    } catch (error) {
      send({ id: null, error: { kind: "protocol", message: error.message } });
    }
  }
}

function deliver() {
  // What is heard may have us wait for something, and that is delivered by whoever delivers already.
  if (isHearing) return;
  isHearing = true;
  while (inbox.length > 0) hear(inbox.shift());
  isHearing = false;
}

/** Half a surrogate pair is text in JavaScript and nowhere else. JSON writes only it as an escape. */
function wellFormed(json) {
  if (!/\\ud[89a-f]/.test(json)) return json;
  return json.replace(/\\(?:\\|ud[89a-f][0-9a-f]{2})/g, (found) => (found === "\\\\" ? found : "\\ufffd"));
}
