import { createPrivateKey, createPublicKey, generateKeyPair, X509Certificate } from "node:crypto";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { ticksPerDay, ticksPerMillisecond, unixEpochTicks, type Ticks } from "../../base/ticks.ts";
import type { Clock, Random } from "../../base/world.ts";
import { makeFolder, readIfPresent, replaceFile } from "../../host/files.ts";
import { messageOf, StartRefused, systemErrorCode } from "../../host/refused.ts";
import { promisify } from "node:util";
import type { pki } from "node-forge";
import { dateOf } from "../../host/world.ts";

/** The certificates of `--https`: a local authority, which clients must trust, and the certificate
 *  that it signs for the server, both in the data folder. */

/** The certificate of the server is replaced this long before it expires. */
const renewTicks = 60n * ticksPerDay;
/** The certificate of the authority is replaced this long before it expires. Until it expires,
 *  clients with the old one trust the server, too, because the key stays the same. */
const renewAuthorityTicks = 3n * 365n * ticksPerDay;
/** Subdomains of an account's endpoints; `web` is the static website. */
const endpoints = ["blob", "queue", "table", "file", "dfs", "web"];

interface CertificateFolder {
  readonly location: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** The file with the authority's certificate, which clients must trust. */
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
    const found = await readIfPresent(path);
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
    cert: await readIfPresent(join(folder, "ca.pem")),
    key: await readIfPresent(join(folder, "ca-key.pem")),
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

/** Whether the certificate is readable, and was made for this key. */
function isPair(cert: string | undefined, key: string | undefined): boolean {
  try {
    return new X509Certificate(cert ?? "").checkPrivateKey(createPrivateKey(key ?? ""));
  } catch {
    return false;
  }
}

/** The authority, with a new certificate if the present one expires within `renewAuthorityTicks`.
 *  If two processes renew it, either certificate remains: both have the same key and name. */
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

/** Creates the authority in a folder with a temporary name, then renames the folder. If several
 *  processes start at the same time, the first rename succeeds, and all processes use that
 *  authority. */
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

/** Whether the certificate of the server can stay: signed by this authority, for all names of this
 *  machine, and valid for long enough. False if the file is damaged. */
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

async function endOf(pem: string): Promise<Ticks> {
  const { default: forge } = await import("node-forge");
  const { notAfter } = forge.pki.certificateFromPem(pem).validity;
  return BigInt(notAfter.getTime()) * ticksPerMillisecond + unixEpochTicks;
}

async function writePrivate(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600, flag: "wx", flush: true });
}

const newKeyPair = promisify(generateKeyPair);

interface KeyAndCertificate {
  /** The key and the certificate are in PEM format. */
  readonly key: string;
  readonly cert: string;
}

interface CertificateMaker {
  readonly clock: Clock;
  readonly random: Random;
}

const keyBits = 2048;
const serialBytes = 16;
const authorityDays = 3650n;
/** Clients reject server certificates that are valid for more than 398 days. */
const serverDays = 397n;
/** The certificate is valid a day before its creation, because clocks of clients may be behind. */
const earlyDays = 1n;
const organization = "Etagere";

/** Creates a certificate authority with a new key, which only this machine has. */
export async function newAuthority(maker: CertificateMaker): Promise<KeyAndCertificate> {
  const commonName = `Etagere local authority ${serialOf(maker.random).slice(0, 8)}`;
  const pair = await newPair();
  return issue(maker, { ...authority, commonName, pair, signer: undefined });
}

/** A certificate of the same authority with a later expiry. A client that trusts the old or the new
 *  certificate accepts everything that the authority signs. */
async function renewedAuthority(
  maker: CertificateMaker,
  known: KeyAndCertificate,
): Promise<KeyAndCertificate> {
  const { default: forge } = await import("node-forge");
  const name: unknown = forge.pki.certificateFromPem(known.cert).subject.getField("CN")?.value;
  const publicKey = createPublicKey(known.key).export({ type: "spki", format: "pem" }).toString();
  const pair = { privateKey: known.key, publicKey };
  return issue(maker, { ...authority, commonName: String(name), pair, signer: undefined });
}

/** Creates a key and a certificate for the server, signed by the authority `signer`. */
export async function newServerCertificate(
  maker: CertificateMaker,
  signer: KeyAndCertificate,
  names: readonly SubjectName[],
): Promise<KeyAndCertificate> {
  const pair = await newPair();
  return issue(maker, { commonName: "localhost", days: serverDays, pair, signer, names });
}

interface KeyPair {
  readonly privateKey: string;
  readonly publicKey: string;
}

function newPair(): Promise<KeyPair> {
  return newKeyPair("rsa", {
    modulusLength: keyBits,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
}

type SubjectName = { readonly dns: string } | { readonly ip: string };

interface Request {
  readonly commonName: string;
  readonly days: bigint;
  readonly pair: KeyPair;
  /** Undefined for an authority, which signs its own certificate. */
  readonly signer: KeyAndCertificate | undefined;
  /** The names and addresses of the server; undefined for an authority. */
  readonly names: readonly SubjectName[] | undefined;
}

const authority = { days: authorityDays, names: undefined };

async function issue(
  { clock, random }: CertificateMaker,
  { commonName, days, pair, signer, names }: Request,
): Promise<KeyAndCertificate> {
  const { default: forge } = await import("node-forge");
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(pair.publicKey);
  certificate.serialNumber = serialOf(random);
  const now: Ticks = clock.wall();
  certificate.validity.notBefore = dateOf(now - earlyDays * ticksPerDay);
  certificate.validity.notAfter = dateOf(now + (days - earlyDays) * ticksPerDay);
  const subject = [
    { name: "commonName", value: commonName },
    { name: "organizationName", value: organization },
  ];
  certificate.setSubject(subject);
  const parent = signer && forge.pki.certificateFromPem(signer.cert);
  certificate.setIssuer(parent?.subject.attributes ?? subject);
  certificate.setExtensions(
    names === undefined ? authorityExtensions() : serverExtensions(names, parent),
  );
  certificate.sign(
    forge.pki.privateKeyFromPem(signer?.key ?? pair.privateKey),
    forge.md.sha256.create(),
  );
  return { key: pair.privateKey, cert: forge.pki.certificateToPem(certificate) };
}

/** A function, not a constant: node-forge writes the encoded values into the objects. */
function authorityExtensions() {
  return [
    { name: "basicConstraints", cA: true, pathLenConstraint: 0, critical: true },
    { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
    { name: "subjectKeyIdentifier" },
  ];
}

const dnsType = 2;
const ipType = 7;

function serverExtensions(names: readonly SubjectName[], parent: pki.Certificate | undefined) {
  const keyIdentifier = parent?.generateSubjectKeyIdentifier().getBytes();
  return [
    { name: "basicConstraints", cA: false, critical: true },
    { name: "keyUsage", digitalSignature: true, keyEncipherment: true, critical: true },
    { name: "extKeyUsage", serverAuth: true },
    {
      name: "subjectAltName",
      altNames: names.map((one) =>
        "dns" in one ? { type: dnsType, value: one.dns } : { type: ipType, ip: one.ip },
      ),
    },
    { name: "subjectKeyIdentifier" },
    { name: "authorityKeyIdentifier", keyIdentifier },
  ];
}

/** A random serial number, positive as X.509 requires. */
function serialOf(random: Random): string {
  return `01${Buffer.from(random.bytes(serialBytes)).toString("hex")}`;
}
