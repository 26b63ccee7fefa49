import { start } from "../../src/index.ts";
import { freePorts } from "../harness/free-ports.ts";
import { EventReceiver } from "./event-receiver.ts";
import { operationsIn, type HistoryEvent, type Operation } from "./history.ts";
import { LyingProxy, type Lie } from "./lying-proxy.ts";
import { plantedBugs, type PlantedBug } from "./planted-bugs.ts";
import { plantedEventBugs } from "./planted-event-bugs.ts";
import { plantedTreeBugs } from "./planted-tree-bugs.ts";
import { randomFrom } from "./random.ts";
import { monotonicMicroseconds } from "./recorder.ts";
import { runClient, settingOf } from "./session.ts";
import { accountsWith, type ServiceName } from "./wire.ts";
import type { Workload } from "./workload.ts";

export const allPlantedBugs: readonly PlantedBug[] = [
  ...plantedBugs,
  ...plantedTreeBugs,
  ...plantedEventBugs,
];

const services: readonly ServiceName[] = ["blob", "queue", "table", "file"];
const clients = 4;
const stepsMax = 60;
const windowsMicroseconds = 2_500_000;
const epochSeconds = 100;

/** The history of a short run of one workload in this process, through a proxy that lies. */
export async function recordWith(
  workload: Workload,
  lie: Lie,
  run = 0,
): Promise<readonly Operation[]> {
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
  return operationsIn(events);
}
