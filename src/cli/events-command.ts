import { readFile } from "node:fs/promises";
import { adminHeader } from "../admin/security/admin-auth.ts";
import {
  addressOptions,
  callAdmin,
  findServer,
  jsonOption,
  messageIn,
  type AddressValues,
  type ServerAddress,
} from "./admin-client.ts";
import { defineCommand, printFailure, type Argument } from "./command.ts";

const accountWord: Argument = { value: "ACCOUNT", kind: "name" };
const nameWord: Argument = { value: "NAME", kind: "name" };
const create = ["create"] as const;

export const eventsCommand = defineCommand({
  name: "events",
  summary: "subscribe queues and webhooks to the changes of an account",
  description: [
    "Manages the event subscriptions of a running server. Those of --config are only listed.",
  ],
  arguments: [],
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
    queue: { kind: "name", value: "NAME", actions: create, help: "a queue of the account" },
    webhook: {
      kind: "http",
      value: "URL",
      actions: create,
      help: "begins with an URL of --eventWebhooks of the server",
    },
    cloudEvents: {
      kind: "switch",
      actions: create,
      help: "send CloudEvents 1.0 instead of the schema of Event Grid",
    },
    secretFile: {
      kind: "file",
      value: "FILE",
      actions: create,
      help: "file with the secret that requests are signed with",
    },
    types: {
      kind: "name",
      value: "A,B",
      actions: create,
      help: "types such as Microsoft.Storage.BlobCreated, or All",
    },
    begins: { kind: "text", value: "TEXT", actions: create, help: "begin of the subjects" },
    ends: { kind: "text", value: "TEXT", actions: create, help: "end of the subjects" },
    deadLetter: {
      kind: "name",
      value: "NAME",
      actions: create,
      help: "container for events that cannot be delivered",
    },
    file: {
      kind: "stream",
      value: "FILE",
      actions: create,
      help: "all fields as JSON (docs/ADMIN.md), - for standard input",
    },
    after: {
      kind: "name",
      value: "ID",
      actions: ["tail"],
      help: "begin after this event; 0-0: with the oldest one",
    },
    ...jsonOption,
  },
  exitCodes: ["done", "not done"],
  example: "etagere events create devstoreaccount1 to-queue --queue events",
  run: async ({ action, words: [ofAccount = "", named = ""], options }) => {
    const command = { action, account: ofAccount, name: named, options };
    try {
      const server = await findServer(options);
      if (server === undefined) {
        throw new Error(`no server uses ${options.location}; start it first`);
      }
      if (action === "tail") await tail(server, command);
      else process.stdout.write(await run(server, command));
      return 0;
    } catch (error) {
      return printFailure(error);
    }
  },
});

const path = "/admin/v1/subscriptions";

interface EventsOptions extends AddressValues {
  readonly queue: string | undefined;
  readonly webhook: string | undefined;
  readonly cloudEvents: boolean;
  readonly secretFile: string | undefined;
  readonly types: string | undefined;
  readonly begins: string | undefined;
  readonly ends: string | undefined;
  readonly deadLetter: string | undefined;
  readonly file: string | undefined;
  readonly after: string | undefined;
  readonly json: boolean;
}

interface EventsCommand {
  readonly action: "list" | "show" | "create" | "pause" | "resume" | "delete" | "tail";
  readonly account: string;
  readonly name: string;
  readonly options: EventsOptions;
}

async function run(server: ServerAddress, command: EventsCommand): Promise<string> {
  const { action, account, name, options } = command;
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
    if (options.json) return `${JSON.stringify(listed)}\n`;
    return listed.subscriptions.map((row) => `${lineOf(row)}\n`).join("");
  }
  const body = action === "create" ? await definitionOf(options) : undefined;
  const method = action === "create" ? "PUT" : "GET";
  const answer = await callAdmin(server, { method, path: own, ...(body && { body }) });
  return `${JSON.stringify(answer, undefined, options.json ? undefined : 2)}\n`;
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
async function definitionOf(options: EventsOptions): Promise<object> {
  const { file, webhook, secretFile, types } = options;
  if (file !== undefined) {
    const text = await readFile(file === "-" ? "/dev/stdin" : file, "utf8");
    return JSON.parse(text) as object;
  }
  const secret = secretFile === undefined ? undefined : (await readFile(secretFile, "utf8")).trim();
  const schema = options.cloudEvents ? "CloudEventSchemaV1_0" : undefined;
  return {
    destination: webhook === undefined ? { queue: options.queue } : { webhook, schema, secret },
    eventTypes: types?.split(","),
    subjectBeginsWith: options.begins,
    subjectEndsWith: options.ends,
    deadLetterContainer: options.deadLetter,
  };
}

/** Prints events until the process or the server is ended. */
async function tail(server: ServerAddress, { account, options }: EventsCommand): Promise<void> {
  const after = options.after ?? "now";
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
