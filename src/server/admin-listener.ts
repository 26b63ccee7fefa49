import { pid } from "node:process";
import { reachable } from "../admin/connection-string.ts";
import { isLoopback } from "../admin/security/same-origin.ts";
import { openAdmin, type AdminParts } from "./admin.ts";
import { publishAdminAddress } from "./admin-address.ts";
import { newAdminToken, warnOfExposure } from "./admin-warnings.ts";
import { authorityFile } from "./https/certificate-folder.ts";
import type { ServedCertificate } from "./https/served-certificate.ts";
import type { BoundAddress, Listener, ListenerOptions } from "./listener.ts";

export interface AdminListenerOptions extends Omit<AdminParts, "localToken"> {
  readonly certificate: ServedCertificate | undefined;
  readonly onPortReplaced: ListenerOptions["onPortReplaced"];
  readonly listen: (
    options: Omit<ListenerOptions, "clock" | "connections" | "beforeListen">,
  ) => Promise<Listener>;
}

/** The admin listener while it is open. */
export interface AdminListener {
  readonly url: string;
  readonly address: BoundAddress;
  /** URL of the explorer, with a one-time login token if a login is required. */
  explorerLink(): string;
  /** Ends the event streams and removes `admin.json`. The listener is stopped with the others. */
  close(): Promise<void>;
}

const keepAliveSeconds = 5;

export async function listenAdmin(parts: AdminListenerOptions): Promise<AdminListener> {
  const { given, certificate, onPortReplaced } = parts;
  const { options, location, random, announce } = given;
  const { adminHost: host, adminPort: port } = options;
  warnOfExposure({ ...given, isEncrypted: certificate !== undefined });
  const localToken = location === undefined ? undefined : newAdminToken(random);
  const admin = openAdmin({ ...parts, localToken });
  const { url, address } = await parts.listen({
    title: "Admin listener",
    host,
    port,
    onPortReplaced,
    keepAliveSeconds,
    certificate,
    // Browsers do not trust the certificate of `--https`.
    acceptsHttp: isLoopback(host),
    handler: admin.handle,
  });
  const unpublish = await publish(parts, url, localToken);
  const explorerLink = (): string => `${reachable(url)}/${admin.loginFragment() ?? ""}`;
  announce(`Etagere admin is successfully listening at ${url}`);
  announce(`Etagere explorer: open ${explorerLink()}`);
  if (options.https && location !== undefined) {
    const advice = 'clients trust it with the variables of "etagere env", others: docs/IDENTITY.md';
    announce(`Etagere certificate authority: ${authorityFile(location)} (${advice})`);
  }
  return {
    url,
    address,
    explorerLink,
    async close() {
      admin.close();
      await unpublish();
    },
  };
}

/** Writes `admin.json`; returns a function that removes it. */
async function publish(
  { given }: AdminListenerOptions,
  url: string,
  token: string | undefined,
): Promise<() => Promise<void>> {
  const { location, log } = given;
  const nothing = async (): Promise<void> => {};
  if (location === undefined || token === undefined) return nothing;
  // For example on a full disk. The server works without it.
  return publishAdminAddress(location, { url: reachable(url), pid, token }).catch(
    (error: unknown) => {
      log.warn({ err: error }, "admin.json not written; etagere status needs --url");
      return nothing;
    },
  );
}
