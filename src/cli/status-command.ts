import { readAdminAddress } from "../server/admin-address.ts";
import { defaultLocation, flagDefaults } from "../server/flags.ts";
import { messageOf } from "../server/start-refused.ts";
import { usageError, type Subcommand } from "./subcommand.ts";
import { parseStatusOptions, type StatusOptions } from "./status-options.ts";
import { askStatus } from "./status-report.ts";
import { statusTable } from "./status-table.ts";

const columnsStandard = 120;
/** What reads the output of a program has no width. */
const columnsUnlimited = 10_000;
const watchMilliseconds = 2000;
const clearScreen = "\u001b[2J\u001b[H";

export const statusCommand: Subcommand = {
  name: "status",
  usage: "[--location FOLDER | --url URL] [--token TOKEN] [--json] [--watch]",
  summary: "who holds what, and how the server is",
  help: [
    "Asks a running server for its leases, SMB opens, messages in flight and figures. Without",
    "--location and --url: the server that uses .etagere, or else the one at the usual address.",
    "",
    "  -l, --location FOLDER   the server that uses this data folder",
    "      --url URL           the server whose admin listener is here: http://127.0.0.1:10010",
    "      --token TOKEN       its --adminToken; or in the variable ETAGERE_ADMIN_TOKEN; with a",
    "                          readable data folder it is not needed",
    "      --json              for scripts, in one line",
    "      --watch             every two seconds, until Ctrl-C",
    "",
    "exit code: 0, or 1 if no server answers",
    "example:   etagere status --watch",
  ],
  run: status,
};

async function status(words: readonly string[]): Promise<number> {
  const options = parseStatusOptions(words);
  if ("problem" in options) {
    process.stderr.write(usageError(statusCommand, options.problem));
    return 1;
  }
  const found = options.url === undefined ? await findServer(options.location) : options;
  if (found?.url === undefined) {
    process.stderr.write(`etagere: no server uses ${options.location}\n`);
    return 1;
  }
  const { url } = found;
  const token = options.token ?? process.env["ETAGERE_ADMIN_TOKEN"] ?? found.token;
  try {
    if (options.watch) await watch(url, token, options);
    else process.stdout.write(`${await show(url, token, options)}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`etagere: ${reason(error, url)}\n`);
    return 1;
  }
}

/** The server that uses the location; if none was named, also the one at the usual place. */
async function findServer(location: string | undefined): Promise<Found | undefined> {
  const found = await readAdminAddress(location ?? defaultLocation);
  if (found !== undefined || location !== undefined) return found;
  return { url: `http://${flagDefaults.adminHost}:${flagDefaults.adminPort}` };
}

interface Found {
  readonly url: string;
  /** The server's own, from its data folder. */
  readonly token?: string | undefined;
}

async function show(
  url: string,
  token: string | undefined,
  { json }: StatusOptions,
): Promise<string> {
  const report = await askStatus(url, token);
  const { isTTY, columns } = process.stdout;
  const width = isTTY ? (columns ?? columnsStandard) : columnsUnlimited;
  return json ? JSON.stringify(report) : statusTable(report, width);
}

/** Until somebody ends the program. In JSON, a line each time. */
async function watch(
  url: string,
  token: string | undefined,
  options: StatusOptions,
): Promise<never> {
  for (;;) {
    const text = await show(url, token, options);
    process.stdout.write(options.json ? `${text}\n` : `${clearScreen}${text}\n`);
    await new Promise((resolve) => setTimeout(resolve, watchMilliseconds));
  }
}

function reason(error: unknown, url: string): string {
  if (error instanceof SyntaxError) return `what answers at ${url} is no admin listener`;
  const isUnreachable = error instanceof TypeError && error.message === "fetch failed";
  return isUnreachable
    ? `no server answers at ${url}; --location or --url say which one is meant`
    : messageOf(error);
}
