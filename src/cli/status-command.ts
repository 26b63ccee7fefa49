import { messageOf } from "../server/start-refused.ts";
import { adminTokenOf } from "./admin-token.ts";
import { findServer } from "./find-server.ts";
import { usageError, type Subcommand } from "./subcommand.ts";
import { parseStatusOptions, type StatusOptions } from "./status-options.ts";
import { fetchStatus } from "./status-report.ts";
import { statusTable } from "./status-table.ts";

const columnsDefault = 120;
/** Width of pipes and files, which have none. */
const columnsUnlimited = 10_000;
const watchMilliseconds = 2000;
const clearScreen = "\u001b[2J\u001b[H";

export const statusCommand: Subcommand = {
  name: "status",
  usage: "[--location FOLDER | --url URL] [--tokenFile FILE] [--json] [--watch]",
  summary: "show leases, open files and messages in flight of a server",
  help: [
    "Shows the leases, SMB opens, messages in flight and load of a running server. Without",
    "--location and --url: the server that uses .etagere, or else the one at the default address.",
    "",
    "  -l, --location FOLDER   the server that uses this data folder",
    "      --url URL           address of the admin listener, for example http://127.0.0.1:10010",
    "      --token TOKEN       value of --adminToken; not needed if the data folder is readable",
    "      --tokenFile FILE    file that contains it; or the variable ETAGERE_ADMIN_TOKEN",
    "      --json              print one line of JSON",
    "      --watch             repeat every 2 s until Ctrl-C",
    "",
    "exit code: 0 the status was printed, 1 no server responded",
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
    const problem = `no server uses ${options.location}, or this user may not read that folder`;
    process.stderr.write(`etagere: ${problem}\n`);
    return 1;
  }
  const { url } = found;
  try {
    const token = (await adminTokenOf(options)) ?? found.token;
    if (options.watch) await watch(url, token, options);
    else process.stdout.write(`${await show(url, token, options)}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`etagere: ${describeError(error, url)}\n`);
    return 1;
  }
}

async function show(
  url: string,
  token: string | undefined,
  { json }: StatusOptions,
): Promise<string> {
  const report = await fetchStatus(url, token);
  const { isTTY, columns } = process.stdout;
  const width = isTTY ? (columns ?? columnsDefault) : columnsUnlimited;
  return json ? JSON.stringify(report) : statusTable(report, width);
}

/** Prints the status every 2 s until the process is ended; with `--json` as one line each time. */
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

function describeError(error: unknown, url: string): string {
  if (error instanceof SyntaxError) return `${url} is not an admin listener`;
  const isUnreachable = error instanceof TypeError && error.message === "fetch failed";
  return isUnreachable
    ? `no server responds at ${url}; choose one with --location or --url`
    : `${messageOf(error)}${adviceFor(error)}`;
}

/** The token is in the data folder, or given at the start of the server. */
function adviceFor(error: unknown): string {
  return messageOf(error).endsWith("log in first")
    ? "; name the data folder with --location, or the admin token with --token"
    : "";
}
