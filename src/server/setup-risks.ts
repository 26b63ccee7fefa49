import { developmentAccountKey, type Accounts } from "../account/settings.ts";
import { isLoopback } from "../admin/security/same-origin.ts";
import { isReadableByOthers } from "../host/files.ts";
import { masterKeySource } from "../host/master-key.ts";
import type { Options } from "./options.ts";

/** Finds settings with which a server works, but gives access to others than the operator probably
 *  means. The server logs them when it starts, and `etagere doctor` lists them. */

export interface Risk {
  /** The names of the accounts, files or options that cause it. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  readonly text: string;
  readonly advice: string;
}

export async function risksOf(options: Options, accounts: Accounts): Promise<readonly Risk[]> {
  return [
    ...riskOf("accounts", namesOfShortKeys(accounts), {
      text: "account keys with fewer than 32 bytes can be guessed",
      advice: "replace them: openssl rand -base64 64 | tr -d '\\n'",
    }),
    ...riskOf("options", exposingOptions(options, accounts), {
      text: "other machines can use the development account, whose key is published",
      advice: "configure accounts (--config), or listen on 127.0.0.1",
    }),
    ...(await readableFiles(secretFiles(options))),
  ];
}

/** The risk that other users of the machine can read files with secrets. */
export async function readableFiles(paths: readonly string[]): Promise<readonly Risk[]> {
  const files: string[] = [];
  for (const path of paths) if (await isReadableByOthers(path)) files.push(path);
  return riskOf("files", files, {
    text: "other users of this machine can read files with secrets",
    advice: "let only the user of the server read them: chmod 600 FILE",
  });
}

/** The files with keys that the options name. */
function secretFiles({
  config,
  key,
  encryption = "",
}: Pick<Options, "config" | "key" | "encryption">): readonly string[] {
  const [, kind, path] = masterKeySource.exec(encryption) ?? [];
  return [config, key, kind === "file" ? path : undefined].filter((each) => each !== undefined);
}

function riskOf(
  field: string,
  names: readonly string[],
  risk: Omit<Risk, "fields">,
): readonly Risk[] {
  return names.length === 0 ? [] : [{ fields: { [field]: names }, ...risk }];
}

/** Azure's keys have 64 bytes. With fewer than the 32 of the HMAC that they are for, or with text
 *  such as the placeholder `KEY1` of a guide, an attacker who has seen one signature can search for
 *  the key without asking the server. */
const keyBytesMin = 32;

function namesOfShortKeys(accounts: Accounts): readonly string[] {
  return accounts.names().filter((name) => {
    const keys: readonly string[] = accounts.get(name)?.keys ?? [];
    return keys.some((key) => Buffer.from(key, "base64").length < keyBytesMin);
  });
}

/** The options by which other machines reach an account with the published key. */
function exposingOptions(options: Options, accounts: Accounts): readonly string[] {
  const isServed = accounts.names().some((name) => {
    const keys: readonly string[] = accounts.get(name)?.keys ?? [];
    return keys.includes(developmentAccountKey);
  });
  if (!isServed) return [];
  const listeners = [
    "admin" as const,
    ...options.services,
    ...(options.services.includes("blob") ? (["dfs"] as const) : []),
    ...(options.services.includes("file") && !options.noSmb ? (["smb"] as const) : []),
  ];
  return listeners
    .map((name) => `${name}Host` as const)
    .filter((name) => !isLoopback(options[name]));
}
