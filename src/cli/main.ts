import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { openAccessLog } from "../server/access-log.ts";
import { logFor, realSurroundings, startWith } from "../server/start.ts";
import type { EtagereServer } from "../server/start.ts";
import { unimportedFolder } from "../server/azurite-import/import-mark.ts";
import { defaultLocation } from "../server/flags.ts";
import { optionWarnings, resolveOptions, type Options } from "../server/options.ts";
import { StartRefused } from "../server/start-refused.ts";
import { helpText, parseCommandLine } from "./command-line.ts";
import type { Command } from "./command-line.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import { serviceModeOf, serviceModeOfProgram } from "./service-mode.ts";
import { asksForHelp, commandHelp } from "./subcommand.ts";
import { sideCommands, unknownCommand } from "./side-commands.ts";

const stayingMilliseconds = 60_000;

const [, program = "", ...programWords] = process.argv;
await main(programWords);

async function main(words: readonly string[]): Promise<void> {
  const [first = "", ...rest] = words;
  const mode = serviceModeOf(first);
  if (mode !== undefined) return runServer(rest, mode);
  if (first !== "" && !first.startsWith("-")) return runSideCommand(first, rest);
  return runServer(words, serviceModeOfProgram(program));
}

/** Serves all services, or the one of `mode` alone. */
async function runServer(words: readonly string[], mode: ServiceName | undefined): Promise<void> {
  const command = parseCommandLine(words);
  switch (command.run) {
    case "help":
      return void process.stdout.write(helpText());
    case "version":
      return printVersion();
    case "serve":
      return serve(command, mode);
  }
}

function printVersion(): void {
  process.stdout.write(`${readVersion()}\n`);
}

async function runSideCommand(name: string, words: readonly string[]): Promise<void> {
  if (name === "help") {
    const about = sideCommands.get(words[0] ?? "");
    return void process.stdout.write(about === undefined ? helpText() : commandHelp(about));
  }
  if (name === "version") return printVersion();
  const command = sideCommands.get(name);
  if (command === undefined) return refuse([unknownCommand(name)]);
  if (asksForHelp(words)) return void process.stdout.write(commandHelp(command));
  process.exitCode = await command.run(words);
}

async function serve(
  { values, problems }: Extract<Command, { run: "serve" }>,
  mode: ServiceName | undefined,
): Promise<void> {
  const input = mode === undefined ? values : { ...values, services: [mode] };
  const options = resolveOptions(input, (name) => `--${name}`);
  if (!options.ok) return refuse([...problems, ...options.problems]);
  if (problems.length > 0) return refuse(problems);
  const remarks = optionWarnings(options.value, (name) => `--${name}`);
  for (const remark of remarks) process.stderr.write(`etagere: ${remark}\n`);
  const unimported = await azuriteRemark(options.value);
  if (unimported !== undefined) process.stderr.write(`etagere: ${unimported}\n`);
  const log = logFor(options.value);
  // Whoever stops reading our lines does not mean to stop the server.
  process.stdout.on("error", () => {});
  const announce = (line: string): void => void process.stdout.write(`${line}\n`);
  // A start may have to wait, and waiting alone keeps no process alive.
  const staying = setInterval(() => {}, stayingMilliseconds);
  try {
    const surroundings = realSurroundings(log);
    const accessLog = options.value.silent ? undefined : openAccessLog(surroundings.clock);
    const starting = startWith(options.value, { ...surroundings, announce, accessLog });
    obeySignals(starting);
    await starting;
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error;
    refuse(error.problems);
  } finally {
    clearInterval(staying);
  }
}

/** Data of Azurite lies where this server would look for its own, and it is not served. */
async function azuriteRemark(options: Options): Promise<string | undefined> {
  if (options.inMemoryPersistence) return undefined;
  const location = options.location ?? defaultLocation;
  const folder = await unimportedFolder(location, options.location ?? ".");
  if (folder === undefined) return undefined;
  const command = `etagere import ${folder} --location ${location}`;
  return `${resolve(folder)} holds data of Azurite, which is not served; to import it: ${command}`;
}

/** From the first moment: whoever sees the listening lines may send a signal at once. */
function obeySignals(starting: Promise<EtagereServer>): void {
  let stopping = false;
  const stop = (): void => {
    // Whoever asks twice does not want to wait for requests to finish.
    if (stopping) process.exit(1);
    stopping = true;
    void withServer(starting, (server) => server.stop()).then(() => process.exit());
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGHUP", () => void withServer(starting, (server) => server.reload()));
}

async function withServer(
  starting: Promise<EtagereServer>,
  act: (server: EtagereServer) => Promise<void>,
): Promise<void> {
  // One that did not start is reported by whoever waits for it.
  const server = await starting.catch(() => undefined);
  if (server !== undefined) await act(server);
}

function refuse(problems: readonly string[]): void {
  for (const problem of problems) process.stderr.write(`etagere: ${problem}\n`);
  process.exitCode = 1;
}

/** From the package itself, which lies two folders above `dist/cli`. */
function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  return version;
}
