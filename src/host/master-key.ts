import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { readStart } from "./files.ts";
import { messageOf, StartRefused } from "./refused.ts";
import { environmentVariable } from "./world.ts";

/** Reads the master key, with which an encrypted store protects its data keys, from where the
 *  operator has put it. */

/** The form of `--encryption`, which names the source of the master key: `file:PATH`, `env:NAME` or
 *  `command:COMMAND`. */
export const masterKeySource = /^(file|env|command):(.+)$/s;

const keyBytes = 32;
const keyTextMax = 1024;
const commandMillisecondsMax = 30_000;
const run = promisify(execFile);

/** Reads the master key: 32 bytes as base64 or hexadecimal digits, from a file or a command also as
 *  they are. No message contains it. `option` is the one that messages name. */
export async function readMasterKey(source: string, option = "--encryption"): Promise<Uint8Array> {
  const [, kind, name = ""] = masterKeySource.exec(source) ?? [];
  if (kind === undefined) {
    throw refused(option, `must be file:PATH, env:NAME or command:COMMAND, got "${source}"`);
  }
  const found = await bytesOf(kind, name).catch((error: unknown) => {
    throw refused(option, messageOf(error));
  });
  const key = parseKey(found, kind !== "env");
  if (key !== undefined) return key;
  throw refused(option, `${source} does not contain 32 bytes as base64 or hexadecimal digits`);
}

async function bytesOf(kind: string, name: string): Promise<Buffer> {
  if (kind === "command") return outputOf(name);
  if (kind === "file") {
    return readStart(name, keyTextMax).catch((error: unknown) => {
      throw new Error(`cannot read ${name} (${messageOf(error)})`);
    });
  }
  const value = environmentVariable(name);
  if (value === undefined || value === "") throw new Error(`the variable ${name} is not set`);
  return Buffer.from(value.slice(0, keyTextMax), "latin1");
}

/** The standard output of a command, which a shell runs: the hook for a key management service. Its
 *  error output is not shown, because it may contain secrets. */
async function outputOf(command: string): Promise<Buffer> {
  const shell = process.platform === "win32" ? ["cmd", "/d", "/s", "/c"] : ["/bin/sh", "-c"];
  const [program = "", ...options] = shell;
  const settings = { timeout: commandMillisecondsMax, maxBuffer: keyTextMax };
  const done = run(program, [...options, command], { encoding: "buffer", ...settings });
  // The error contains the output of the command, so it is not passed on as a cause.
  const outcome = await done.catch((error: unknown) => ({ failure: failureOf(error) }));
  if ("failure" in outcome) throw new Error(outcome.failure);
  return outcome.stdout;
}

function failureOf(error: unknown): string {
  const { code, killed } = error as { readonly code?: unknown; readonly killed?: boolean };
  return killed === true
    ? "the command did not end within 30 s"
    : `the command failed with code ${String(code)}`;
}

function parseKey(bytes: Buffer, mayBeRaw: boolean): Uint8Array | undefined {
  if (mayBeRaw && bytes.length === keyBytes) return new Uint8Array(bytes);
  const text = bytes.toString("latin1").trim();
  if (/^[0-9a-f]{64}$/i.test(text)) return new Uint8Array(Buffer.from(text, "hex"));
  const isBase64 = /^[A-Za-z0-9+/_-]{43}=?$/.test(text);
  return isBase64 ? new Uint8Array(Buffer.from(text, "base64")) : undefined;
}

function refused(option: string, why: string): StartRefused {
  return new StartRefused([`${option}: ${why}`]);
}
