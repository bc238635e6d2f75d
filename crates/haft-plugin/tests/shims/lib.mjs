// The few words the checks are written in. They use only the language, so that they mean the same in every
// engine.
export function same(actual, expected) {
  const [a, b] = [plain(actual), plain(expected)];
  if (a !== b) throw new Error(`got ${a}, expected ${b}`);
}

function plain(value) {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return `function ${value.name}`;
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? "-0" : String(value);
  if (Array.isArray(value)) return `[${value.map(plain).join(", ")}]`;
  if (ArrayBuffer.isView(value))
    return `bytes ${Array.from(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)).join(",")}`;
  if (value instanceof ArrayBuffer) return `bytes ${Array.from(new Uint8Array(value)).join(",")}`;
  if (value instanceof Map || value instanceof Set) return `${value.constructor.name} ${plain([...value])}`;
  if (value instanceof Date || value instanceof RegExp) return String(value);
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  return `{${Object.keys(value)
    .sort()
    .map((key) => `${key}: ${plain(value[key])}`)
    .join(", ")}}`;
}

// What was thrown must have these fields; a RegExp is a pattern for the text.
function fits(error, fields) {
  for (const key in fields) {
    const ok =
      fields[key] instanceof RegExp
        ? fields[key].test(String(error?.[key]))
        : plain(error?.[key]) === plain(fields[key]);
    if (!ok)
      throw new Error(
        `the error's ${key} is ${plain(error?.[key])}, expected ${plain(fields[key])} (${error?.message})`,
      );
  }
}

export function throws(f, fields = {}) {
  let error;
  try {
    f();
  } catch (thrown) {
    error = { thrown };
  }
  if (!error) throw new Error("nothing was thrown");
  fits(error.thrown, fields);
}

export async function rejects(promise, fields = {}) {
  let error;
  try {
    await promise;
  } catch (thrown) {
    error = { thrown };
  }
  if (!error) throw new Error("the promise was not rejected");
  fits(error.thrown, fields);
}

export const wait = (ms) => new Promise((done) => setTimeout(done, ms));
