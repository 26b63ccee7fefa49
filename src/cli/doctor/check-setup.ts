import { connect, isIP } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Clock } from "../../base/world.ts";
import { messageOf, StartRefused } from "../../host/refused.ts";
import { openConfiguredAccounts } from "../../server/configured-accounts.ts";
import type { Options, ServerOptionInputs } from "../../server/options.ts";
import { readableFiles, risksOf, type Risk } from "../../server/setup-risks.ts";
import { ok, problem, warning, type Finding } from "./check-machine.ts";

/** Checks by `etagere doctor` of what the operator has set up: accounts, files with secrets, and
 *  the machines that receive audit lines and traces. */

/** Checks that accounts and roles can be read, and warns of keys that others may know. `inputs` are
 *  the options as they were given, which name the files of secrets. */
export async function checkAccounts(
  options: Options,
  { adminTokenFile, pwdFile, storeFile }: ServerOptionInputs,
): Promise<readonly Finding[]> {
  const given = [adminTokenFile, pwdFile, storeFile].filter((each) => each !== undefined);
  const files = (await readableFiles(given)).map(describeRisk);
  const read = await openConfiguredAccounts(options).catch((error: unknown) => {
    if (error instanceof StartRefused) return { ok: false as const, problems: error.problems };
    throw error;
  });
  if (!read.ok) {
    const advice = "correct the file of --config; a running server keeps its accounts until then";
    return [...read.problems.map((text) => problem("accounts", text, advice)), ...files];
  }
  const count = read.value.names().length;
  const accounts = ok("accounts", `${count} configured`);
  return [accounts, ...(await risksOf(options, read.value)).map(describeRisk), ...files];
}

function describeRisk({ fields, text, advice }: Risk): Finding {
  const [[subject, names] = ["setup", []]] = Object.entries(fields);
  return warning(subject, `${names.join(", ")}: ${text}`, advice);
}

/** A receiver that accepts no connection for this long counts as unreachable. */
const connectMillisecondsMax = 3000;

interface Receiver {
  readonly option: string;
  readonly address: string;
  readonly finding: typeof problem;
}

/** Checks whether the receivers of audit lines and traces accept connections. Sends nothing. */
export async function checkTargets(
  { auditSyslog, auditWebhook, otlp }: Options,
  clock: Clock,
): Promise<readonly Finding[]> {
  const receivers: readonly (Omit<Receiver, "address"> & { address: string | undefined })[] = [
    { option: "--auditSyslog", address: auditSyslog, finding: problem },
    { option: "--auditWebhook", address: auditWebhook, finding: problem },
    // Traces may be missing while their receiver is away; the audit log is a record.
    { option: "--otlp", address: otlp, finding: warning },
  ];
  const found: Finding[] = [];
  for (const { address, ...each } of receivers) {
    if (address !== undefined) found.push(await checkTarget({ ...each, address }, clock));
  }
  return found;
}

async function checkTarget(receiver: Receiver, clock: Clock): Promise<Finding> {
  const { option, address, finding } = receiver;
  const url = new URL(address);
  // A URL may contain a password.
  const shown = `${url.protocol}//${url.host}`;
  if (url.protocol === "udp:") return ok(option, `${shown}: UDP reports no delivery`);
  const failure = await tryConnection(url, clock);
  if (failure === undefined) return ok(option, `${shown} accepts connections`);
  const advice = "check that the receiver runs, address and port, firewall and its certificate";
  return finding(option, `${shown}: ${failure}`, advice);
}

const ports: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "tcp:": 601,
  "tls:": 6514,
};

/** Returns why no connection was established; undefined if it was. */
function tryConnection(url: URL, clock: Clock): Promise<string | undefined> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port === "" ? ports[url.protocol] : Number(url.port);
  const isSecure = url.protocol === "https:" || url.protocol === "tls:";
  const names = isSecure && !isIP(host) ? { servername: host } : {};
  return new Promise((resolve) => {
    const socket = isSecure
      ? connectTls({ host, port, ...names }, () => end(undefined))
      : connect({ host, port: port ?? 0 }, () => end(undefined));
    const end = (failure: string | undefined): void => {
      cancel();
      socket.destroy();
      resolve(failure);
    };
    const late = `no connection within ${connectMillisecondsMax / 1000} s`;
    const cancel = clock.after(connectMillisecondsMax, () => end(late));
    socket.once("error", (error) => end(messageOf(error)));
  });
}
