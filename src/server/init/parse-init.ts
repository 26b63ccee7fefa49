import { dirname } from "node:path";
import { readFileSync } from "node:fs";
import type { Accounts } from "../../account/settings.ts";
import { messageOf, StartRefused } from "../start-refused.ts";
import { FieldReader, type Field } from "./fields.ts";
import type { InitInput } from "./init-input.ts";
import type { InitStep } from "./init-step.ts";
import { ContentParser } from "./parse-content.ts";
import { containerSteps, queueSteps, shareSteps, tableSteps } from "./resource-steps.ts";

const fileBytesMax = 256 * 1024 * 1024;
const kinds = ["containers", "queues", "tables", "shares"] as const;
const stepsOfKind = {
  containers: containerSteps,
  queues: queueSteps,
  tables: tableSteps,
  shares: shareSteps,
};

/** Parses what is to be created: a path of a JSON file, or its content. Throws `StartRefused` with
 *  one line per problem. */
export function parseInit(init: string | InitInput, accounts: Accounts): readonly InitStep[] {
  const isFile = typeof init === "string";
  const value = isFile ? readInitFile(init) : init;
  const reader = new FieldReader();
  const contents = new ContentParser(reader, isFile ? dirname(init) : ".");
  const steps = stepsOf({ path: "", value }, { reader, contents, accounts });
  if (reader.problems.length === 0) return steps;
  throw new StartRefused(reader.problems.map((problem) => `${nameOf(init)}: ${problem}`));
}

/** The input in messages: the path of its file, or the name of the option. */
export function nameOf(init: string | InitInput): string {
  return typeof init === "string" ? init : "init";
}

function readInitFile(path: string): unknown {
  try {
    const bytes = readFileSync(path);
    if (bytes.length > fileBytesMax) throw new Error("longer than 256 MiB");
    return JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw new StartRefused([`${path}: cannot be read: ${messageOf(error)}`]);
  }
}

interface InitParts {
  readonly reader: FieldReader;
  readonly contents: ContentParser;
  readonly accounts: Accounts;
}

function stepsOf(root: Field, parts: InitParts): readonly InitStep[] {
  const { reader, accounts } = parts;
  // Editors use `$schema` to find a description of the file.
  const at = reader.object(root, ["accounts", ...kinds, "$schema"]);
  const [first = ""] = accounts.names();
  const own = accountSteps(at, first, parts);
  const others = reader.map(at("accounts")).flatMap(([name, field]) => {
    if (accounts.get(name) === undefined) {
      const known = accounts.names().join(", ");
      return reader.refuse(field, `no account of this server has this name; there are ${known}`);
    }
    return accountSteps(reader.object(field, kinds), name, parts);
  });
  return [...own, ...others.filter((step) => step !== undefined)];
}

function accountSteps(
  at: (name: string) => Field,
  account: string,
  { reader, contents }: InitParts,
): readonly InitStep[] {
  return kinds.flatMap((kind) =>
    reader
      .map(at(kind))
      .flatMap(([name, field]) => stepsOfKind[kind]({ account, name, field, reader, contents })),
  );
}
