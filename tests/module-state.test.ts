import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

/**
 * Files that keep state outside of any object, and what it is. Two servers of one process share
 * it, so it must not change what a client sees: buffers that are reused, pools, and results that
 * depend on their input alone. Everything else belongs to an object that the server creates. A new
 * entry needs a measurement in docs/bench/README.md.
 */
const known: Readonly<Record<string, string>> = {
  "src/base/dates.ts": "formatted dates",
  "src/blob/query/sql-tokens.ts": "the position of a pattern",
  "src/content/body/body-buffers.ts": "a pool of buffers",
  "src/content/body/crc64-program.ts": "memory of the compiled program",
  "src/content/body/crc64.ts": "polynomials",
  "src/content/body/md5-thread.ts": "checksums of the thread that it is",
  "src/content/tree/node-codec.ts": "a buffer",
  "src/encoding/keys.ts": "a buffer",
  "src/encoding/paged-text.ts": "a pool of pages",
  "src/encoding/record.ts": "the encoder",
  "src/encoding/slabs.ts": "a pool of bytes",
  "src/encoding/xml-reader.ts": "the position of a pattern",
  "src/file/shared/inherited-permission.ts": "parsed permissions",
  "src/http/auth/authorise-call.ts": "what declarations need",
  "src/http/batch/transaction.ts": "a buffer",
  "src/http/request/target.ts": "parsed queries, versions that a log has warned of",
  "src/http/source/client-signal.ts": "signals of connections",
  "src/operation/reclaim-jobs.ts": "the last encoded job",
  "src/protocol/tags.ts": "the position of a pattern",
  "src/queue/message/pop-receipt.ts": "a buffer",
  "src/store/lmdb/lmdb-engine.ts": "commits of this thread",
  "src/table/edm/date-time.ts": "formatted dates",
  "src/table/json/documents.ts": "a buffer",
  "src/table/json/flat-json.ts": "a parser",
  "src/table/json/read-entity.ts": "a parser",
  "src/table/json/write-entity.ts": "the last formatted key",
  "src/table/path.ts": "the last formatted path",
  "src/table/records.ts": "the last encoded key",
  "src/table/representation.ts": "negotiated formats",
  "src/table/stored/entity-record.ts": "buffers, encoded names",
};

/** Classes of the platform whose instances do not change unless one of `changes` is called. */
const platform = /^(Set|Map|RegExp|TextEncoder|TextDecoder|URL|Uint8Array|DataView)$/;
const changes = "set|add|push|delete|clear|pop|shift|unshift|splice|fill|write\\w*|copy";

/** The names of a file that are declared outside of functions and classes, and change. */
function stateOf(text: string): readonly string[] {
  const variables = [...text.matchAll(/^(?:export )?let (\w+)/gm)].map(([, name = ""]) => name);
  const constants = [...text.matchAll(/^(?:export )?const (\w+)(: [^=\n]*)? =\s*(?:new (\w+))?/gm)];
  const changing = constants.filter(([, name = "", type = "", instance]) => {
    if (type.includes("Readonly")) return false;
    if (instance !== undefined && !platform.test(instance)) return true;
    const called = `(?<![.\\w])${name}\\.(?:${changes})\\(`;
    const place = `(?<![.\\w])${name}(?:\\[[^\\]\\n]+\\]!?|\\.\\w+)`;
    const assigned = `^[^\\n"\`:]*${place} (?:[-+|&^]|\\?\\?)?= `;
    return new RegExp(`${called}|${assigned}`, "m").test(text);
  });
  return [...variables, ...changing.map(([, name = ""]) => name)];
}

const withState = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .map((name) => join("src", name))
  .filter((path) => stateOf(readFileSync(path, "utf8")).length > 0);

it("modules keep no state, except those of the list", () => {
  expect(withState.filter((path) => known[path] === undefined)).toEqual([]);
});

it("the list has no file without state", () => {
  expect(Object.keys(known).filter((path) => !withState.includes(path))).toEqual([]);
});

it("finds variables, changed collections and instances", () => {
  expect(stateOf("let last = 0;\n")).toEqual(["last"]);
  expect(stateOf("const seen = new Map();\nseen.set(1, 2);\n")).toEqual(["seen"]);
  expect(stateOf("const cache = new RecentMap(3);\n")).toEqual(["cache"]);
  expect(stateOf("const table = {};\nfunction add() {\n  table.x = 1;\n}\n")).toEqual(["table"]);
  expect(stateOf("const names: ReadonlySet<string> = new Set();\n")).toEqual([]);
});
