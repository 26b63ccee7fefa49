import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { ticksPerDay, ticksPerMillisecond, unixEpochTicks, type Ticks } from "../../base/ticks.ts";
import type { Clock, Random } from "../../base/world.ts";
import { makeFolder } from "../make-folder.ts";
import { messageOf, StartRefused, systemErrorCode } from "../start-refused.ts";
import {
  newAuthority,
  newServerCertificate,
  renewedAuthority,
  type KeyAndCertificate,
  type SubjectName,
} from "./local-certificates.ts";

/** A server certificate is replaced at a start this long before it expires. */
const renewTicks = 60n * ticksPerDay;
/** The certificate of the authority is replaced this long before it expires. Until it expires,
 *  clients with the old one trust the server, too, because the key stays the same. */
const renewAuthorityTicks = 3n * 365n * ticksPerDay;
/** The endpoints of an account, with its static website. */
const endpoints = ["blob", "queue", "table", "file", "dfs", "web"];

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

/** The server's certificate in the data folder; creates it and its authority, and renews both. All
 *  files have mode 600. */
export async function localCertificate(
  options: CertificateFolder,
): Promise<{ readonly cert: Buffer; readonly key: Buffer }> {
  try {
    const folder = join(options.location, "https");
    await makeFolder(options.location);
    const known = await readAuthority(folder);
    const authority = known
      ? await currentAuthority(options, folder, known)
      : await createAuthority(options, folder);
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
  const read = async () => ({
    cert: await readText(join(folder, "ca.pem")),
    key: await readText(join(folder, "ca-key.pem")),
  });
  const first = await read();
  const isHalf = (first.cert === undefined) !== (first.key === undefined);
  // Another process may have created the folder between the two reads.
  const { cert, key } = isHalf ? await read() : first;
  if (cert === undefined && key === undefined) return undefined;
  if (isPair(cert, key)) return { cert: cert ?? "", key: key ?? "" };
  const advice = "delete the folder to create another authority, which clients must trust again";
  throw new Error(`ca.pem and ca-key.pem in ${folder} are incomplete or damaged; ${advice}`);
}

/** Whether the certificate is readable and its key is this one. */
function isPair(cert: string | undefined, key: string | undefined): boolean {
  try {
    return new X509Certificate(cert ?? "").checkPrivateKey(createPrivateKey(key ?? ""));
  } catch {
    return false;
  }
}

/** The authority, with a new certificate if the present one expires in a few years. If two
 *  processes renew it, either certificate remains: both have the same key and name. */
async function currentAuthority(
  options: CertificateFolder,
  folder: string,
  known: KeyAndCertificate,
): Promise<KeyAndCertificate> {
  if ((await endOf(known.cert)) - options.clock.wall() > renewAuthorityTicks) return known;
  const renewed = await renewedAuthority(options, known);
  await replaceFile(options, join(folder, "ca.pem"), renewed.cert);
  return renewed;
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
  await replaceFile(options, path, both);
  return both;
}

/** A crash leaves the old file or the new one. */
async function replaceFile(
  { random }: Pick<CertificateFolder, "random">,
  path: string,
  text: string,
): Promise<void> {
  const draft = `${path}.${Buffer.from(random.bytes(8)).toString("hex")}`;
  try {
    await writePrivate(draft, text);
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

function subjectNames(): readonly SubjectName[] {
  const wildcards = endpoints.map((name) => ({ dns: `*.${name}.localhost` }));
  const local = [{ dns: "localhost" }, { ip: "127.0.0.1" }, { ip: "::1" }];
  const own = hostName();
  return [...local, ...wildcards, ...(own === undefined ? [] : [{ dns: own }])];
}

/** The name of the machine; undefined if a certificate cannot contain it, as with an underscore. */
function hostName(): string | undefined {
  return /^[A-Za-z0-9.-]{1,253}$/.test(hostname()) ? hostname() : undefined;
}

/** Whether the certificate is of this authority, for all names, and valid for long enough. Not if
 *  the file is damaged. */
async function isUsable(
  { clock }: CertificateFolder,
  pem: string,
  authority: KeyAndCertificate,
): Promise<boolean> {
  if (!isPair(pem, pem)) return false;
  const certificate = new X509Certificate(pem);
  const isOurs = certificate.checkIssued(new X509Certificate(authority.cert));
  const isForAll = subjectNames().every((name) => isFor(certificate, name));
  return isOurs && isForAll && (await endOf(pem)) - clock.wall() > renewTicks;
}

function isFor(certificate: X509Certificate, name: SubjectName): boolean {
  if ("ip" in name) return certificate.checkIP(name.ip) !== undefined;
  return certificate.checkHost(name.dns.replace("*", "account")) !== undefined;
}

/** The time at which a certificate expires. */
async function endOf(pem: string): Promise<Ticks> {
  const { default: forge } = await import("node-forge");
  const { notAfter } = forge.pki.certificateFromPem(pem).validity;
  return BigInt(notAfter.getTime()) * ticksPerMillisecond + unixEpochTicks;
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
