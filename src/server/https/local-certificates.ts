import { createPublicKey, generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import type { pki } from "node-forge";
import { ticksPerDay, type Ticks } from "../../base/ticks.ts";
import type { Clock, Random } from "../../base/world.ts";
import { dateOf } from "../world.ts";

const newKeyPair = promisify(generateKeyPair);

export interface KeyAndCertificate {
  /** PEM. */
  readonly key: string;
  readonly cert: string;
}

export interface CertificateMaker {
  readonly clock: Clock;
  readonly random: Random;
}

const keyBits = 2048;
const serialBytes = 16;
const authorityDays = 3650n;
/** Clients reject server certificates that are valid for more than 398 days. */
const serverDays = 397n;
/** Clocks of clients may be behind. */
const earlyDays = 1n;
const organization = "Etagere";

/** A certificate authority of this machine alone. */
export async function newAuthority(maker: CertificateMaker): Promise<KeyAndCertificate> {
  const commonName = `Etagere local authority ${serialOf(maker.random).slice(0, 8)}`;
  const pair = await newPair();
  return issue(maker, { ...authority, commonName, pair, signer: undefined });
}

/** The same authority with a certificate that expires later. Clients that trust either certificate
 *  accept what the authority has signed or will sign. */
export async function renewedAuthority(
  maker: CertificateMaker,
  known: KeyAndCertificate,
): Promise<KeyAndCertificate> {
  const { default: forge } = await import("node-forge");
  const name: unknown = forge.pki.certificateFromPem(known.cert).subject.getField("CN")?.value;
  const publicKey = createPublicKey(known.key).export({ type: "spki", format: "pem" }).toString();
  const pair = { privateKey: known.key, publicKey };
  return issue(maker, { ...authority, commonName: String(name), pair, signer: undefined });
}

/** A certificate for the server, signed by the authority. */
export async function newServerCertificate(
  maker: CertificateMaker,
  signer: KeyAndCertificate,
  names: readonly SubjectName[],
): Promise<KeyAndCertificate> {
  const pair = await newPair();
  return issue(maker, { commonName: "localhost", days: serverDays, pair, signer, names });
}

/** PEM. */
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

export type SubjectName = { readonly dns: string } | { readonly ip: string };

interface Request {
  readonly commonName: string;
  readonly days: bigint;
  readonly pair: KeyPair;
  /** Undefined signs with its own key. */
  readonly signer: KeyAndCertificate | undefined;
  /** Undefined for an authority. */
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

/** New objects each time: the library writes the encoded values into them. */
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

/** Positive, as X.509 requires. */
function serialOf(random: Random): string {
  return `01${Buffer.from(random.bytes(serialBytes)).toString("hex")}`;
}
