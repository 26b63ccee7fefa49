import { subscriptionStates, type SubscriptionState } from "../../../src/account/subscription.ts";
import { DatabaseTime } from "../../../src/store/postgres/database-time.ts";
import { noFaults } from "../faults.ts";
import { replace, sometimes, wrapMethod, type PlantedBug } from "../plant.ts";
import { SimDatabase, type Session, type Statement } from "./sim-database.ts";
import { batchRules, type Tables } from "./tables.ts";

/** Commits by which a standby is behind. */
const commitsBehind = 3;

/** Some reads come from a standby that is a few commits behind. */
function readsFromStandby(): () => void {
  const isDue = sometimes(3);
  const states = new WeakMap<Session["schema"], Tables[]>();
  return wrapMethod(
    SimDatabase.prototype,
    "execute",
    (original) =>
      function execute(this: unknown, session: Session, statement: Statement, ...rest: never[]) {
        const { schema } = session;
        const { tables } = schema;
        const known = states.get(schema) ?? [];
        if (known.at(-1) !== tables) known.push(tables);
        states.set(schema, known.slice(-commitsBehind));
        const isRead = session.transaction === undefined && isReading(statement);
        if (isRead && isDue()) schema.tables = known[0] ?? tables;
        original.call(this, session as never, statement as never, ...rest);
        // A read is executed at once; nothing else has changed the tables.
        if (isRead) schema.tables = tables;
      },
  );
}

function isReading({ name, text }: Statement): boolean {
  if (text.startsWith("BEGIN")) return text !== "BEGIN" && !text.endsWith("FOR UPDATE");
  return name !== undefined && /^(get|scan_|prefetch)/.test(name);
}

/** Some transactions that deliver events store the position of the one before. */
function keepsPosition(): () => void {
  const isDue = sometimes(4);
  let last: SubscriptionState | undefined;
  return wrapMethod(
    subscriptionStates.codec,
    "encode",
    (original) =>
      function encode(this: unknown, state: SubscriptionState) {
        const position = last?.accountId === state.accountId ? last.position : state.position;
        last = state;
        return original.call(this, (isDue() ? { ...state, position } : state) as never);
      },
  );
}

/** Bugs of what only server nodes on a database have. */
export const plantedNodeBugs: readonly PlantedBug[] = [
  {
    bug: "a batch whose response was lost is applied twice",
    site: "nodes",
    plant: () => replace(batchRules, { isRepeated: () => false }),
  },
  {
    bug: "a node that was fenced can commit",
    site: "nodes",
    // Pauses that are long enough, of clients that leave nothing else in an extent.
    plan: {
      workloads: ["replaced contents"],
      processes: 3,
      clientsEach: 3,
      secondsMax: 300,
      thinkMicroseconds: 500_000,
      events: ["pause"],
      eventSeconds: 15,
      rates: noFaults,
      extentBytes: 262_144,
    },
    plant: () => replace(batchRules, { isFenced: () => false }),
  },
  { bug: "nodes read from a standby that is behind", site: "nodes", plant: readsFromStandby },
  {
    bug: "store time follows jumps of the database's clock",
    site: "nodes",
    plant: () => replace(DatabaseTime.prototype, { keep: () => undefined }),
  },
  {
    bug: "the position of a subscription is not advanced with its delivery",
    site: "nodes",
    plant: keepsPosition,
  },
];
