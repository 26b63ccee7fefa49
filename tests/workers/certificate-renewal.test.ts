import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { connect, type PeerCertificate } from "node:tls";
import { expect, it } from "vitest";
import { ticksPerDay } from "../../src/base/ticks.ts";
import { localCertificate } from "../../src/server/https/certificate-folder.ts";
import { realClock } from "../../src/host/world.ts";
import { simWorld } from "../harness/sim-world.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startWorkers, type WorkerServer } from "./worker-server.ts";

const timeoutMilliseconds = 180_000;
const dayMilliseconds = 24 * 3_600_000;
const connectionsPerCheck = 12;
/** A certificate is valid for 396 days from now, and is renewed 60 days before its end. */
const oldDays = 350n;

/** Writes a certificate that was created long ago, as a server that has run since would have. */
async function ageCertificate(location: string): Promise<void> {
  rmSync(join(location, "https", "server.pem"), { force: true });
  const now = realClock();
  const clock = { ...now, wall: () => now.wall() - oldDays * ticksPerDay };
  await localCertificate({ ...simWorld(Number(now.wall() % 1000n)), clock, location });
}

/** The certificate of a new connection, and the bytes of an open one, which stays usable. */
async function servedAt(url: string, ca: string): Promise<PeerCertificate> {
  const { port } = new URL(url);
  const socket = connect({ host: "127.0.0.1", port: Number(port), ca });
  await once(socket, "secureConnect");
  const certificate = socket.getPeerCertificate();
  socket.destroy();
  return certificate;
}

/** The days that the certificates of all connections are valid for; any worker gets some. */
async function daysLeft(server: WorkerServer, ca: string): Promise<readonly number[]> {
  const urls = Array.from({ length: connectionsPerCheck }, () => server.urlOf("blob"));
  const all = await Promise.all(urls.map((url) => servedAt(url, ca)));
  return all.map(({ valid_to: end }) => (Date.parse(end) - Date.now()) / dayMilliseconds);
}

it(
  "every worker renews a certificate that expires soon, at a start and on SIGHUP",
  async () => {
    const location = temporaryFolder();
    await ageCertificate(location);
    const server = await startWorkers(location, "--silent", "--https");
    const ca = readFileSync(join(location, "https", "ca.pem"), "utf8");
    for (const days of await daysLeft(server, ca)) expect(days).toBeGreaterThan(300);
    await ageCertificate(location);
    const before = new Set((await server.workers()).processes.map(({ pid }) => pid));
    server.child.kill("SIGHUP");
    await server.workersUntil(
      ({ processes }) => processes.filter(({ pid }) => !before.has(pid)).length === 2,
    );
    for (const days of await daysLeft(server, ca)) expect(days).toBeGreaterThan(300);
    expect(readFileSync(join(location, "https", "ca.pem"), "utf8")).toBe(ca);
    expect(await server.end()).toBe(0);
  },
  timeoutMilliseconds,
);
