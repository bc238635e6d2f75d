// Asks haft's zod and the zod package the same questions and reports where they differ:
//   node compare.mjs --real DIR                       DIR is a directory with node_modules/zod 4.1.8 in it
//   node compare.mjs --real DIR --later DIR           also what later versions brought (4.6.7)
//   node compare.mjs --real DIR --later DIR --write   also renews answers.mjs, which verify.mjs reads
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import * as ours from "../../js/zod/index.js";
import { answers, digest, laterAnswers, show, size } from "./corpus.mjs";
import { DIFFERENCES } from "./differences.mjs";
import { mixed, robustness } from "./robustness.mjs";

function option(name) {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

async function packageIn(directory) {
  const home = resolve(directory, "node_modules/zod");
  const { version } = JSON.parse(readFileSync(resolve(home, "package.json"), "utf8"));
  return { version, z: await import(pathToFileURL(resolve(home, "index.js"))) };
}

if (!option("--real")) {
  console.error(
    "usage: node compare.mjs --real DIR [--later DIR] [--write]\n" +
      "Install into DIR first: npm install --prefix DIR zod@4.1.8",
  );
  process.exit(2);
}
const real = await packageIn(option("--real"));
const later = option("--later") && (await packageIn(option("--later")));

let different = 0;
function differs(text) {
  different++;
  console.log(text);
}

const known = new Map(DIFFERENCES.map((entry) => [entry.question, entry]));
const used = new Set();
function compare(mine, theirs) {
  mine.forEach(([question, answer], i) => {
    if (answer === theirs[i][1]) return;
    if (known.has(question)) used.add(question);
    else differs(`${question}\n  haft: ${answer}\n  zod:  ${theirs[i][1]}`);
  });
}
const mine = await answers(ours);
const theirs = await answers(real.z);
compare(mine, theirs);
const theirsLater = later && laterAnswers(later.z);
if (later) compare(laterAnswers(ours), theirsLater);
for (const question of known.keys()) if (!used.has(question)) differs(`no longer different: ${question}`);

// Schemas of both may meet in one tool (a package brings its own zod); each must work inside the other.
const wanted = show(mixed(real.z, real.z));
for (const [outer, inner, where] of [
  [ours, real.z, "zod in haft's"],
  [real.z, ours, "haft's in zod"],
]) {
  const got = show(mixed(outer, inner));
  if (got !== wanted) differs(`${where}\n  got:    ${got}\n  wanted: ${wanted}`);
}
for (const [law, holds] of robustness(ours)) if (!holds) differs(`does not hold: ${law}`);

if (process.argv.includes("--write")) {
  if (!later) throw new Error("--write needs --later too, so that answers.mjs is whole");
  const list = (pairs) => {
    const digests = pairs.map(([, answer]) => digest(answer));
    const rows = [];
    while (digests.length) rows.push(digests.splice(0, 12).join(" "));
    return `\`\n${rows.join("\n")}\n\`.trim().split(/\\s+/)`;
  };
  writeFileSync(
    new URL("./answers.mjs", import.meta.url),
    `// Written by compare.mjs --write: a digest of what zod answers to each question of the corpus.
// zod ${real.version}
export const main = ${list(theirs)};
// zod ${later.version}
export const later = ${list(theirsLater)};
`,
  );
}

const asked = `${size.schemas} schemas, ${size.calls} calls, ${mine.length} answers compared with zod ${real.version}`;
const more = later ? `; ${size.later} schemas with zod ${later.version}` : "";
console.log(`${asked}${more}: ${different} differ, ${used.size} known differences`);
process.exit(different ? 1 : 0);
