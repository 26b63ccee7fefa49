import { spawn, type ChildProcess } from "node:child_process";
import { readStart } from "./files.ts";
import { messageOf, StartRefused } from "./refused.ts";
import type { Clock } from "../base/world.ts";
import { environmentVariable, realClock } from "./world.ts";

/** Reads the master key, with which an encrypted store protects its data keys, from where the
 *  operator has put it. */

/** The form of `--encryption`, which names the source of the master key: `file:PATH`, `env:NAME` or
 *  `command:COMMAND`. */
export const masterKeySource = /^(file|env|command):(.+)$/s;

const keyBytes = 32;
const keyTextMax = 1024;
const commandSecondsMax = 30;
/** Most bytes of a command's error output that a message quotes: its end, where the reason is. */
const errorBytesMax = 500;

/** Reads the master key: 32 bytes as base64 or hexadecimal digits, from a file or a command also as
 *  they are. No message contains it. `option` is the one that messages name. */
export async function readMasterKey(
  source: string,
  option = "--encryption",
  clock: Pick<Clock, "after"> = realClock(),
): Promise<Uint8Array> {
  const [, kind, name = ""] = masterKeySource.exec(source) ?? [];
  if (kind === undefined) {
    throw refused(option, `must be file:PATH, env:NAME or command:COMMAND, got "${source}"`);
  }
  const found = await bytesOf(kind, name, clock).catch((error: unknown) => {
    throw refused(option, messageOf(error));
  });
  const key = parseKey(found, kind !== "env");
  if (key !== undefined) return key;
  throw refused(option, `${source} does not contain 32 bytes as base64 or hexadecimal digits`);
}

async function bytesOf(kind: string, name: string, clock: Pick<Clock, "after">): Promise<Buffer> {
  if (kind === "command") return outputOf(name, clock);
  if (kind === "file") {
    return readStart(name, keyTextMax).catch((error: unknown) => {
      throw new Error(`cannot read ${name} (${messageOf(error)})`);
    });
  }
  const value = environmentVariable(name);
  if (value === undefined || value === "") throw new Error(`the variable ${name} is not set`);
  return Buffer.from(value.slice(0, keyTextMax), "latin1");
}

/** The standard output of a command, which a shell runs: the hook for a key management service. A
 *  failure is reported with the end of its error output, which says why; the key is on the
 *  standard output. */
function outputOf(command: string, clock: Pick<Clock, "after">): Promise<Buffer> {
  const shell = process.platform === "win32" ? ["cmd", "/d", "/s", "/c"] : ["/bin/sh", "-c"];
  const [program = "", ...options] = shell;
  return new Promise((resolve, reject) => {
    // Without free file descriptors it has no streams.
    const child: ChildProcess = spawn(program, [...options, command], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [output, errors]: [Buffer[], Buffer[]] = [[], []];
    let outputBytes = 0;
    const end = (failure: string | undefined): void => {
      cancel();
      // Programs that the shell has started may live on, and must not keep this process running.
      for (const stream of [child.stdout, child.stderr]) stream?.destroy();
      if (failure === undefined) return resolve(Buffer.concat(output));
      child.kill("SIGKILL");
      child.unref();
      reject(new Error(`${failure}${quoted(Buffer.concat(errors))}`));
    };
    const expire = (): void => end(`the command did not end within ${commandSecondsMax} s`);
    const cancel = clock.after(commandSecondsMax * 1000, expire);
    child.once("error", (error) => end(`the command did not start: ${error.message}`));
    child.stdout?.on("data", (chunk: Buffer) => {
      output.push(chunk);
      outputBytes += chunk.length;
      if (outputBytes > keyTextMax) end(`the command printed more than ${keyTextMax} bytes`);
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      errors.push(chunk);
      errors.splice(0, errors.length, Buffer.concat(errors).subarray(-errorBytesMax));
    });
    child.once("close", (code, signal) => {
      if (code === 0) return end(undefined);
      const how = signal === null ? `failed with code ${code}` : `was ended by ${signal}`;
      end(`the command ${how}`);
    });
  });
}

/** The error output of a command as one line at the end of a message, without control characters,
 *  because messages are printed on terminals. */
function quoted(errors: Buffer): string {
  const text = errors.toString("utf8").replaceAll(/[\s\p{C}]+/gu, " ");
  return text.trim() === "" ? "" : `: ${text.trim()}`;
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
