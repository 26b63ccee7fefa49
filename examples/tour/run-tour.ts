import { isDeepStrictEqual } from "node:util";
import { start } from "../../src/index.ts";
import { openGlass } from "./glass.ts";
import { steps } from "./steps.ts";
import type { Printer, Stage, Step } from "./tour.ts";

const account = "devstoreaccount1";
const key =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

const lakeAccount = "lakeaccount1";
const accounts = {
  [account]: {},
  [lakeAccount]: { keys: [key], hierarchicalNamespace: true },
};

/** Runs all or some steps against a server of its own. */
export async function runTour(
  printer: Printer,
  chosen: readonly Step[] = steps,
): Promise<readonly string[]> {
  await using server = await start({ port: 0, inMemoryPersistence: true, silent: true, accounts });
  const glasses = await Promise.all(
    Object.entries(server.urls)
      .filter(([name]) => ["blob", "queue", "table", "file", "dfs"].includes(name))
      .map(async ([name, url]) => {
        const glass = await openGlass(url, (exchange) => printer.exchange(exchange));
        return { name, ...glass };
      }),
  );
  const endpoints = glasses.map(
    ({ name, url }) =>
      `${name.slice(0, 1).toUpperCase()}${name.slice(1)}Endpoint=${url}/${account}`,
  );
  const connectionString = [
    "DefaultEndpointsProtocol=http",
    `AccountName=${account}`,
    `AccountKey=${key}`,
    ...endpoints,
  ].join(";");
  const dfs = glasses.find(({ name }) => name === "dfs")?.url ?? "";
  const lake = { url: `${dfs}/${lakeAccount}`, account: lakeAccount, key };
  const failures: string[] = [];
  for (const [index, step] of chosen.entries()) {
    printer.title(`${index + 1}. ${step.title}`);
    const pass = (seconds: number): void => {
      printer.clock(seconds);
      server.clock.advance(`${seconds}s`);
    };
    const places = { connectionString, lake, smbUrl: server.smbUrl, pass };
    const stage = stageOf(printer, { ...places, name: `tour${index + 1}` });
    await step
      .run(stage)
      .catch((error: unknown) => failures.push(`${step.title}: ${String(error)}`));
  }
  for (const glass of glasses) glass.close();
  return failures;
}

function stageOf(printer: Printer, places: Omit<Stage, "say" | "check">): Stage {
  return {
    ...places,
    say: (text) => printer.why(text),
    check(what, happened, promised) {
      if (!isDeepStrictEqual(happened, promised)) {
        throw new Error(`${what}: ${String(happened)}, expected ${String(promised)}`);
      }
      printer.checked(what, happened);
    },
  };
}
