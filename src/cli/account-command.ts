import { readFile } from "node:fs/promises";
import { text as readAll } from "node:stream/consumers";
import { defaultLocation } from "../server/flags.ts";
import { messageOf, StartRefused } from "../server/start-refused.ts";
import type { AccountAnswer } from "./account-access.ts";
import { parseAccountWords, type AccountCommand } from "./account-words.ts";
import { adminTokenOf } from "./admin-token.ts";
import { NoServer } from "./admin-client.ts";
import { findServer } from "./find-server.ts";
import { usageError, type Subcommand } from "./subcommand.ts";

export const accountCommand: Subcommand = {
  name: "account",
  usage: "list|create|delete|rotate-key|settings [NAME] [--location FOLDER | --url URL]",
  summary: "create, change, list and delete accounts in the data store",
  help: [
    "Manages the accounts in the data store of a running server, or of the data folder of a",
    "stopped one. Accounts of --config and AZURITE_ACCOUNTS are only listed.",
    "",
    "  list                           all accounts; unserved: has data, but is not configured",
    "  create NAME [SETTING=VALUE]…   NAME: 3 to 24 lower-case letters and digits",
    "  delete NAME                    an account without data, with --force any account",
    "  rotate-key NAME 1|2            replace a key; the old one is rejected from then on",
    "  settings NAME [SETTING=VALUE]… change settings, as versioning=true; VALUE may be default",
    "",
    "  -l, --location FOLDER   the server that uses this data folder, or the folder (.etagere)",
    "      --url URL           address of the admin listener, for example http://127.0.0.1:10010",
    "      --tokenFile FILE    file with the admin token, or the variable ETAGERE_ADMIN_TOKEN; not",
    "                          needed if the data folder is readable",
    "      --keyFile FILE      file with the key or keys in base64, one per line, or - for",
    "                          standard input; without it, keys are random",
    "      --quota SIZE        create, settings: most bytes that the account stores, as 10GiB, or",
    "                          default for no limit; the same as quotaBytes=SIZE",
    "      --adopt             create: take over the data of an account of this name",
    "      --force             delete: also delete the data",
    "      --json              print JSON",
    "",
    "exit code: 0 done, 1 not done",
    "example:   etagere account create photos hierarchicalNamespace=true",
  ],
  run: runAccountCommand,
};

async function runAccountCommand(words: readonly string[]): Promise<number> {
  const command = parseAccountWords(words);
  if ("problem" in command) {
    process.stderr.write(usageError(accountCommand, command.problem));
    return 1;
  }
  try {
    const answer = await run(command);
    process.stdout.write(command.json ? `${JSON.stringify(answer)}\n` : printed(command, answer));
    return 0;
  } catch (error) {
    const problems = error instanceof StartRefused ? error.problems : [messageOf(error)];
    for (const problem of problems) process.stderr.write(`etagere: ${problem}\n`);
    return 1;
  }
}

/** Uses the server of the location if one responds, else the folder itself: its store may be opened
 *  by several processes, so a server that starts meanwhile does no harm. */
async function run({ does, url, location, tokenFile, keyFile }: AccountCommand) {
  const keys = keyFile === undefined ? undefined : await readKeys(keyFile);
  if (does.action === "rotate-key" && keys !== undefined && keys.length !== 1) {
    throw new Error(`--keyFile: must contain one key, got ${keys.length}`);
  }
  const { runOnFolder, runOnServer } = await import("./account-access.ts");
  const found = url === undefined ? await findServer(location) : { url };
  const given = await adminTokenOf({ tokenFile });
  if (found === undefined) return runOnFolder(location ?? defaultLocation, { does, keys });
  const server = { ...found, token: given ?? ("token" in found ? found.token : undefined) };
  try {
    return await runOnServer(server, { does, keys });
  } catch (error) {
    if (!(error instanceof NoServer) || url !== undefined) throw error;
    return runOnFolder(location ?? defaultLocation, { does, keys });
  }
}

async function readKeys(file: string): Promise<readonly string[]> {
  const content = file === "-" ? await readAll(process.stdin) : await readFile(file, "utf8");
  return content.split(/\s+/).filter((word) => word !== "");
}

function printed({ does }: AccountCommand, answer: AccountAnswer): string {
  const { accounts, keys = [], connectionString, settings } = answer;
  const lines = (accounts ?? []).map(({ name, source, hierarchicalNamespace }) =>
    [name.padEnd(24), source.padEnd(10), hierarchicalNamespace === true ? "hierarchical" : ""]
      .join(" ")
      .trimEnd(),
  );
  if (does.action === "delete") lines.push(`${does.name}: deleted`);
  if (does.action === "create") lines.push(`${does.name}: created`);
  lines.push(...keys.map((key, index) => `key ${index + 1}: ${key}`));
  if (connectionString !== undefined) lines.push(connectionString);
  if (settings !== undefined) lines.push(JSON.stringify(settings, undefined, 2));
  return lines.map((line) => `${line}\n`).join("");
}
