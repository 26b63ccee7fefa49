import { setClockOffset, TransactionalStore } from "../../src/store/transactional-store.ts";
import { storeConformance } from "../harness/store/conformance.ts";
import { ModelEngine, StoreFile } from "./engine-file.ts";
import { noFaults } from "./faults.ts";
import { Moments } from "./moments.ts";
import { Scheduler } from "./scheduler.ts";
import { SimProcess } from "./sim-process.ts";

const time = { bootId: "boot-1", bootedAt: 0, wallOffsetMicroseconds: 0 };
const rates = { ...noFaults, blockingCommit: 0.5 };
const keepAliveMicroseconds = 1000;

/** The model conforms to the suite of all engines: what a simulation shows of it, real engines do
 *  as well. */
storeConformance("the model of LMDB", async (options) => {
  const scheduler = new Scheduler(1);
  const process = new SimProcess({
    scheduler,
    pid: 1,
    time: () => time,
    random: { bytes: (length) => new Uint8Array(length) },
    write: () => {},
  });
  const engine = new ModelEngine({
    file: new StoreFile(),
    process,
    scheduler,
    rates,
    conditions: {
      isDiskFull: false,
      diskSlowness: 1,
      hasFaults: false,
      moments: new Moments(scheduler),
    },
    counts: new Map(),
    diskMicroseconds: [10, 100],
    isFlushed: true,
  });
  let isClosed = false;
  const keepAlive = (): void => void scheduler.schedule(keepAliveMicroseconds, keepAlive);
  keepAlive();
  void scheduler.run(() => isClosed);
  await setClockOffset(engine, options.clock, true);
  const close = async (): Promise<void> => {
    isClosed = true;
    await engine.close();
  };
  const closing = { open: () => engine.open(), commit: engine.commit.bind(engine), close };
  return new TransactionalStore({ ...options, engine: closing, owner: 1 });
});
