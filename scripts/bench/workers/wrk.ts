import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { developmentAccountName } from "../../../src/account/settings.ts";
import { accountSas, version } from "../target.ts";

/** A load of small requests on the blobs of one container. */
export interface Load {
  readonly name: string;
  /** Writes per ten requests; the others read one of the stored blobs. */
  readonly writesOfTen: number;
}

export interface LoadResult {
  readonly perSecond: number;
  /** CPU microseconds of the generator per request. */
  readonly generatorMicroseconds: number;
  /** The part in the program itself. The rest is the kernel's: sending over the loopback interface
   *  includes delivery to the socket of the server. */
  readonly generatorUserMicroseconds: number;
}

export const loads: readonly Load[] = [
  { name: "get 1 KiB", writesOfTen: 0 },
  { name: "put 1 KiB", writesOfTen: 10 },
  { name: "80 % get, 20 % put", writesOfTen: 2 },
];
export const container = "workers";
export const storedBlobs = 1000;
export const bodyBytes = 1024;

/** Lua program of wrk. Texts are built beforehand: a request costs one concatenation. */
function programOf({ writesOfTen }: Load, port: number): string {
  const path = `/${developmentAccountName}/${container}/`;
  const lines = [`?${accountSas} HTTP/1.1`, `Host: 127.0.0.1:${port}`, `x-ms-version: ${version}`];
  const common = lines.map((line) => `${line}\\r\\n`).join("");
  const body = `Content-Length: ${bodyBytes}\\r\\n`;
  const written = `${common}x-ms-blob-type: BlockBlob\\r\\n${body}\\r\\n`;
  return `
local count, unique = 0, 0
local getHead, getTail = "GET ${path}o", "${common}\\r\\n"
local putHead, putTail = "PUT ${path}", "${written}" .. string.rep("x", ${bodyBytes})
function init() math.randomseed(os.time()); unique = math.random(1000000000) .. "-" end
function request()
  count = count + 1
  if count % 10 < ${writesOfTen} then return putHead .. unique .. count .. putTail end
  return getHead .. (count % ${storedBlobs}) .. getTail
end
`;
}

export interface WrkOptions {
  readonly folder: string;
  readonly port: number;
  readonly seconds: number;
  readonly connections: number;
}

/** Runs the load with one thread of wrk. Rejects if a request fails. */
export async function runWrk(load: Load, options: WrkOptions): Promise<LoadResult> {
  const { folder, port, seconds, connections } = options;
  const program = join(folder, "load.lua");
  writeFileSync(program, programOf(load, port));
  const words = ["-t1", `-c${connections}`, `-d${seconds}s`, "-s", program];
  const before = childrenCpu();
  const text = await outputOf("wrk", [...words, `http://127.0.0.1:${port}`]);
  const requests = Number(/(\d+) requests in/.exec(text)?.[1] ?? 0);
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1] ?? 0);
  if (requests === 0 || /Non-2xx|Socket errors/.test(text)) throw new Error(`wrk: ${text}`);
  const after = childrenCpu();
  const user = ((after.userSeconds - before.userSeconds) / requests) * 1e6;
  const system = ((after.systemSeconds - before.systemSeconds) / requests) * 1e6;
  return { perSecond, generatorMicroseconds: user + system, generatorUserMicroseconds: user };
}

/** The standard output of a program, once it has ended. */
export function outputOf(program: string, words: readonly string[]): Promise<string> {
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once("error", (error) =>
      reject(
        new Error(`${program} is missing: apt-get install wrk nghttp2-client`, { cause: error }),
      ),
    );
    child.once("close", () => resolve(text));
  });
}

/** Kernel clock ticks per second (USER_HZ), 100 on every Linux that Node supports. */
const ticksPerSecond = 100;

/** CPU time of the programs that this process has started and that have ended. */
function childrenCpu(): { readonly userSeconds: number; readonly systemSeconds: number } {
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(") ") + 2).split(" ");
  const seconds = (field: number): number => Number(fields[field]) / ticksPerSecond;
  return { userSeconds: seconds(13), systemSeconds: seconds(14) };
}
