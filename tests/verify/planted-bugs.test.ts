import { describe, expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { freePorts } from "../harness/server.ts";
import { EventReceiver } from "./event-receiver.ts";
import { operationsIn, type HistoryEvent } from "./history.ts";
import { LyingProxy, type Lie } from "./lying-proxy.ts";
import { plantedBugs } from "./planted-bugs.ts";
import { plantedEventBugs } from "./planted-event-bugs.ts";
import { plantedTreeBugs } from "./planted-tree-bugs.ts";
import { randomFrom } from "./random.ts";
import { monotonicMicroseconds } from "./recorder.ts";
import { runClient, settingOf } from "./session.ts";
import { judge } from "./verdict.ts";
import { accountsWith, type ServiceName } from "./wire.ts";
import type { Workload } from "./workload.ts";
import { workloads } from "./workloads/all.ts";

const services: readonly ServiceName[] = ["blob", "queue", "table", "file"];
const honest: Lie = (passing, forward) => forward(passing);
const clients = 4;
const stepsMax = 60;
const runsMax = 10;
const windowsMicroseconds = 2_500_000;
const epochSeconds = 100;

/** A short run of one workload in this process, through a proxy with a planted bug. */
async function problemsOf(workload: Workload, lie: Lie, run = 0): Promise<readonly string[]> {
  const receiver = await EventReceiver.open();
  const server = await start({
    ...freePorts,
    inMemoryPersistence: true,
    accounts: accountsWith(receiver.url),
    eventWebhooks: receiver.url,
  });
  const proxies = await Promise.all(
    services.map((name) => LyingProxy.open(name, server.urls[name] ?? "", lie)),
  );
  const [blob = "", queue = "", table = "", file = ""] = proxies.map(({ url }) => url);
  const events: HistoryEvent[] = [];
  const began = monotonicMicroseconds();
  const settingFor = (client: string, seed: number) =>
    settingOf({
      client,
      servers: [{ blob, queue, table, file, smb: server.smbUrl }],
      random: randomFrom(run * (clients + 1) + seed),
      epochSeconds,
      began,
      write: (event) => void events.push(event),
      delivered: () => receiver.events,
    });
  const own = settingFor("main", clients);
  await workload.setUp(own);
  // Long enough for messages to become visible again.
  const windowsOver = began + windowsMicroseconds;
  const each = Array.from({ length: clients }, (_, index) => {
    let steps = 0;
    const isOver = (): boolean => {
      steps += 1;
      const isLate = workload.name !== "queue" || monotonicMicroseconds() > windowsOver;
      return isLate && steps > stepsMax;
    };
    return runClient(workload, settingFor(`c${index}`, index), isOver);
  });
  await Promise.all(each);
  await workload.finish(own, [...new Set(operationsIn(events).map(({ key }) => key))]);
  for (const proxy of proxies) proxy.close();
  await server.stop();
  receiver.close();
  return judge([workload], operationsIn(events)).flatMap(({ problems }) => problems);
}

describe.each(workloads)("1 $name", (workload) => {
  // These mostly wait.
  const test = workload.name === "queue" || workload.name === "events" ? it.concurrent : it;

  test("finds no violation", async () => {
    expect(await problemsOf(workload, honest)).toEqual([]);
  });

  const bugs = [...plantedBugs, ...plantedTreeBugs, ...plantedEventBugs];
  test.each(bugs.filter((bug) => bug.workload === workload.name))(
    "finds the planted bug: $bug",
    async ({ lie, said }) => {
      // Whether clients meet in the critical moment is random, so a run may be repeated.
      let problems: readonly string[] = [];
      for (let run = 0; run < runsMax && problems.length === 0; run += 1) {
        problems = await problemsOf(workload, lie(), run);
      }
      expect(problems.join("\n")).toMatch(said);
    },
  );
});
