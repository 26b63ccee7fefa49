import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { TableServiceClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { steps } from "../../examples/tour/steps.ts";
import { withETagTables } from "../../scripts/docs/concurrency-page.ts";
import { developmentAccount, developmentAccountName } from "../../src/account/settings.ts";
import { connectionStringOf } from "../../src/admin/connection-string.ts";
import { start, type EtagereServer } from "../../src/index.ts";
import { flagDefaults } from "../../src/server/flags.ts";

const guide = readFileSync("docs/guides/managing-concurrency.md", "utf8");
const sampleMillisecondsMax = 120_000;

/** The code blocks of a language, each behind the lines that all of them begin with. */
function samplesOf(language: "js" | "python"): { section: string; code: string; output: string }[] {
  const prelude = new RegExp(`^\`\`\`${language} prelude\n([^]*?)^\`\`\`$`, "m").exec(guide)?.[1];
  return guide.split(/^## /m).flatMap((text) => {
    const section = text.slice(0, text.indexOf("\n"));
    const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\`$`, "gm"));
    return [...blocks].map(([, code = ""]) => ({
      section,
      code: `${prelude}\n${code}`,
      output: [...code.matchAll(/(?:\/\/|#) → (.*)$/gm)].map(([, line]) => `${line}\n`).join(""),
    }));
  });
}

it("the guide names the connection string of a server with default ports", () => {
  const [, given] = /CONNECTION_STRING="([^"]*)"/.exec(guide) ?? [];
  const account = { ...developmentAccount(), name: developmentAccountName };
  const names = ["blob", "queue", "table", "file"] as const;
  const urls = names.map((name) => [name, `http://127.0.0.1:${flagDefaults[`${name}Port`]}`]);
  expect(given).toBe(connectionStringOf(account, Object.fromEntries(urls) as object));
});

let server: EtagereServer;
beforeAll(async () => {
  server = await start({ port: 0, inMemoryPersistence: true, silent: true });
});
afterAll(() => server.stop());

async function run(command: string, words: readonly string[]): Promise<string> {
  const smb = { SMB_PORT: new URL(server.smbUrl).port };
  const env = { ...process.env, ...smb, AZURE_STORAGE_CONNECTION_STRING: server.connectionString };
  const { stdout } = await promisify(execFile)(command, words, { env });
  return stdout;
}

describe("the samples print what the guide says", () => {
  it.each(samplesOf("js"))(
    "JavaScript: $section",
    async ({ code, output }) => {
      expect(output).not.toBe("");
      expect(await run(process.execPath, ["--input-type=module", "-e", code])).toBe(output);
    },
    sampleMillisecondsMax,
  );

  // The Python of Debian, whose packages have the Azure libraries.
  it.each(samplesOf("python"))(
    "Python: $section",
    async ({ code, output }) => {
      expect(output).not.toBe("");
      expect(await run("/usr/bin/python3", ["-c", code])).toBe(output);
    },
    sampleMillisecondsMax,
  );

  it("in both languages for each section", () => {
    const sections = samplesOf("js").map(({ section }) => section);
    expect(samplesOf("python").map(({ section }) => section)).toEqual(sections);
    expect(new Set(sections).size).toBe(6);
    expect(sections.length).toBeGreaterThan(10);
  });

  it("and delete at their end what they have created", async () => {
    expect(await namesIn(server.connectionString)).toEqual([]);
  });
});

/** The names of all containers, queues, tables and shares. */
async function namesIn(connectionString: string): Promise<readonly (string | undefined)[]> {
  const options = { allowInsecureConnection: true };
  const lists: readonly AsyncIterable<{ readonly name?: string }>[] = [
    BlobServiceClient.fromConnectionString(connectionString).listContainers(),
    QueueServiceClient.fromConnectionString(connectionString).listQueues(),
    TableServiceClient.fromConnectionString(connectionString, options).listTables(),
    ShareServiceClient.fromConnectionString(connectionString).listShares(),
  ];
  const names: (string | undefined)[] = [];
  for (const list of lists) for await (const { name } of list) names.push(name);
  return names;
}

it("shows the operations as they are declared (npm run docs writes it)", () => {
  expect(guide).toBe(withETagTables(guide));
});

it("names each step of the tour once, as the tour does", () => {
  const named = [...guide.matchAll(/\bTour: ([^]*?\*)\.\s/g)].flatMap(([, list = ""]) =>
    list.split(";").map((name) => name.replaceAll(/\s+/g, " ").trim()),
  );
  const titles = steps.map(({ title }, index) => `${index + 1} *${title.replace("*", "\\*")}*`);
  expect(new Set(named)).toEqual(new Set(titles));
  expect(named).toHaveLength(titles.length);
});
