import { flags, flagValueOf, type FlagName } from "../server/flags.ts";
import type { ServerOptionInputs } from "../server/options.ts";
import { readVersion } from "../host/version.ts";
import { realEnvironment } from "../host/world.ts";
import { findServer, jsonOption } from "./admin-client.ts";
import { defineCommand } from "./command.ts";
import {
  checkFolder,
  checkClock,
  checkOpenFiles,
  checkPorts,
  type Finding,
} from "./doctor/check-machine.ts";
import { checkOptions, keepRunning, locationOf, quietLog } from "./with-stores.ts";

/** `etagere doctor`: examines the machine, and the places where a server with the given options
 *  would store its data, before or while the server runs. The checks are in `doctor/`. */

const problemExitCode = 1;
const notCheckedExitCode = 2;

export const doctorCommand = defineCommand({
  name: "doctor",
  summary: "check ports, limits, disk, clock, certificate, database, bucket and keys",
  description: [
    "Checks what a server needs, with the options of the server, and says what to do for each " +
      "problem. Changes nothing; the server may run. If it does, its clients are listed with " +
      "their versions, as far as its main process has seen them.",
  ],
  options: { ...flags, ...jsonOption },
  exitCodes: ["no problems; there may be warnings", "problems found", "the checks could not run"],
  usageExitCode: notCheckedExitCode,
  example: "etagere doctor --location /var/lib/etagere --cert cert.pem --key key.pem",
  run: async ({ options: { json: _json, ...given } }) => {
    const checks = await keepRunning(() => examine(inputsOf(given)));
    const exitCode = checks.some(({ state }) => state === "problem") ? problemExitCode : 0;
    return { report: { checks }, text: textOf(checks), exitCode };
  },
});

/** Converts the given options to those of a server: texts of numbers become numbers. */
function inputsOf(given: Readonly<Record<string, unknown>>): ServerOptionInputs {
  const read = Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    return [[name, typeof value === "string" ? flagValueOf(name as FlagName, value) : value]];
  });
  return Object.fromEntries(read) as ServerOptionInputs;
}

async function examine(inputs: ServerOptionInputs): Promise<readonly Finding[]> {
  const options = await checkOptions(inputs);
  const location = locationOf(options);
  const { clock } = realEnvironment(quietLog);
  const { checkBucket, checkDatabase, checkEncryption } = await import("./doctor/check-data.ts");
  const { checkCertificate, checkNode, checkServer } = await import("./doctor/check-server.ts");
  const { checkAccounts, checkTargets } = await import("./doctor/check-setup.ts");
  const address = { location, url: undefined, tokenFile: undefined };
  const { isRunning, findings } = await checkServer(await findServer(address), readVersion());
  const database = options.store === undefined ? undefined : await checkDatabase(options.store);
  const bucket = options.content === undefined ? [] : [await checkBucket(options.content, clock)];
  const clocks = database?.now === undefined ? [] : [["the database", database.now] as const];
  return [
    checkNode(process.versions.node),
    ...findings,
    ...(await checkPorts(options, isRunning)),
    ...(await checkOpenFiles()),
    ...(options.inMemoryPersistence ? [] : await checkFolder(location)),
    ...checkClock(clock, new Map(clocks)),
    ...(await checkCertificate(options, location, clock)),
    ...(database === undefined ? [] : [database.finding]),
    ...bucket,
    ...(await checkEncryption(options, location, database?.keyring)),
    ...(await checkAccounts(options, inputs)),
    ...(await checkTargets(options, clock)),
  ];
}

const marks = { ok: "ok      ", warning: "WARNING ", problem: "PROBLEM " } as const;

function textOf(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ subject, state, text, advice }) => [
    `${marks[state]}${subject}: ${text}`,
    ...(advice === undefined ? [] : [`        → ${advice}`]),
  ]);
  return `${lines.join("\n")}\n${summaryOf(findings)}\n`;
}

function summaryOf(findings: readonly Finding[]): string {
  const count = (state: Finding["state"]): number =>
    findings.filter((each) => each.state === state).length;
  return `${count("problem")} problems, ${count("warning")} warnings`;
}
