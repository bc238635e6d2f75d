// Asks haft's zod and the zod package the same questions and reports where they differ:
//   node compare.mjs --real DIR        DIR is a directory with node_modules/zod (4.1.8) in it
//   node compare.mjs --real DIR --write   also renews answers.mjs, which verify.mjs asks where the package is missing
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import * as ours from "../../js/zod/index.js";
import { answers, digest, show, size } from "./corpus.mjs";
import { DIFFERENCES } from "./differences.mjs";
import { mixed, robustness } from "./robustness.mjs";

function option(name) {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

const real = option("--real");
if (!real) {
  console.error("usage: node compare.mjs --real DIR [--write]\nInstall into DIR first: npm install --prefix DIR zod@4.1.8");
  process.exit(2);
}
const home = resolve(real, "node_modules/zod");
const { version } = JSON.parse(readFileSync(resolve(home, "package.json"), "utf8"));
const theirs = await import(pathToFileURL(resolve(home, "index.js")));

const mine = await answers(ours);
const yours = await answers(theirs);
if (process.argv.includes("--write")) {
  const digests = yours.map(([, answer]) => digest(answer));
  const rows = [];
  while (digests.length) rows.push(digests.splice(0, 12).join(" "));
  const text = `// Written by compare.mjs --write: a digest of what zod ${version} answers to each question of the corpus.\n` +
    `export default \`\n${rows.join("\n")}\n\`.trim().split(/\\s+/);\n`;
  writeFileSync(new URL("./answers.mjs", import.meta.url), text);
}

let different = 0;
// Schemas of both may meet in one tool (a package brings its own zod); each must work inside the other.
for (const [outer, inner, where] of [[ours, theirs, "zod in haft's"], [theirs, ours, "haft's in zod"]]) {
  const same = (z, part) => mixed(z, part).map((answer) => show(answer)).join("\n");
  const [got, wanted] = [same(outer, inner), same(theirs, theirs)];
  if (got !== wanted) {
    different++;
    console.log(`${where}\n  got:    ${got}\n  wanted: ${wanted}`);
  }
}
for (const [law, holds] of robustness(ours)) {
  if (holds) continue;
  different++;
  console.log(`does not hold: ${law}`);
}
const used = new Set();
mine.forEach(([question, answer], i) => {
  if (answer === yours[i][1]) return;
  const known = DIFFERENCES.find((entry) => question === entry.question);
  if (known) {
    used.add(known);
    return;
  }
  different++;
  console.log(`${question}\n  haft: ${answer}\n  zod:  ${yours[i][1]}`);
});
const stale = DIFFERENCES.filter((entry) => !used.has(entry));
for (const entry of stale) console.log(`no longer different: ${entry.question}`);
const shares = `${size.schemas} schemas, ${size.calls} calls, ${mine.length} answers compared with zod ${version}`;
console.log(`${shares}; ${different} differ, ${used.size} known differences`);
process.exit(different || stale.length ? 1 : 0);
