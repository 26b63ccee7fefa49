import { X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { ticksPerDay, ticksPerMillisecond, unixEpochTicks } from "../../base/ticks.ts";
import type { Clock, Random } from "../../base/world.ts";
import { makeFolder } from "../make-folder.ts";
import { messageOf, StartRefused, systemErrorCode } from "../start-refused.ts";
import {
  newAuthority,
  newServerCertificate,
  type KeyAndCertificate,
  type SubjectName,
} from "./local-certificates.ts";

/** A server certificate is replaced at a start this long before it expires. */
const renewTicks = 60n * ticksPerDay;
const services = ["blob", "queue", "table", "file", "dfs"];

export interface CertificateFolder {
  /** The data folder. */
  readonly location: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** The certificate that clients must trust. */
export function authorityFile(location: string): string {
  return join(location, "https", "ca.pem");
}

/** The server's certificate in the data folder; creates it and its authority, and renews it. All
 *  files have mode 600. */
export async function localCertificate(
  options: CertificateFolder,
): Promise<{ readonly cert: Buffer; readonly key: Buffer }> {
  try {
    const folder = join(options.location, "https");
    await makeFolder(options.location);
    const authority = (await readAuthority(folder)) ?? (await createAuthority(options, folder));
    const path = join(folder, "server.pem");
    const found = await readText(path);
    const isGood = found !== undefined && (await isUsable(options, found, authority));
    const both = isGood ? found : await createServer(options, authority, path);
    // Certificate and key are in one file, so that a renewal replaces both at once.
    const bytes = Buffer.from(both);
    return { cert: bytes, key: bytes };
  } catch (error) {
    throw new StartRefused([`https: ${messageOf(error)}`], error);
  }
}

async function readAuthority(folder: string): Promise<KeyAndCertificate | undefined> {
  const cert = await readText(join(folder, "ca.pem"));
  const key = await readText(join(folder, "ca-key.pem"));
  return cert !== undefined && key !== undefined ? { cert, key } : undefined;
}

/** Of processes that start at the same time, the first to rename its folder creates it. */
async function createAuthority(
  options: CertificateFolder,
  folder: string,
): Promise<KeyAndCertificate> {
  const made = await newAuthority(options);
  const draft = await mkdtemp(`${folder}-`);
  try {
    await writePrivate(join(draft, "ca.pem"), made.cert);
    await writePrivate(join(draft, "ca-key.pem"), made.key);
    await rename(draft, folder);
    return made;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    const code = systemErrorCode(error);
    const other =
      code === "ENOTEMPTY" || code === "EEXIST" ? await readAuthority(folder) : undefined;
    if (other !== undefined) return other;
    throw error;
  }
}

async function createServer(
  options: CertificateFolder,
  authority: KeyAndCertificate,
  path: string,
): Promise<string> {
  const { cert, key } = await newServerCertificate(options, authority, subjectNames());
  const both = cert + key;
  const suffix = Buffer.from(options.random.bytes(8)).toString("hex");
  await writePrivate(`${path}.${suffix}`, both);
  await rename(`${path}.${suffix}`, path);
  return both;
}

function subjectNames(): readonly SubjectName[] {
  const wildcards = services.map((service) => ({ dns: `*.${service}.localhost` }));
  const own = /^[A-Za-z0-9.-]{1,253}$/.test(hostname()) ? [{ dns: hostname() }] : [];
  const local = [{ dns: "localhost" }, { ip: "127.0.0.1" }, { ip: "::1" }];
  return [...local, ...wildcards, ...own];
}

/** Whether the certificate is of this authority, for this host, and valid for long enough. */
async function isUsable(
  { clock }: CertificateFolder,
  pem: string,
  authority: KeyAndCertificate,
): Promise<boolean> {
  const certificate = new X509Certificate(pem);
  const isOurs = certificate.checkIssued(new X509Certificate(authority.cert));
  const isForHost = certificate.checkHost(hostname()) !== undefined;
  const { default: forge } = await import("node-forge");
  const { notAfter } = forge.pki.certificateFromPem(pem).validity;
  const ends = BigInt(notAfter.getTime()) * ticksPerMillisecond + unixEpochTicks;
  return isOurs && isForHost && ends - clock.wall() > renewTicks;
}

async function writePrivate(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600, flag: "wx", flush: true });
}

/** Undefined if there is no such file. */
async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
