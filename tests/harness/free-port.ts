import { randomInt } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";

const firstPort = 20_000;
const ephemeralPortDefault = 32_768;
const triesMax = 100;

/**
 * A free port below those that the system chooses for port 0. Another process that asks for port 0
 * cannot get it, neither before it is bound nor while its server restarts.
 */
export async function freePort(): Promise<number> {
  const end = Math.max(firstPort + 1000, ephemeralPortMin());
  for (let tries = 0; tries < triesMax; tries += 1) {
    const port = randomInt(firstPort, end);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port from ${firstPort} to ${end} in ${triesMax} tries`);
}

/** The first port that the system chooses for port 0. */
function ephemeralPortMin(): number {
  try {
    const range = readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8");
    return Number.parseInt(range, 10);
  } catch {
    return ephemeralPortDefault;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
