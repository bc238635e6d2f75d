// The globals a file of the person expects beyond the language. Each is a getter that loads its module on
// first use and then becomes a plain value: a tool that uses none of them pays for sixty property definitions
// and nothing else.
import { internal } from "haft:ops";

const LAZY = {
  "web/url": ["URL"],
  "web/url-params": ["URLSearchParams"],
  "web/text": ["TextEncoder", "TextDecoder"],
  "web/text-streams": ["TextEncoderStream", "TextDecoderStream"],
  "web/dom-exception": ["DOMException"],
  "web/event": ["Event", "CustomEvent", "EventTarget"],
  "web/abort": ["AbortController", "AbortSignal"],
  "web/headers": ["Headers"],
  "web/request": ["Request"],
  "web/response": ["Response"],
  "web/fetch": ["fetch"],
  "web/blob": ["Blob", "File"],
  "web/form-data": ["FormData"],
  "web/readable": ["ReadableStream", "ReadableStreamDefaultReader"],
  "web/writable": ["WritableStream", "TransformStream", "ByteLengthQueuingStrategy", "CountQueuingStrategy"],
  "web/clone": ["structuredClone"],
  "web/console": ["console"],
  "web/timers": [
    "setTimeout",
    "setInterval",
    "setImmediate",
    "clearTimeout",
    "clearInterval",
    "clearImmediate",
  ],
  "web/crypto": ["crypto"],
  "web/performance": ["performance"],
  "web/navigator": ["navigator"],
  "web/report": ["reportError"],
  "node/buffer": ["Buffer"],
  "node/process": ["process"],
  "bun/index": ["Bun"],
};

// Native in QuickJS-ng; ours only where the engine has none.
const IF_MISSING = { "web/base64": ["atob", "btoa"], "web/report": ["queueMicrotask"], "web/intl": ["Intl"] };

function define(name, module) {
  const settle = (value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  Object.defineProperty(globalThis, name, {
    configurable: true,
    enumerable: false,
    get() {
      const found = internal(module);
      const value = name === "process" || name === "Bun" ? found.default : found[name];
      settle(value);
      return value;
    },
    set: settle,
  });
}

export function install() {
  globalThis.global = globalThis;
  globalThis.self = globalThis;
  for (const module in LAZY) for (const name of LAZY[module]) define(name, module);
  for (const module in IF_MISSING)
    for (const name of IF_MISSING[module]) if (!(name in globalThis)) define(name, module);
}
