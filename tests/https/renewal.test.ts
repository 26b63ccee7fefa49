import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { ticksPerMillisecond } from "../../src/base/ticks.ts";
import type { Clock } from "../../src/base/world.ts";
import type { StartOptions } from "../../src/index.ts";
import {
  certificateCheckMilliseconds,
  ServedCertificate,
} from "../../src/server/https/served-certificate.ts";
import { resolveOptions } from "../../src/server/options.ts";
import { simWorld, type SimWorld } from "../harness/sim-world.ts";
import { startWith, type EtagereServer } from "../../src/server/start.ts";
import { realClock } from "../../src/host/world.ts";
import { freePorts } from "../harness/server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { makeCertificate } from "./certificate.ts";

/** Certificates are renewed in the last 60 of their 397 days, which begin one day early. */
const daysUntilRenewal = 336;
const dayMilliseconds = 24 * 3_600_000;
/** Longer than a renewal takes on a busy machine: an idle connection must not end meanwhile. */
const idleSeconds = 600;

function optionsOf(input: StartOptions) {
  const resolved = resolveOptions({ ...freePorts, noSmb: true, ...input });
  if (!resolved.ok) throw new Error(resolved.problems.join("\n"));
  return resolved.value;
}

/** A real clock of which a test can skip days: the timers of 12 hours or longer run then. A server
 *  has too many short timers to run them all. */
function skippingClock(): Clock & { skip(milliseconds: number): void } {
  const real = realClock();
  const long = new Set<() => void>();
  let skipped = 0n;
  return {
    ...real,
    wall: () => real.wall() + skipped,
    after: (milliseconds, run) => {
      if (milliseconds < certificateCheckMilliseconds) return real.after(milliseconds, run);
      long.add(run);
      return () => void long.delete(run);
    },
    skip: (milliseconds) => {
      skipped += BigInt(milliseconds) * ticksPerMillisecond;
      const due = [...long];
      long.clear();
      for (const run of due) run();
    },
  };
}

/** Resolves when this message is logged the next time. */
function logged({ log }: SimWorld, message: string): Promise<void> {
  return new Promise((resolve) => {
    for (const level of ["info", "error"] as const) {
      const write = log[level];
      log[level] = (fields, text) => {
        write(fields, text);
        if (text === message) resolve();
      };
    }
  });
}

/** The certificate that a new connection gets. */
async function servedAt(url: string): Promise<string> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

/** The number of the socket that served a request, and its certificate. */
function ask(url: string, agent: Agent): Promise<readonly [status: number, port: number]> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/devstoreaccount1?comp=list`, { agent }, (response) => {
      const { localPort = 0 } = response.socket as TLSSocket;
      response.resume();
      response.on("end", () => resolve([response.statusCode ?? 0, localPort]));
    });
    sent.on("error", reject);
    sent.end();
  });
}

const urlsOf = ({ urls, adminUrl }: EtagereServer): readonly string[] => [
  ...Object.values(urls),
  adminUrl.replace("http:", "https:"),
];

describe("a certificate is replaced without a restart", () => {
  it("--https: before it expires, on all listeners, and open connections stay", async () => {
    const world = simWorld(1);
    const location = temporaryFolder();
    const options = optionsOf({ location, https: true, blobKeepAliveTimeout: idleSeconds });
    const clock = skippingClock();
    const replaced = logged(world, "certificate replaced");
    await using server = await startWith(options, { ...world, clock, announce: () => {} });
    const all = urlsOf(server);
    expect(all).toHaveLength(6);
    const before = await Promise.all(all.map(servedAt));
    expect(new Set(before).size).toBe(1);
    const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
    const [status, port] = await ask(server.urls.blob ?? "", agent);
    expect(status).toBe(404);
    clock.skip(daysUntilRenewal * dayMilliseconds);
    await replaced;
    const after = await Promise.all(all.map(servedAt));
    expect(new Set(after).size).toBe(1);
    expect(after[0]).not.toBe(before[0]);
    const ca = new X509Certificate(readFileSync(join(location, "https", "ca.pem")));
    const served = new X509Certificate(readFileSync(join(location, "https", "server.pem")));
    expect(served.fingerprint256).toBe(after[0]);
    expect(served.verify(ca.publicKey)).toBe(true);
    expect(await ask(server.urls.blob ?? "", agent)).toEqual([404, port]);
    agent.destroy();
  });

  it("--cert: by a reload, unless the new one cannot be used", async () => {
    const [first, second] = [makeCertificate(), makeCertificate()];
    const world = simWorld(1);
    const { cert, key } = first;
    const options = optionsOf({ cert, key, inMemoryPersistence: true });
    await using server = await startWith(options, { ...world, announce: () => {} });
    const url = server.urls.queue ?? "";
    const present = await servedAt(url);
    // The key is missing still: the files do not fit together.
    copyFileSync(second.cert, cert);
    await server.reload();
    expect(await servedAt(url)).toBe(present);
    expect(world.log.lines.filter(({ level }) => level === "error")).toHaveLength(1);
    copyFileSync(second.key, key);
    await server.reload();
    expect(await servedAt(url)).toBe(new X509Certificate(second.ca).fingerprint256);
    writeFileSync(cert, "");
    await server.reload();
    expect(await servedAt(url)).toBe(new X509Certificate(second.ca).fingerprint256);
  });
});

it("processes on one folder serve the certificate that one of them has renewed", async () => {
  const location = temporaryFolder();
  const options = optionsOf({ location, https: true });
  const worlds = [simWorld(1), simWorld(2)];
  const served: Buffer[] = [];
  const certificates = [];
  for (const [at, world] of worlds.entries()) {
    const opened = await ServedCertificate.open({ ...world, location, options });
    opened?.use((next) => void (served[at] = "cert" in next ? next.cert : next.pfx));
    certificates.push(opened);
  }
  const [old] = served;
  expect(served[1]).toEqual(old);
  for (const [at, world] of worlds.entries()) {
    const replaced = logged(world, "certificate replaced");
    world.clock.advance(daysUntilRenewal * dayMilliseconds);
    await replaced;
    expect(served[at]).not.toEqual(old);
  }
  expect(served[1]).toEqual(served[0]);
  // Nothing more to do: the next check changes nothing.
  worlds[0]?.clock.advance(certificateCheckMilliseconds);
  await certificates[0]?.reload();
  expect(served[1]).toEqual(served[0]);
  for (const certificate of certificates) certificate?.close();
});
