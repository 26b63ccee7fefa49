import { memoByObject } from "../../process/memo.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Clock, Log, Random } from "../../base/world.ts";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { certificateEnd, warnOfEnd, type Certificate } from "./certificate-end.ts";
import { localCertificate } from "./certificate-folder.ts";
import type { Options } from "../options.ts";
import { messageOf, StartRefused } from "../../host/refused.ts";

/** Reads the certificate of the HTTPS listeners, and replaces it while the server runs. */

/** Where the certificate of the HTTPS listeners comes from: `--cert`, or the data folder with
 *  `--https`. */
interface CertificateOptions {
  readonly options: Options;
  /** The data folder. Undefined stores everything in memory. */
  readonly location: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

/** Reads the certificate of `--cert` or `--https`; undefined without one, then HTTP is served. */
async function readCertificate(given: CertificateOptions): Promise<Certificate | undefined> {
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

/** Time between two checks whether the certificate of `--https` must be renewed, or was renewed by
 *  another process on the data folder. Much shorter than the time for which a certificate is still
 *  valid when it is renewed. */
export const certificateCheckMilliseconds = 12 * 3600 * 1000;

interface ServedCertificateOptions extends CertificateOptions {
  readonly log: Log;
  /** Of several workers the main one logs when the certificate expires. */
  readonly worker?: { readonly isMain: boolean } | undefined;
}

/** For each read of the metrics; reading the end of a PFX decrypts it. */
const endOf = memoByObject(certificateEnd);

/** The certificate of all listeners of a process. A new one is used for new connections; those that
 *  are open keep theirs. */
export class ServedCertificate {
  readonly #given: ServedCertificateOptions;
  readonly #users: ((certificate: Certificate) => void)[] = [];
  #current: Certificate;
  #reloading: Promise<void> = Promise.resolve();
  #cancelCheck = (): void => {};
  #isClosed = false;

  private constructor(given: ServedCertificateOptions, first: Certificate) {
    this.#given = given;
    this.#current = first;
    this.#warnOfEnd();
    this.#checkLater();
  }

  /** Opens the certificate. Undefined if the server uses HTTP. Throws `StartRefused` if the
   *  certificate cannot be used. */
  static async open(given: ServedCertificateOptions): Promise<ServedCertificate | undefined> {
    const first = await readCertificate(given);
    return first && new ServedCertificate(given, first);
  }

  /** Calls `use`, by which a listener takes a certificate, with the present and each later one. */
  use(use: (certificate: Certificate) => void): void {
    this.#users.push(use);
    use(this.#current);
  }

  /** When the present certificate expires; undefined if that is unknown. */
  get end(): Ticks | undefined {
    return endOf(this.#current);
  }

  /** Reads the files again and renews the certificate of `--https` if it expires soon. If the new
   *  certificate cannot be used, the present one stays. */
  reload(): Promise<void> {
    this.#reloading = this.#reloading.then(() => this.#reload());
    return this.#reloading;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelCheck();
  }

  async #reload(): Promise<void> {
    const { log } = this.#given;
    try {
      const next = await readCertificate(this.#given);
      const isNew = next !== undefined && !bytesOf(next).equals(bytesOf(this.#current));
      if (isNew) {
        for (const use of this.#users) use(next);
        this.#current = next;
        log.info({}, "certificate replaced");
      }
      this.#warnOfEnd();
    } catch (error) {
      log.error({ err: error }, "certificate not replaced; correct the files and send SIGHUP");
    }
  }

  #warnOfEnd(): void {
    if (this.#given.worker?.isMain !== false) warnOfEnd(this.end, this.#given);
  }

  /** Files of `--cert` are read at a start and on SIGHUP only: they may be incomplete at any other
   *  time. */
  #checkLater(): void {
    const { clock, options } = this.#given;
    if (!options.https || this.#isClosed) return;
    this.#cancelCheck = clock.after(certificateCheckMilliseconds, () => {
      void this.reload().finally(() => this.#checkLater());
    });
  }
}

function bytesOf(certificate: Certificate): Buffer {
  if ("pfx" in certificate) return certificate.pfx;
  return Buffer.concat([certificate.cert, certificate.key]);
}
