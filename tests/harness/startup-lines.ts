import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

export interface StartupLine {
  /** `blob`, `queue`, `table`, `file`, `smb` or `admin`. */
  readonly service: string;
  readonly url: string;
}

/** Parses lines such as `Azurite Blob service is successfully listening at http://127.0.0.1:1`. */
export function parseStartupLine(line: string): StartupLine | undefined {
  const match = /^\w+ (\w+)(?: service| endpoint)? is successfully listening at (\S+)$/.exec(line);
  if (match === null) return undefined;
  const [, name = "", url = ""] = match;
  return { service: name.toLowerCase(), url };
}

/** Resolves with the URLs by service after the admin line, which is the last of a start. */
export async function awaitUrls(
  child: ChildProcess,
  onLine: (line: string) => void = () => {},
): Promise<ReadonlyMap<string, string>> {
  const { stdout } = child;
  if (stdout === null) throw new Error("the child process has no standard output");
  const urls = new Map<string, string>();
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: stdout })
      .on("line", (line) => {
        onLine(line);
        const started = parseStartupLine(line);
        if (started === undefined) return;
        urls.set(started.service, started.url);
        if (started.service === "admin") resolve();
      })
      .on("close", () => reject(new Error("the server ended before it listened")));
  });
  return urls;
}
