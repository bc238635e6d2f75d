// A shell template becomes the text of a script. No value enters that text: each becomes a shell variable, set in
// front of the script, and the text only names it, in the way that fits the quotes around it (a list names several).
// So even where this reading of quotes errs, a value may be split into words but never becomes code.
// Objects after `<` and `>` become files, whose names the caller provides.

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

const references = {
  word: (name) => `"\${${name}}"`,
  '"': (name) => `\${${name}}`,
  "'": (name) => `'"\${${name}}"'`,
  // In a comment nothing is read.
  "#": () => "",
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

// The text that stands for a value; `keep` gives a string its variable.
function reference(value, quote, keep) {
  if (Array.isArray(value)) return value.map((item) => reference(item, quote, keep)).join(" ");
  const plain =
    typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  if (plain && typeof value.raw === "string") return value.raw;
  if (isData(value)) {
    throw new Error("a buffer, Blob, Response or stream in a shell command must follow `<` or `>`");
  }
  return references[quote](keep(textOf(value)));
}

// A `$` right before a value would make `$'…'` or a variable of it: there it is only a dollar sign.
const dollarKept = (piece) => (/(?:^|[^\\])(?:\\\\)*\$$/.test(piece) ? `${piece.slice(0, -1)}\\$` : piece);

// `values` are those of the variables, in order; those of `redirections` ([{kind: "in"|"out", value, at}]) are null
// until the caller has a file for them.
export function scriptOf(strings, given) {
  const stack = [];
  const redirections = [];
  const values = [];
  const keep = (text) => `__haft_${values.push(text) - 1}`;
  let script = "";
  strings.raw.forEach((piece, i) => {
    advance(stack, piece, i === 0);
    const top = stack.at(-1);
    script += i < given.length && top !== "'" && top !== "#" ? dollarKept(piece) : piece;
    if (i >= given.length) return;
    const direction = /(<|>>?|&>>?|>\|)\s*$/.exec(piece)?.[1];
    const quote = top in references ? top : "word";
    if (direction && isData(given[i]) && quote === "word") {
      redirections.push({ kind: direction === "<" ? "in" : "out", value: given[i], at: values.length });
      script += references.word(keep(null));
    } else script += reference(given[i], quote, keep);
  });
  return { script, values, redirections };
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
export const withVariables = (script, values) =>
  values.map((text, i) => `__haft_${i}=${quoted(text)}; `).join("") + script;

export function escape(text) {
  const string = String(text);
  return string !== "" && /^[\w@%+=:,./-]+$/.test(string)
    ? string
    : `"${string.replace(/[\\"$`]/g, "\\$&")}"`;
}
