import { spawn, spawnSync } from "node:child_process";

/** A session of the program `smbclient`, which keeps files open as long as it runs. */
export interface SmbSession {
  /** Its answers come late, if at all: what a command did shows on the server. */
  send(command: string): void;
  end(): void;
}

export function hasSmbClient(): boolean {
  return spawnSync("smbclient", ["--version"], { stdio: "ignore" }).status === 0;
}

export function openSmbSession(smbUrl: string, share: string, login: string): SmbSession {
  const { hostname, port } = new URL(smbUrl);
  const words = [`//${hostname}/${share}`, "-p", port, "-U", login];
  const child = spawn("smbclient", words, { stdio: ["pipe", "ignore", "ignore"] });
  return {
    send: (command) => void child.stdin.write(`${command}\n`),
    end: () => void child.kill(),
  };
}
