// A shell template becomes the text of a script. Every value stays what it was: outside quotes it is one
// quoted word (a list is several), inside quotes it is escaped for those quotes. Objects after `<` and `>`
// become files, which the caller provides.

// How quotes stand at the end of a piece of script: a stack, since "$( … )" opens a fresh level.
function advance(stack, text) {
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    const top = stack.at(-1);
    if (top === "'") {
      if (char === "'") stack.pop();
    } else if (char === "\\") i += 1;
    else if (char === "$" && text[i + 1] === "(") {
      stack.push(")");
      i += 1;
    } else if (char === "`") top === "`" ? stack.pop() : stack.push("`");
    else if (top === '"') {
      if (char === '"') stack.pop();
    } else if (char === "#" && (i === 0 || /[\s;&|(]/.test(text[i - 1]))) {
      const end = text.indexOf("\n", i);
      i = end < 0 ? text.length : end - 1;
    } else if (char === "'" || char === '"') stack.push(char);
    else if (char === "(") stack.push(")");
    else if (char === ")" && top === ")") stack.pop();
  }
}

const quoters = {
  word: (text) => `'${text.replaceAll("'", "'\\''")}'`,
  "'": (text) => text.replaceAll("'", "'\\''"),
  '"': (text) => text.replace(/[\\"$`]/g, "\\$&"),
};

function textOf(value) {
  if (typeof value === "object" && value !== null) {
    const said = typeof value.toString === "function" ? value.toString() : "";
    if (said === "" || /^\[object \w*\]$/.test(said)) {
      throw new Error(
        `Invalid JS object used in shell: ${said || "[object Object]"}, you might need to call \`.toString()\` on it`,
      );
    }
  }
  const text = String(value);
  if (text.includes("\0")) throw new Error("a value in a shell command may not contain a NUL character");
  return text;
}

const isData = (value) =>
  ArrayBuffer.isView(value) ||
  value instanceof ArrayBuffer ||
  typeof value?.arrayBuffer === "function" ||
  typeof value?.getReader === "function";

function quoted(value, quote) {
  if (Array.isArray(value)) return value.map((item) => quoted(item, quote)).join(" ");
  if (
    typeof value === "object" &&
    value !== null &&
    typeof value.raw === "string" &&
    Object.getPrototypeOf(value) === Object.prototype
  )
    return value.raw;
  if (isData(value))
    throw new Error("a buffer, Blob, Response or stream in a shell command must follow `<` or `>`");
  return quoters[quote](textOf(value));
}

// The words are known at once; `redirections` are [{kind: "in"|"out", value, mark}] whose marks the caller
// replaces by file names.
export function scriptOf(strings, values) {
  const stack = [];
  const redirections = [];
  let script = "";
  strings.raw.forEach((piece, i) => {
    advance(stack, piece);
    script += piece;
    if (i >= values.length) return;
    const value = values[i];
    const direction = /(<|>>?|&>>?|>\|)\s*$/.exec(piece)?.[1];
    const top = stack.at(-1);
    if (direction && isData(value) && top !== "'" && top !== '"') {
      const mark = `\u0001${redirections.length}\u0001`;
      redirections.push({
        kind: direction === "<" ? "in" : "out",
        append: direction.includes(">>"),
        value,
        mark,
      });
      script += mark;
    } else script += quoted(value, top === "'" || top === '"' ? top : "word");
  });
  return { script, redirections };
}

export const quoteWord = quoters.word;

export function escape(text) {
  const string = String(text);
  return string !== "" && /^[\w@%+=:,./-]+$/.test(string) ? string : `"${quoters['"'](string)}"`;
}
