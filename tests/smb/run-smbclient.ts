import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { developmentAccountKey, developmentAccountName } from "../../src/account/settings.ts";

const execute = promisify(execFile);
const millisecondsMax = 30_000;
const developmentLogin = `${developmentAccountName}%${developmentAccountKey}`;

export interface SmbPlace {
  readonly smbUrl: string;
  readonly share: string;
  readonly login?: string;
}

/** Output of smbclient, whether the commands succeed or not. */
export async function smbclient(
  { smbUrl, share, login = developmentLogin }: SmbPlace,
  commands: string,
  ...words: readonly string[]
): Promise<string> {
  const { hostname, port } = new URL(smbUrl);
  const place = [`//${hostname}/${share}`, "-p", port, "-U", login];
  return runTool("smbclient", [...place, ...words, "-c", commands]);
}

/** Output of `rpcclient`, which is installed with `smbclient`. */
export async function rpcclient(smbUrl: string, commands: string): Promise<string> {
  const { hostname, port } = new URL(smbUrl);
  return runTool("rpcclient", ["-p", port, "-U", developmentLogin, hostname, "-c", commands]);
}

/** Asynchronous, because the server runs in this process. */
export async function runTool(tool: string, words: readonly string[]): Promise<string> {
  try {
    const { stdout, stderr } = await execute(tool, words, { timeout: millisecondsMax });
    return stdout + stderr;
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    return `${stdout ?? ""}${stderr ?? ""}`;
  }
}
