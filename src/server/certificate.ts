import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { Clock, Random } from "../base/world.ts";
import { localCertificate } from "./https/certificate-folder.ts";
import type { Options } from "./options.ts";
import { messageOf, StartRefused } from "./start-refused.ts";

export type Certificate =
  | { readonly cert: Buffer; readonly key: Buffer }
  | { readonly pfx: Buffer; readonly passphrase: string };

export interface CertificateOptions {
  readonly options: Options;
  /** Undefined stores everything in memory. */
  readonly location: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

/** Reads the certificate of `--cert` or `--https`; undefined without one, then HTTP is served. */
export async function readCertificate(given: CertificateOptions): Promise<Certificate | undefined> {
  const { options, location, clock, random } = given;
  const { cert, key, pwd, https } = options;
  if (https && location !== undefined) return localCertificate({ location, clock, random });
  if (cert === undefined) return undefined;
  const certificate =
    key === undefined
      ? { pfx: await read("cert", cert), passphrase: pwd ?? "" }
      : { cert: await read("cert", cert), key: await read("key", key) };
  try {
    // Checks the certificate at start, where the error can name the file, not at the first
    // handshake.
    createSecureContext(certificate);
  } catch (error) {
    throw new StartRefused([`cert: ${cert} cannot be used: ${messageOf(error)}`], error);
  }
  return certificate;
}

async function read(name: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new StartRefused([`${name}: cannot be read: ${messageOf(error)}`], error);
  }
}
