// The whole corpus, and how a `z` answers it. Nothing here needs node: the same file can be run in any
// engine.
import calls from "./corpus-calls.mjs";
import later from "./corpus-later.mjs";
import shapes from "./corpus-shapes.mjs";
import values from "./corpus-values.mjs";

const DATE_TEXT = /[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d{4} \d\d:\d\d:\d\d GMT[+-]\d{4}(?: \([^)]*\))?/g;

/** Writes any value as text that tells apart what JSON does not: undefined, NaN, -0, bigints, dates, maps. */
export function show(value, depth = 0) {
  const rest = (item) => show(item, depth + 1);
  if (depth > 60) return "…";
  if (value === undefined) return "undefined";
  if (Object.is(value, -0)) return "-0";
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return "function";
  if (typeof value === "symbol") return String(value);
  // Dates inside texts read differently by time zone and by engine.
  if (typeof value === "string")
    return JSON.stringify(value).replace(DATE_TEXT, (text) => `Date(${Date.parse(text)})`);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? String(value);
  if (value instanceof Date) return `Date(${+value})`;
  if (value instanceof RegExp) return String(value);
  if (value instanceof Map)
    return `Map{${[...value].map(([key, item]) => `${rest(key)} => ${rest(item)}`).join(", ")}}`;
  if (value instanceof Set) return `Set{${[...value].map(rest).join(", ")}}`;
  if (value instanceof Error) return `${value.name}(${value.message})`;
  if (Array.isArray(value)) return `[${Array.from(value, rest).join(", ")}]`;
  // The order of keys is not part of an answer.
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}: ${rest(value[key])}`).join(", ")}}`;
}

const evaluate = (source, z) => new Function("z", `return (${source})`)(z);
function attempt(run) {
  try {
    return show(run());
  } catch (error) {
    return `throws ${error.name}: ${error.message}`;
  }
}
function parsed(schema, input) {
  const result = schema.safeParse(input);
  return result.success ? { data: result.data } : { issues: result.error.issues };
}

function askSchemas(z, rows) {
  const all = [];
  for (const [source, inputs] of rows) {
    for (const io of ["output", "input"]) {
      const convert = () => z.toJSONSchema(evaluate(source, z), { io, unrepresentable: "any" });
      all.push([`${source} as ${io} schema`, attempt(convert)]);
    }
    const count = evaluate(`[${inputs}]`).length;
    for (let i = 0; i < count; i++) {
      const input = evaluate(`[${inputs}]`)[i];
      all.push([
        `${source} on input ${i}: ${show(input)}`,
        attempt(() => parsed(evaluate(source, z), input)),
      ]);
    }
  }
  return all;
}

/** Every question of the corpus with the answer of `z`, as [question, answer]. */
export async function answers(z) {
  const all = askSchemas(z, [...values, ...shapes]);
  for (const source of calls) {
    let answer;
    try {
      answer = show(await evaluate(source, z));
    } catch (error) {
      answer = `throws ${error?.name}: ${error?.message}`;
    }
    all.push([source, answer]);
  }
  return all;
}

/** The same for what only later versions have. */
export const laterAnswers = (z) => askSchemas(z, later);

/** A short stand-in for an answer (FNV-1a over UTF-16 units): all of zod's answers fit in a small file. */
export function digest(answer) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < answer.length; i++) hash = Math.imul(hash ^ answer.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/** How many schema expressions and calls there are. */
export const size = { schemas: values.length + shapes.length, calls: calls.length, later: later.length };
