import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { BlobServiceClient } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";
import { transformWithOxc } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseCommandLine } from "../../src/cli/command-line.ts";
import { commands } from "../../src/cli/commands.ts";
import { openAccounts } from "../../src/data/accounts.ts";
import { start, type EtagereServer, type InitInput } from "../../src/index.ts";
import { webhookReceiver, type WebhookReceiver } from "../events/webhook-receiver.ts";
import { freePorts } from "../harness/server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { azuriteFixture } from "../import/azurite-fixture.ts";

const program = resolve("bin/etagere");
const commandMillisecondsMax = 60_000;

/** Commands that are checked against their declaration, but not run, and why. */
const notRun: readonly (readonly [RegExp, string])[] = [
  [/^doctor /, "its result depends on the machine: ports, certificate"],
  [/^events tail /, "prints events until it is ended"],
  [/^encryption (status|rotate) /, "needs a folder that the server before it has encrypted"],
  [/^(export|load) .*(\/var\/lib\/etagere|encrypted\.archive).* --encryption /, "needs the same"],
];

interface Block {
  readonly guide: string;
  readonly language: string;
  readonly code: string;
}

const blocks: readonly Block[] = readdirSync("docs/guides").flatMap((guide) => {
  const text = readFileSync(join("docs/guides", guide), "utf8");
  return [...text.matchAll(/^( *)```(\w+).*\n([^]*?)^ *```$/gm)].map(
    ([, indent = "", language = "", code = ""]) => ({
      guide,
      language,
      code: code.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    }),
  );
});

const blocksIn = (...languages: readonly string[]): readonly Block[] =>
  blocks.filter(({ language }) => languages.includes(language));

/** The words of a line of a shell, without its comment. */
function wordsOf(line: string): readonly string[] {
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(#.*$)|(\S+)/g)];
  return words.flatMap(([, one, two, comment, plain]) =>
    comment === undefined ? [one ?? two ?? plain ?? ""] : [],
  );
}

/** The words after `etagere` of each line that runs it, with variables before it or without. */
const commandsOf = ({ code }: Block): readonly (readonly string[])[] =>
  code
    .replaceAll("\\\n", " ")
    .split("\n")
    .flatMap((line) => {
      const found = /^(?:[A-Z_]+=\S+ +)*etagere +(.*)$/.exec(line);
      return found === null ? [] : [wordsOf(found[1] ?? "")];
    });

const lines = blocksIn("sh").flatMap((block) =>
  commandsOf(block).map((words) => ({ guide: block.guide, words, line: words.join(" ") })),
);
const serving = lines.filter(({ words: [first = ""] }) => first.startsWith("-"));
const once = lines.filter(({ words: [first = ""] }) => !first.startsWith("-"));

describe("commands that serve", () => {
  it.each(serving)("$guide: etagere $line", ({ words }) => {
    expect(parseCommandLine(words)).toMatchObject({ run: "serve", problems: [] });
  });
});

describe("commands that end", () => {
  const root = temporaryFolder();
  let server: EtagereServer;
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    receiver = await webhookReceiver();
    for (const name of ["etc", "backup", "tests"]) mkdirSync(join(root, name));
    for (const name of ["data", "served", "old"]) {
      const filled = await start({ ...freePorts, location: join(root, name) });
      const service = BlobServiceClient.fromConnectionString(filled.connectionString);
      await service.createContainer("photos");
      await filled.stop();
    }
    const { folder } = await azuriteFixture();
    const azuriteData = join(root, "azurite-data");
    await promisify(execFile)("cp", ["-r", folder, azuriteData]);
    // The import warns about a folder to which Azurite seems to write.
    const hourAgo = new Date(Date.now() - 3_600_000);
    for (const name of readdirSync(azuriteData)) {
      utimesSync(join(azuriteData, name), hourAgo, hourAgo);
    }
    const eventWebhooks = `${receiver.url}/`;
    server = await start({ ...freePorts, location: join(root, ".etagere"), eventWebhooks });
    const queues = QueueServiceClient.fromConnectionString(server.connectionString);
    await queues.createQueue("events");
  }, commandMillisecondsMax);
  afterAll(async () => {
    await server.stop();
    await receiver[Symbol.asyncDispose]();
  });

  /** Folders of the machine are folders of the test. */
  const local = (word: string): string =>
    word
      .replace("http://127.0.0.1:7071", receiver.url)
      .replace("/var/lib/etagere", join(root, "served"))
      .replace(/\/(etc\/etagere|mnt\/usb)/, join(root, "etc"))
      .replace("/backup", join(root, "backup"));

  // In the order of the guide: later commands use what earlier ones have made.
  it.each(once)(
    "$guide: etagere $line",
    async ({ words, line }) => {
      const [name = "", ...rest] = words;
      expect([...commands.keys()]).toContain(name);
      if (notRun.some(([pattern]) => pattern.test(line))) {
        expect(await commands.get(name)?.run([...rest, "--help"])).toBe(0);
        return;
      }
      const all = [program, name, ...rest.map(local)];
      const { stderr } = await promisify(execFile)(process.execPath, all, { cwd: root });
      expect(stderr).not.toContain("etagere:");
    },
    commandMillisecondsMax,
  );

  it("name every reason for a command that is not run", () => {
    const unused = notRun.filter(([pattern]) => !once.some(({ line }) => pattern.test(line)));
    expect(unused).toEqual([]);
  });
});

interface InitBlock {
  readonly accounts?: Readonly<Record<string, { readonly create?: object }>>;
}

const resourceFields = ["containers", "queues", "tables", "shares"];

function isInit(value: InitBlock): boolean {
  const hasResources = resourceFields.some((field) => field in value);
  return hasResources || Object.values(value.accounts ?? {}).some((each) => "create" in each);
}

describe("JSON", () => {
  const folder = temporaryFolder();
  const parsed = blocksIn("json").map(({ guide, code }, index) => ({ guide, code, index }));

  it.each(parsed)("of $guide starts a server, or is a configuration ($index)", async (block) => {
    const value = JSON.parse(block.code) as InitBlock;
    if (isInit(value)) {
      await using server = await start({ ...freePorts, init: value as InitInput });
      expect(server.connectionString).not.toBe("");
      return;
    }
    const isWhole = "accounts" in value || "principals" in value || "roleAssignments" in value;
    const config = join(folder, `${block.index}.json`);
    writeFileSync(config, JSON.stringify(isWhole ? value : { accounts: value }));
    const opened = await openAccounts({ config });
    expect(opened.ok ? [] : opened.problems).toEqual([]);
  });
});

describe("TypeScript and JavaScript", () => {
  it("of testing.md waits for the delivery of an event", async () => {
    const block = blocks.find(({ guide, code }) => {
      return guide === "testing.md" && code.includes("events.settled");
    });
    const words = ["--input-type=module", "-e", block?.code ?? ""];
    const { stdout } = await promisify(execFile)(process.execPath, words);
    expect(block?.code).toContain(`// → ${stdout}`);
    expect(stdout).toMatch(/a\.txt\n$/);
  });

  // Samples of managing-concurrency.md run in a test of their own. The others are parts of test
  // files and of programs of the reader: that they can be parsed is all that can be known here.
  it.each(blocksIn("ts", "js"))("of $guide can be parsed", async ({ code, language }) => {
    await expect(transformWithOxc(code, `block.${language}`)).resolves.toBeDefined();
  });
});
