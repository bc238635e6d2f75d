// A shell template becomes the text of a script. Every value stays what it was: outside quotes it is one
// quoted word (a list is several), inside quotes it is escaped for those quotes. Objects after `<` and `>`
// become files, which the caller provides.

// How quotes stand at the end of a piece of script: a stack, since "$( … )" opens a fresh level. `first` is the
// piece at the very beginning; any other follows a value, so its first character stands in the middle of a word.
function advance(stack, text, first) {
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    const top = stack.at(-1);
    if (top === "'" || top === "#") {
      if (char === (top === "#" ? "\n" : "'")) stack.pop();
    } else if (char === "\\") i += 1;
    else if (char === "$" && text[i + 1] === "(") {
      stack.push(")");
      i += 1;
    } else if (char === "`") top === "`" ? stack.pop() : stack.push("`");
    else if (top === '"') {
      if (char === '"') stack.pop();
    } else if (char === "#" && (i === 0 ? first : /[\s;&|()<>`]/.test(text[i - 1]))) stack.push("#");
    else if (char === "'" || char === '"') stack.push(char);
    else if (char === "(") stack.push(")");
    else if (char === ")" && top === ")") stack.pop();
  }
}

const quoters = {
  word: (text) => `'${text.replaceAll("'", "'\\''")}'`,
  "'": (text) => text.replaceAll("'", "'\\''"),
  // In a comment a value must not end the line.
  "#": (text) => text.replace(/[\r\n]+/g, " "),
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

// Inside backticks the shell takes one backslash off before it reads the command, once for each level.
function deepened(text, stack) {
  stack.forEach((open, i) => {
    if (open === "`") text = text.replace(stack[i - 1] === '"' ? /[\\`$"]/g : /[\\`$]/g, "\\$&");
  });
  return text;
}

// A `$` right before a value would make `$'…'` or a variable of it: there it is only a dollar sign.
const dollarKept = (piece) => (/(?:^|[^\\])(?:\\\\)*\$$/.test(piece) ? `${piece.slice(0, -1)}\\$` : piece);

// The words are known at once; `redirections` are [{kind: "in"|"out", value, mark}] whose marks the caller
// replaces by file names.
export function scriptOf(strings, values) {
  const stack = [];
  const redirections = [];
  let script = "";
  strings.raw.forEach((piece, i) => {
    advance(stack, piece, i === 0);
    const top = stack.at(-1);
    script += i < values.length && top !== "'" && top !== "#" ? dollarKept(piece) : piece;
    if (i >= values.length) return;
    const value = values[i];
    const direction = /(<|>>?|&>>?|>\|)\s*$/.exec(piece)?.[1];
    const quote = top in quoters ? top : "word";
    if (direction && isData(value) && quote === "word") {
      const mark = `\u0001${redirections.length}\u0001`;
      redirections.push({
        kind: direction === "<" ? "in" : "out",
        append: direction.includes(">>"),
        value,
        mark,
      });
      script += mark;
    } else script += deepened(quoted(value, quote), stack);
  });
  return { script, redirections };
}

export const quoteWord = quoters.word;

export function escape(text) {
  const string = String(text);
  return string !== "" && /^[\w@%+=:,./-]+$/.test(string) ? string : `"${quoters['"'](string)}"`;
}
