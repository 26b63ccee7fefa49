import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { formatIsoSeconds } from "../../base/dates.ts";
import { ticksPerDay, type Ticks } from "../../base/ticks.ts";
import type { Clock, Log } from "../../base/world.ts";
import { momentOf } from "../../host/world.ts";

/** When certificates expire: for the log, the metrics and `etagere doctor`. */

export type Certificate =
  | { readonly cert: Buffer; readonly key: Buffer }
  | { readonly pfx: Buffer; readonly passphrase: string };

/** When a certificate expires. Undefined if Node.js cannot read it: from a pfx file it is read by
 *  a method that has no documentation. */
export function certificateEnd(certificate: Certificate): Ticks | undefined {
  if ("cert" in certificate) return momentOf(new X509Certificate(certificate.cert).validTo);
  const { context } = createSecureContext(certificate) as {
    readonly context: { getCertificate?(): Buffer | null };
  };
  const bytes = context.getCertificate?.() ?? undefined;
  return bytes && momentOf(new X509Certificate(bytes).validTo);
}

/** A certificate that expires sooner was probably not renewed, because programs that renew
 *  certificates do so weeks before. The rule EtagereCertificate in `deploy/prometheus/alerts.yaml`
 *  has the same limit. */
const warnTicks = 5n * ticksPerDay;

/** Logs that a certificate has expired or soon will: clients reject it from then on, and the server
 *  sees only connections that end. */
export function warnOfEnd(end: Ticks | undefined, { clock, log }: EndLog): void {
  if (end === undefined) return;
  const fields = { expires: formatIsoSeconds(end) };
  if (end <= clock.wall()) log.warn(fields, "certificate has expired; renew it and send SIGHUP");
  else if (end - clock.wall() < warnTicks) {
    log.warn(fields, "certificate expires soon; renew it and send SIGHUP");
  }
}

interface EndLog {
  readonly clock: Clock;
  readonly log: Log;
}
