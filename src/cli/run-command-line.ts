import { resolve, basename } from "node:path";
import { fileURLToPath } from "node:url";
import { disablePretenuring } from "../host/process.ts";
import { openAccessLog } from "../server/access-log.ts";
import { logFor } from "../host/log.ts";
import type { EtagereServer } from "../server/start.ts";
import { unimportedFolder } from "../commands/azurite-import/azurite-folder.ts";
import { defaultLocation } from "../server/flags.ts";
import { optionWarnings, resolveOptions, type Options } from "../server/options.ts";
import { readSecrets } from "../server/secret-options.ts";
import { environmentVariable, realEnvironment } from "../host/world.ts";
import type { ServerEnvironment } from "../server/server-environment.ts";
import { workerCountOf } from "../workers/worker-count.ts";
import { StartRefused, systemErrorCode } from "../host/refused.ts";
import { readVersion } from "../host/version.ts";
import { helpText, parseCommandLine, type ServerCommand } from "./command-line.ts";
import { type ServiceName, serviceNames } from "../protocol/names.ts";
import { commands, isCommandName, unknownCommand } from "./commands.ts";
import { commandHelp } from "./help.ts";
import { onNpxEnded } from "./npx-parent.ts";
import { keepRunning } from "./with-stores.ts";

const keepAliveMilliseconds = 60_000;

/** Runs what the user has typed: a server, or one of the commands of `commands.ts`. `argv` is that
 *  of the process: the runtime, the program and its arguments. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  const [, program = "", ...words] = argv;
  const [first = "", ...rest] = words;
  const mode = serviceModeOf(first);
  if (mode !== undefined) return runServer(rest, mode);
  if (first !== "" && !first.startsWith("-")) return runOther(first, rest);
  return runServer(words, serviceModeOfProgram(program));
}

/** Serves all services, or only `mode`; or prints what `--help` or `--version` asks for. */
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

/** Runs a command other than the server. */
async function runOther(name: string, words: readonly string[]): Promise<void> {
  if (name === "help") return printHelp(words[0] ?? "");
  if (name === "version") return printVersion();
  const command = commands.get(name);
  if (command === undefined) return failWith([unknownCommand(name)]);
  process.stdout.on("error", endIfPipeClosed);
  process.exitCode = await command.run(words);
}

function printHelp(name: string): void {
  const about = commands.get(name);
  const isUnknown = name !== "" && !name.startsWith("-") && !isCommandName(name);
  if (isUnknown) return failWith([unknownCommand(name)]);
  process.stdout.write(about === undefined ? helpText() : commandHelp(about));
}

/** Exits without an error message if the reader of the output closes the pipe early, as `head`
 *  does. */
function endIfPipeClosed(error: Error): void {
  if (systemErrorCode(error) !== "EPIPE") throw error;
  process.exit();
}

async function serve(
  { values, problems }: Extract<ServerCommand, { run: "serve" }>,
  mode: ServiceName | undefined,
): Promise<void> {
  disablePretenuring();
  const spell = (name: string): string => `--${name}`;
  const input = mode === undefined ? values : { ...values, services: [mode] };
  const read = await readSecrets(input, { spell, variable: environmentVariable });
  const options = read.ok ? resolveOptions(read.value, spell) : read;
  if (!options.ok) return failWith([...problems, ...options.problems]);
  if (problems.length > 0) return failWith(problems);
  const remarks = optionWarnings(options.value, spell);
  for (const remark of remarks) process.stderr.write(`etagere: ${remark}\n`);
  const unimported = await azuriteDataNotice(options.value);
  if (unimported !== undefined) process.stderr.write(`etagere: ${unimported}\n`);
  const log = logFor(options.value);
  // If the reader of standard output ends, the server continues without output.
  process.stdout.on("error", () => {});
  const announce = (line: string): void => void process.stdout.write(`${line}\n`);
  // The timers of a starting server do not keep the process running; without this one it would end
  // while it waits.
  const staying = setInterval(() => {}, keepAliveMilliseconds);
  try {
    const starting = startServer(options.value, { ...realEnvironment(log), announce });
    handleSignals(starting);
    await starting;
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error;
    failWith(error.problems);
  } finally {
    // If there are workers, the timer stays: while a worker is replaced, nothing else may keep the
    // process running.
    if (workerCountOf(options.value.workers) === 1 || process.exitCode === 1) {
      clearInterval(staying);
    }
  }
}

type Server = Pick<EtagereServer, "stop" | "reload">;

/** Starts a server in this process, or with `--workers` the supervisor of several. Their modules
 *  are imported only here, because no other command needs them. */
async function startServer(options: Options, environment: ServerEnvironment): Promise<Server> {
  const workerCount = workerCountOf(options.workers);
  if (workerCount === 1) {
    const { startWith } = await import("../server/start.ts");
    const accessLog = options.silent ? undefined : openAccessLog(environment.clock);
    return startWith(options, { ...environment, accessLog }, "signal");
  }
  const onGivenUp = (problem: string): void => {
    failWith([problem]);
    process.exit();
  };
  const { startWorkers } = await import("../workers/supervisor.ts");
  const workerProgram = fileURLToPath(new URL("worker.js", import.meta.url));
  return startWorkers(options, { ...environment, workerCount, workerProgram, onGivenUp });
}

/** A notice if the given location, or without one the working directory, contains Azurite data that
 *  was not imported: the server does not read it. */
async function azuriteDataNotice(options: Options): Promise<string | undefined> {
  if (options.inMemoryPersistence) return undefined;
  const location = options.location ?? defaultLocation;
  const folder = await unimportedFolder(location, options.location ?? ".");
  if (folder === undefined) return undefined;
  const command = `etagere import ${folder} --location ${location}`;
  return `${resolve(folder)} contains Azurite data, which is not served; to import it: ${command}`;
}

/** Signals within this time count as one: Ctrl-C reaches every process of the terminal, and
 *  `npm start` passes it on to the server as well. */
const repeatedSignalMilliseconds = 1000;

/** Stops the server on SIGTERM and SIGINT, and reloads its configuration on SIGHUP. Called before
 *  the server listens, because a script may send a signal as soon as it sees the start-up lines. */
function handleSignals(starting: Promise<Server>): void {
  let stoppedAt: number | undefined;
  const stop = (): void => {
    if (stoppedAt !== undefined) {
      // A second signal ends the process without waiting for running requests.
      if (performance.now() - stoppedAt >= repeatedSignalMilliseconds) process.exit(1);
      return;
    }
    stoppedAt = performance.now();
    const stopped = keepRunning(() => withServer(starting, (server) => server.stop()));
    void stopped.then(() => process.exit());
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  // While the server stops already, a second stop would end running requests.
  onNpxEnded(() => {
    if (stoppedAt === undefined) stop();
  });
  const reload = (): void => void withServer(starting, (server) => server.reload());
  process.on("SIGHUP", hangupAction() === "stop" ? stop : reload);
}

async function withServer(
  starting: Promise<Server>,
  act: (server: Server) => Promise<void>,
): Promise<void> {
  // The caller that awaits `starting` reports a failed start.
  const server = await starting.catch(() => undefined);
  if (server !== undefined) await act(server);
}

function failWith(problems: readonly string[]): void {
  for (const problem of problems) process.stderr.write(`etagere: ${problem}\n`);
  process.exitCode = 1;
}

/** What SIGHUP does. Windows sends it when the console window is closed, and ends the process a few
 *  seconds later; elsewhere it is the usual request to read the configuration again. */
export function hangupAction(platform: NodeJS.Platform = process.platform): "reload" | "stop" {
  return platform === "win32" ? "stop" : "reload";
}

/** The service that the first word selects, as Azurite's programs for single services do: `etagere
 *  blob` serves only blobs. Undefined if the word names none. */
function serviceModeOf(word: string): ServiceName | undefined {
  return serviceNames.find((name) => name === word);
}

/** The service that the name of the program selects: `azurite-blob` serves only blobs. With links
 *  of these names, scripts that were written for Azurite work unchanged. */
export function serviceModeOfProgram(path: string): ServiceName | undefined {
  const [, word = ""] = /^azurite-(\w+)(?:\.\w+)?$/.exec(basename(path)) ?? [];
  return word === "file" ? undefined : serviceModeOf(word);
}
