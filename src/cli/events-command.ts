import { readFile } from "node:fs/promises";
import { adminHeader } from "../admin/security/admin-auth.ts";
import { messageOf } from "../host/start-refused.ts";
import {
  adminTokenOf,
  callAdmin,
  findServer,
  messageIn,
  type ServerAddress,
} from "./admin-client.ts";
import { parseCliArguments } from "./parse-cli-arguments.ts";
import { usageError, type Subcommand } from "./subcommand.ts";

export const eventsCommand: Subcommand = {
  name: "events",
  usage: "list|show|create|delete|tail [ACCOUNT] [NAME] [--location FOLDER | --url URL]",
  summary: "subscribe queues and webhooks to the changes of an account",
  help: [
    "Manages the event subscriptions of a running server. Those of --config are only listed.",
    "",
    "  list [ACCOUNT]           subscriptions with their backlog and counts",
    "  show ACCOUNT NAME        one subscription with its latest failures",
    "  create ACCOUNT NAME      with --queue, --webhook or --file; replaces one of the same name",
    "  pause ACCOUNT NAME       events wait in the log until it is resumed",
    "  resume ACCOUNT NAME      deliver what has waited, and what follows",
    "  delete ACCOUNT NAME      events that are not delivered yet are lost",
    "  tail ACCOUNT             print the events of the log as lines of JSON until Ctrl-C",
    "",
    "  -l, --location FOLDER    the server that uses this data folder (.etagere)",
    "      --url URL            address of the admin listener, for example http://127.0.0.1:10010",
    "      --tokenFile FILE     file with the admin token, or the variable ETAGERE_ADMIN_TOKEN;",
    "                           not needed if the data folder is readable",
    "      --queue NAME         create: a queue of the account",
    "      --webhook URL        create: begins with an URL of --eventWebhooks of the server",
    "      --cloudEvents        create: send CloudEvents 1.0 instead of the schema of Event Grid",
    "      --secretFile FILE    create: file with the secret that requests are signed with",
    "      --types A,B          create: types such as Microsoft.Storage.BlobCreated, or All",
    "      --begins TEXT, --ends TEXT   create: begin and end of the subjects",
    "      --deadLetter NAME    create: container for events that cannot be delivered",
    "      --file FILE          create: all fields as JSON (docs/ADMIN.md), - for standard input",
    "      --after ID           tail: begin after this event; 0-0: with the oldest one",
    "      --json               print JSON",
    "",
    "exit code: 0 done, 1 not done",
    "example:   etagere events create devstoreaccount1 to-queue --queue events",
  ],
  run: runEventsCommand,
};

const options = {
  url: { type: "string" },
  location: { type: "string", short: "l" },
  tokenFile: { type: "string" },
  queue: { type: "string" },
  webhook: { type: "string" },
  cloudEvents: { type: "boolean" },
  secretFile: { type: "string" },
  types: { type: "string" },
  begins: { type: "string" },
  ends: { type: "string" },
  deadLetter: { type: "string" },
  file: { type: "string" },
  after: { type: "string" },
  json: { type: "boolean" },
} as const;

const path = "/admin/v1/subscriptions";
const actions = ["list", "show", "create", "pause", "resume", "delete", "tail"] as const;

interface EventsCommand {
  readonly action: (typeof actions)[number];
  readonly account: string;
  readonly name: string;
  readonly texts: ReadonlyMap<string, string>;
  readonly switches: ReadonlySet<string>;
}

/** Parses the words after `etagere events`. */
export function parseEventsWords(
  words: readonly string[],
): EventsCommand | { readonly problem: string } {
  const read = parseCliArguments(words, options);
  if (!read.ok) return read;
  const { texts, switches, others } = read;
  const [action = "", account = "", name = "", ...more] = others;
  const known = actions.find((each) => each === action);
  if (known === undefined) return { problem: `one of ${actions.join(", ")} is required` };
  if (texts.has("url") && texts.has("location")) return { problem: "--url contradicts --location" };
  const needsName = known !== "list" && known !== "tail";
  if (more.length > 0 || (!needsName && name !== ""))
    return { problem: `${known}: too many words` };
  if (needsName && name === "") return { problem: `${known} takes an account and a name` };
  if (known === "tail" && account === "") return { problem: "tail takes an account" };
  const sources = ["queue", "webhook", "file"].filter((each) => texts.has(each));
  if (known === "create" && sources.length !== 1) {
    return { problem: "create takes one of --queue, --webhook and --file" };
  }
  return { action: known, account, name, texts, switches };
}

async function runEventsCommand(words: readonly string[]): Promise<number> {
  const command = parseEventsWords(words);
  if ("problem" in command) {
    process.stderr.write(usageError(eventsCommand, command.problem));
    return 1;
  }
  try {
    const server = await serverOf(command);
    if (command.action === "tail") await tail(server, command);
    else process.stdout.write(await run(server, command));
    return 0;
  } catch (error) {
    process.stderr.write(`etagere: ${messageOf(error)}\n`);
    return 1;
  }
}

async function serverOf({ texts }: EventsCommand): Promise<ServerAddress> {
  const url = texts.get("url");
  const location = texts.get("location");
  const found = url === undefined ? await findServer(location) : { url };
  if (found === undefined) throw new Error(`no server uses ${location}; start it first`);
  const given = await adminTokenOf({ tokenFile: texts.get("tokenFile") });
  return { ...found, token: given ?? ("token" in found ? found.token : undefined) };
}

async function run(server: ServerAddress, command: EventsCommand): Promise<string> {
  const { action, account, name, switches } = command;
  const own = `${path}/${encodeURIComponent(account)}/${encodeURIComponent(name)}`;
  if (action === "delete") {
    await callAdmin(server, { method: "DELETE", path: own });
    return `${name}: deleted\n`;
  }
  if (action === "pause" || action === "resume") {
    const body = { isPaused: action === "pause" };
    await callAdmin(server, { method: "PATCH", path: own, body });
    return `${name}: ${action}d\n`;
  }
  if (action === "list") {
    const query = account === "" ? "" : `?account=${encodeURIComponent(account)}`;
    const listed = (await callAdmin(server, { method: "GET", path: path + query })) as {
      readonly subscriptions: readonly SubscriptionRow[];
    };
    if (switches.has("json")) return `${JSON.stringify(listed)}\n`;
    return listed.subscriptions.map((row) => `${lineOf(row)}\n`).join("");
  }
  const body = action === "create" ? await definitionOf(command) : undefined;
  const method = action === "create" ? "PUT" : "GET";
  const answer = await callAdmin(server, { method, path: own, ...(body && { body }) });
  return `${JSON.stringify(answer, undefined, switches.has("json") ? undefined : 2)}\n`;
}

interface SubscriptionRow {
  readonly account: string;
  readonly name: string;
  readonly source: string;
  readonly destination: { readonly queue?: string; readonly url?: string };
  readonly isPaused: boolean;
  readonly backlog: number;
  readonly retries: number;
  readonly delivered: number;
  readonly deadLettered: number;
  readonly dropped: number;
  readonly missed: number;
}

function lineOf(row: SubscriptionRow): string {
  const { account, name, destination, backlog, retries } = row;
  const lost = row.deadLettered + row.dropped + row.missed;
  const waiting = `${row.isPaused ? "paused, " : ""}backlog ${backlog}, retries ${retries}`;
  const counts = `${waiting}, delivered ${row.delivered}, not ${lost}`;
  return `${`${account}/${name}`.padEnd(32)} ${destination.queue ?? destination.url}  ${counts}`;
}

/** The definition of the options or of a file. The server validates it. */
async function definitionOf({ texts, switches }: EventsCommand): Promise<object> {
  const file = texts.get("file");
  if (file !== undefined) {
    const text = await readFile(file === "-" ? "/dev/stdin" : file, "utf8");
    return JSON.parse(text) as object;
  }
  const webhook = texts.get("webhook");
  const secretFile = texts.get("secretFile");
  const secret = secretFile === undefined ? undefined : (await readFile(secretFile, "utf8")).trim();
  const schema = switches.has("cloudEvents") ? "CloudEventSchemaV1_0" : undefined;
  const types = texts.get("types");
  return {
    destination:
      webhook === undefined ? { queue: texts.get("queue") } : { webhook, schema, secret },
    eventTypes: types?.split(","),
    subjectBeginsWith: texts.get("begins"),
    subjectEndsWith: texts.get("ends"),
    deadLetterContainer: texts.get("deadLetter"),
  };
}

/** Prints events until the process or the server is ended. */
async function tail(server: ServerAddress, { account, texts }: EventsCommand): Promise<void> {
  const after = texts.get("after") ?? "now";
  const query = `account=${encodeURIComponent(account)}&after=${encodeURIComponent(after)}`;
  const token = server.token === undefined ? {} : { authorization: `Bearer ${server.token}` };
  const headers = { [adminHeader]: "1", ...token };
  const answer = await fetch(`${server.url}/admin/v1/events?${query}`, { headers });
  if (!answer.ok || answer.body === null) {
    throw new Error(messageIn(await answer.text()) ?? `the server answered ${answer.status}`);
  }
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
    const blocks = (text + decoder.decode(chunk, { stream: true })).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) process.stdout.write(`${data}\n`);
    }
  }
}
