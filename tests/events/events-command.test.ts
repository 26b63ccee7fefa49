import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BlobServiceClient } from "@azure/storage-blob";
import { developmentAccountName as account } from "../../src/account/settings.ts";
import { eventsCommand } from "../../src/cli/events-command.ts";
import { readWords } from "../../src/cli/parse-words.ts";
import { start, type EtagereServer } from "../../src/index.ts";
import { program } from "../harness/child-server.ts";
import { freePorts } from "../harness/server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { placeOf } from "../harness/test-store.ts";
import { webhookReceiver, type WebhookReceiver } from "./webhook-receiver.ts";

let server: EtagereServer;
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await webhookReceiver();
  const eventWebhooks = `${receiver.url}/`;
  server = await start({ ...freePorts, noSmb: true, ...placeOf({}), eventWebhooks });
});

afterAll(async () => {
  await server.stop();
  await receiver[Symbol.asyncDispose]();
});

/** Runs the command; resolves to its exit code and output. */
async function events(...words: readonly string[]): Promise<readonly [code: number, text: string]> {
  const all = [program, "events", ...words, "--url", server.adminUrl];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, all);
    return [0, stdout];
  } catch (error) {
    const { code, stderr } = error as { readonly code: number; readonly stderr: string };
    return [code, stderr];
  }
}

test("options of webhooks are rejected for a queue", async () => {
  for (const option of [["--cloudEvents"], ["--secretFile", "secret.txt"]]) {
    const [code, text] = await events("create", account, "queue", "--queue", "events", ...option);
    expect([code, text]).toEqual([1, expect.stringContaining(`${option[0]} requires --webhook`)]);
  }
  expect(await events("list", "absent")).toEqual([1, expect.stringContaining("absent")]);
});

test("the command creates, lists, shows and deletes subscriptions", async () => {
  const webhook = `${receiver.url}/hook?code=secret`;
  const types = "Microsoft.Storage.BlobCreated, Microsoft.Storage.BlobDeleted";
  const ends = ["--ends", ".txt", "--types", types, "--cloudEvents"];
  const created = await events("create", account, "hook", "--webhook", webhook, ...ends);
  expect(created).toEqual([0, expect.stringContaining('"subjectEndsWith": ".txt"')]);
  const service = BlobServiceClient.fromConnectionString(server.connectionString);
  const { containerClient } = await service.createContainer("box");
  for (const name of ["a.txt", "b.png"]) await containerClient.uploadBlockBlob(name, "x", 1);
  await server.events.settled();
  expect(receiver.requests).toHaveLength(1);
  const [code, listed] = await events("list");
  expect([code, listed]).toEqual([0, expect.stringContaining(`${account}/hook`)]);
  expect(listed).toContain("delivered 1, not delivered 0");
  expect(listed).not.toContain("secret");
  const [, shown] = await events("show", account, "hook", "--json");
  expect(JSON.parse(shown)).toMatchObject({ name: "hook", delivered: 1, backlog: 0 });
  expect(await events("pause", account, "hook")).toEqual([0, "hook: paused\n"]);
  expect(await events("list")).toEqual([0, expect.stringContaining("paused, backlog 0")]);
  expect(await events("resume", account, "hook")).toEqual([0, "hook: resumed\n"]);
  expect(await events("delete", account, "hook")).toEqual([0, "hook: deleted\n"]);
  expect(await events("show", account, "hook")).toEqual([1, expect.stringContaining("no sub")]);
});

test("the command says what the server rejects", async () => {
  const words = ["create", account, "hook", "--webhook", "https://example.com/"];
  expect(await events(...words)).toEqual([1, expect.stringContaining("--eventWebhooks")]);
  const broken = `${temporaryFolder()}-broken.json`;
  writeFileSync(broken, "{");
  const file = await events("create", account, "hook", "--file", broken);
  expect(file).toEqual([1, expect.stringContaining(`${broken}: Expected`)]);
  expect(await events("tail", account)).toEqual([1, expect.stringContaining("writes no events")]);
});

describe("the words", () => {
  test.each([
    ["", "list, show, create, pause, resume, delete or tail is required"],
    ["lst", "lst: no such action of events; did you mean list?"],
    ["list a b", 'list: unexpected word "b"'],
    ["show a", "show: NAME is required"],
    ["tail", "tail: ACCOUNT is required"],
    ["create a b", "one of --queue, --webhook and --file is required"],
    [
      "create a b --queue q --webhook http://w",
      "one of --queue, --webhook and --file is required, and only one",
    ],
    ["list --queue q", "only create takes --queue"],
    ["list --url http://u --location l", "--url contradicts --location"],
  ])("%s: %s", (words, problem) => {
    const given = words.split(" ").filter((word) => word !== "");
    expect(readWords(given, eventsCommand).problems).toEqual([problem]);
  });
});
