// Brace expansion: `a{b,c}d` is `abd acd`; the last group turns fastest, and groups nest.

function matching(text, open) {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === "{") depth += 1;
    else if (text[i] === "}" && --depth === 0) return i;
  }
  return -1;
}

function alternatives(text) {
  const out = [""];
  let depth = 0;
  for (const char of text) {
    if (char === "," && depth === 0) out.push("");
    else {
      if (char === "{") depth += 1;
      if (char === "}") depth -= 1;
      out[out.length - 1] += char;
    }
  }
  return out;
}

export function braces(text) {
  for (let open = text.indexOf("{"); open >= 0; open = text.indexOf("{", open + 1)) {
    if (text[open - 1] === "\\" || text[open - 1] === "$") continue;
    const close = matching(text, open);
    if (close < 0) break;
    const choices = alternatives(text.slice(open + 1, close));
    if (choices.length < 2) continue;
    const tails = braces(text.slice(close + 1));
    const middles = choices.flatMap(braces);
    return middles.flatMap((middle) => tails.map((tail) => text.slice(0, open) + middle + tail));
  }
  return [text];
}
