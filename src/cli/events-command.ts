import { readFile } from "node:fs/promises";
import type { SubscriptionView } from "../admin/views/subscriptions.ts";
import {
  adminHeaders,
  requireServer,
  addressOptions,
  callAdmin,
  jsonOption,
  messageIn,
  type ServerAddress,
} from "./admin-client.ts";
import { defineCommand, type Argument, type Options, type Values } from "./command.ts";

const accountWord: Argument = { value: "ACCOUNT", kind: "name" };
const nameWord: Argument = { value: "NAME", kind: "name" };
const create = ["create"] as const;
const onCreate = <const K extends "name" | "http" | "file" | "stream" | "text">(
  kind: K,
  value: string,
  help: string,
) => ({ kind, value, actions: create, help });

const eventOptions = {
  queue: onCreate("name", "NAME", "a queue of the account"),
  webhook: onCreate("http", "URL", "begins with an URL of --eventWebhooks of the server"),
  cloudEvents: {
    kind: "switch",
    actions: create,
    help: "send CloudEvents 1.0 instead of the schema of Event Grid",
  },
  secretFile: onCreate("file", "FILE", "file with the secret that requests are signed with"),
  types: onCreate("name", "A,B", "types such as Microsoft.Storage.BlobCreated, or All"),
  begins: onCreate("text", "TEXT", "begin of the subjects"),
  ends: onCreate("text", "TEXT", "end of the subjects"),
  deadLetter: onCreate("name", "NAME", "container for events that cannot be delivered"),
  file: onCreate("stream", "FILE", "all fields as JSON (docs/ADMIN.md), - for standard input"),
  after: {
    kind: "name",
    value: "ID",
    actions: ["tail"],
    help: "begin after the event with this id, or at a position; 0-0: with the oldest one",
  },
} as const satisfies Options;

/** `etagere events`: manages the event subscriptions of a running server, through its admin API. A
 *  subscription delivers events about changed blobs and files to a queue or a webhook. */
export const eventsCommand = defineCommand({
  name: "events",
  summary: "subscribe queues and webhooks to the changes of an account",
  description: [
    "Manages the event subscriptions of a running server.",
    "Those of --config can be paused and resumed; only the configuration changes them.",
  ],
  actions: {
    list: {
      arguments: [{ ...accountWord, isOptional: true }],
      help: "subscriptions with their backlog and counts",
    },
    show: { arguments: [accountWord, nameWord], help: "one subscription with its latest failures" },
    create: {
      arguments: [accountWord, nameWord],
      oneOf: ["queue", "webhook", "file"],
      help: "with --queue, --webhook or --file; replaces one of the same name",
    },
    pause: {
      arguments: [accountWord, nameWord],
      help: "events wait in the log until it is resumed",
    },
    resume: {
      arguments: [accountWord, nameWord],
      help: "deliver what has waited, and what follows",
    },
    delete: {
      arguments: [accountWord, nameWord],
      help: "events that are not delivered yet are lost",
    },
    tail: {
      arguments: [accountWord],
      help: "print the events of the log as lines of JSON until Ctrl-C",
    },
  },
  options: {
    ...addressOptions,
    ...eventOptions,
    ...jsonOption,
  },
  exitCodes: ["done", "not done"],
  example: "etagere events create devstoreaccount1 to-queue --queue events",
  run: async ({ action, words: [account = "", name = ""], options }) => {
    const server = await requireServer(options);
    if (action === "tail") return { text: await tail(server, account, options.after) };
    return { text: await run(server, { action, account, name, options }) };
  },
});

const path = "/admin/v1/subscriptions";

interface EventsCall {
  readonly action: "list" | "show" | "create" | "pause" | "resume" | "delete";
  readonly account: string;
  readonly name: string;
  readonly options: Values<typeof eventOptions> & { readonly json: boolean };
}

async function run(
  server: ServerAddress,
  { action, account, name, options }: EventsCall,
): Promise<string> {
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
      readonly subscriptions: readonly SubscriptionView[];
    };
    if (options.json) return `${JSON.stringify(listed)}\n`;
    if (listed.subscriptions.length === 0) return "no subscriptions\n";
    return listed.subscriptions.map((row) => `${lineOf(row)}\n`).join("");
  }
  const body = action === "create" ? await definitionOf(options) : undefined;
  const method = action === "create" ? "PUT" : "GET";
  const answer = await callAdmin(server, { method, path: own, ...(body && { body }) });
  return `${JSON.stringify(answer, undefined, options.json ? undefined : 2)}\n`;
}

function lineOf(row: SubscriptionView): string {
  const { account, name, destination, backlog, retries = 0, delivered = 0 } = row;
  const absent = row.absentSince === undefined ? "" : "not in the configuration, ";
  const stopped = `${absent}${row.isPaused ? "paused, " : ""}`;
  const waiting = `${stopped}backlog ${backlog}, retries ${retries}`;
  const counts = `${waiting}, delivered ${delivered}, not delivered ${lostEvents(row)}`;
  const target = "queue" in destination ? destination.queue : destination.url;
  return `${`${account}/${name}`.padEnd(32)} ${target}  ${counts}`;
}

/** The number of events of a subscription that were not delivered and never will be. */
export function lostEvents({ deadLettered = 0, dropped = 0, missed = 0 }: SubscriptionView) {
  return deadLettered + dropped + missed;
}

/** The subscription that `create` sends, from the options or `--file`. The server validates it. */
async function definitionOf(options: EventsCall["options"]): Promise<object> {
  const { file, webhook, secretFile, types } = options;
  const isSent = webhook !== undefined;
  if (!isSent && secretFile !== undefined) throw new Error("--secretFile requires --webhook");
  if (!isSent && options.cloudEvents) throw new Error("--cloudEvents requires --webhook");
  if (file !== undefined) {
    const text = await readFile(file === "-" ? "/dev/stdin" : file, "utf8");
    try {
      return JSON.parse(text) as object;
    } catch (error) {
      throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
    }
  }
  const secret = secretFile === undefined ? undefined : (await readFile(secretFile, "utf8")).trim();
  const schema = options.cloudEvents ? "CloudEventSchemaV1_0" : undefined;
  return {
    destination: isSent ? { webhook, schema, secret } : { queue: options.queue },
    eventTypes: types?.split(",").map((type) => type.trim()),
    subjectBeginsWith: options.begins,
    subjectEndsWith: options.ends,
    deadLetterContainer: options.deadLetter,
  };
}

/** Prints new events of an account's log, or those after a given one, until the process or the
 *  server is ended. */
async function tail(server: ServerAddress, account: string, after = "now"): Promise<string> {
  const query = `account=${encodeURIComponent(account)}&after=${encodeURIComponent(after)}`;
  const headers = adminHeaders(server);
  const response = await fetch(`${server.url}/admin/v1/events?${query}`, { headers });
  if (!response.ok || response.body === null) {
    throw new Error(messageIn(await response.text()) ?? `the server answered ${response.status}`);
  }
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const blocks = (text + decoder.decode(chunk, { stream: true })).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) process.stdout.write(`${data}\n`);
    }
  }
  return "";
}
