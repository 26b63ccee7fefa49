import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import type { ServerInfo } from "../../admin/route-table.ts";
import { formatIsoSeconds } from "../../base/dates.ts";
import { ticksPerDay, type Ticks } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";
import { messageOf } from "../../host/refused.ts";
import { latestVersion } from "../../protocol/versions.ts";
import { certificateEnd } from "../../server/https/certificate-end.ts";
import type { Options } from "../../server/options.ts";
import { callAdmin, type ServerAddress } from "../admin-client.ts";
import { ok, problem, warning, type Finding } from "./check-machine.ts";

/** Checks by `etagere doctor` of the server itself: its certificate, its version, its clients and
 *  the release of Node.js. */

/** A certificate that expires sooner gets a warning. */
const expiryTicksMin = 30n * ticksPerDay;

/** Checks whether the certificate can be opened, and when it expires: that of `--cert`, or the one
 *  that `--https` creates in the data folder. */
export async function checkCertificate(
  { cert, key, pwd, https }: Options,
  location: string,
  clock: Clock,
): Promise<Finding[]> {
  const subject = "certificate";
  if (cert === undefined && !https) return [];
  const path = cert ?? join(location, "https", "server.pem");
  const bytes = await readFile(path).catch((error: unknown) => messageOf(error));
  if (typeof bytes === "string") {
    if (cert === undefined) return [ok(subject, "will be created at the first start")];
    return [problem(subject, bytes, "correct --cert, or give the server's user read access")];
  }
  let end: Ticks | undefined;
  try {
    const isPfx = cert !== undefined && key === undefined;
    const secret = key === undefined ? bytes : await readFile(key);
    const found = isPfx ? { pfx: bytes, passphrase: pwd ?? "" } : { cert: bytes, key: secret };
    createSecureContext(found);
    end = certificateEnd(found);
  } catch (error) {
    const advice = "give the key that belongs to the certificate (--key), or the password (--pwd)";
    return [problem(subject, `${path}: ${messageOf(error)}`, advice)];
  }
  if (end === undefined) return [ok(subject, `${path} can be opened`)];
  const names = pwd === undefined ? namesIn(new X509Certificate(bytes)) : "";
  return [describeEnd(`${path}${names}`, end, clock)];
}

function namesIn({ subjectAltName, subject }: X509Certificate): string {
  return `, for ${subjectAltName ?? subject},`;
}

function describeEnd(what: string, end: Ticks, clock: Clock): Finding {
  const subject = "certificate";
  const day = formatIsoSeconds(end);
  const advice = "renew it, replace the files and send SIGHUP to the server";
  if (end < clock.wall()) return problem(subject, `${what} has expired on ${day}`, advice);
  const text = `${what} is valid until ${day}`;
  const isLate = end - clock.wall() < expiryTicksMin;
  return isLate ? warning(subject, text, advice) : ok(subject, text);
}

/** Checks whether a server runs on the data folder, in the version of this command, and with
 *  clients of supported versions. */
export async function checkServer(
  server: ServerAddress | undefined,
  version: string,
): Promise<{ readonly isRunning: boolean; readonly findings: readonly Finding[] }> {
  const subject = "server";
  const none = { isRunning: false, findings: [ok(subject, "none runs on this data folder")] };
  if (server === undefined) return none;
  let info: ServerInfo;
  try {
    info = (await callAdmin(server, { method: "GET", path: "/admin/v1/server" })) as ServerInfo;
  } catch {
    // No response: the server was killed, and could not remove its address from the data folder.
    return none;
  }
  const running = `version ${info.version} at ${info.adminUrl}`;
  const own =
    info.version === version
      ? ok(subject, running)
      : warning(
          subject,
          `${running}, and this command is ${version}`,
          "restart the server with the new version, or use the command of its version",
        );
  return { isRunning: true, findings: [own, ...(info.clients ?? []).map(describeClient)] };
}

/** Clients that send an older x-ms-version get a warning: Azure retires such versions of its
 *  API. */
const oldestUsual = "2018-03-28";

function describeClient({ agent, version, seenAt }: ServerInfo["clients"][number]): Finding {
  const subject = "client";
  const text = `${agent}, x-ms-version ${version ?? "none"}, ${seenAt}`;
  if (version !== undefined && version > latestVersion) {
    const advice =
      `update Etagere: the newest version that it knows is ${latestVersion}. Until then requests ` +
      "are answered as of that version";
    return warning(subject, text, advice);
  }
  if (version !== undefined && version < oldestUsual) {
    return warning(subject, text, "update the client library: Azure retires such old versions");
  }
  return ok(subject, text);
}

/** The oldest supported release of Node.js (`engines` in package.json). */
const nodeMin = [20, 19] as const;

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isEnough = major > nodeMin[0] || (major === nodeMin[0] && minor >= nodeMin[1]);
  return isEnough
    ? ok("Node.js", version)
    : problem("Node.js", version, `install Node.js ${nodeMin.join(".")} or later`);
}
