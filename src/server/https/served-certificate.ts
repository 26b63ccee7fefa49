import type { Log } from "../../base/world.ts";
import { readCertificate, type Certificate, type CertificateOptions } from "../certificate.ts";

/** Time between two checks whether the certificate of `--https` must be renewed, or was renewed by
 *  another process on the data folder. Much shorter than the time for which a certificate is still
 *  valid when it is renewed. */
export const certificateCheckMilliseconds = 12 * 3600 * 1000;

export interface ServedCertificateOptions extends CertificateOptions {
  readonly log: Log;
}

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
    this.#checkLater();
  }

  /** Undefined if HTTP is served. Throws `StartRefused` if the certificate cannot be used. */
  static async open(given: ServedCertificateOptions): Promise<ServedCertificate | undefined> {
    const first = await readCertificate(given);
    return first && new ServedCertificate(given, first);
  }

  /** Calls `use` with the present certificate, and with each later one. */
  use(use: (certificate: Certificate) => void): void {
    this.#users.push(use);
    use(this.#current);
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
      if (next === undefined || isSame(next, this.#current)) return;
      for (const use of this.#users) use(next);
      this.#current = next;
      log.info({}, "certificate replaced");
    } catch (error) {
      log.error({ err: error }, "certificate not replaced; correct the files and send SIGHUP");
    }
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

function isSame(left: Certificate, right: Certificate): boolean {
  return bytesOf(left).equals(bytesOf(right));
}

function bytesOf(certificate: Certificate): Buffer {
  if ("pfx" in certificate) return certificate.pfx;
  return Buffer.concat([certificate.cert, certificate.key]);
}
