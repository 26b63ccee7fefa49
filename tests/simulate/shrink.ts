import type { FaultRates } from "./faults.ts";
import type { Plan } from "./plan.ts";

const roundsMax = 8;
/** A smaller plan does other things in another order: other seeds may still show the failure. */
const seedsEach = 3;
const seedStep = 100_000;

/** How a plan is run, and how long this may take altogether. */
export interface Shrinking {
  /** The problems of a plan. */
  readonly run: (plan: Plan) => Promise<readonly string[]>;
  /** Called for each smaller plan that fails as well. */
  readonly report: (smaller: Plan) => void;
  readonly isOver: () => boolean;
}

/** Reduces a plan as long as it still fails in the same way: fewer operations, workloads, events,
 *  faults, processes and clients. */
export async function shrink(
  failing: Plan,
  problems: readonly string[],
  { run, report, isOver }: Shrinking,
): Promise<Plan> {
  const wanted = new Set(problems.map(kindOf));
  let smallest = failing;
  for (let round = 0; round < roundsMax && !isOver(); round += 1) {
    const before = smallest;
    for (const reduce of reductions(smallest)) {
      const smaller = reduce(smallest);
      if (smaller === undefined) continue;
      for (let tries = 0; tries < seedsEach && !isOver(); tries += 1) {
        const plan = { ...smaller, seed: smaller.seed + tries * seedStep };
        if (!(await run(plan)).some((problem) => wanted.has(kindOf(problem)))) continue;
        smallest = plan;
        report(smallest);
        break;
      }
    }
    if (smallest === before) break;
  }
  return smallest;
}

/** The workload or check that has the problem. */
function kindOf(problem: string): string {
  return problem.slice(0, problem.indexOf(":"));
}

type Reduce = (plan: Plan) => Plan | undefined;

/** Each returns a smaller plan, or undefined if it cannot be reduced so. Those that save most time
 *  come first. */
function reductions(plan: Plan): readonly Reduce[] {
  return [
    ...[60, 200, 600].map(atMost("operationsMax")),
    ...plan.workloads.map((name) => only(name)),
    ...plan.workloads.map((name) => without("workloads", name)),
    (from) => (from.events.length === 0 ? undefined : { ...from, events: [] }),
    ...plan.events.map((name) => without("events", name)),
    withoutRates,
    ...(Object.keys(plan.rates) as (keyof FaultRates)[]).map(withoutRate),
    ...[1, 2].map(atMost("processes")),
    ...[1, 2, 3].map(atMost("clientsEach")),
    ...[20, 60].map(atMost("secondsMax")),
    ...[20, 100, 400, 1000].map(atMost("operationsMax")),
  ];
}

function only(name: string): Reduce {
  return (plan) =>
    plan.workloads.length === 1 || !plan.workloads.includes(name)
      ? undefined
      : { ...plan, workloads: [name] };
}

function without(field: "workloads" | "events", name: string): Reduce {
  return (plan) => {
    const list: readonly string[] = plan[field];
    const isLast = field === "workloads" && list.length === 1;
    if (isLast || !list.includes(name)) return undefined;
    return { ...plan, [field]: list.filter((each) => each !== name) };
  };
}

const withoutRates: Reduce = (plan) => {
  const names = Object.keys(plan.rates) as (keyof FaultRates)[];
  if (names.every((name) => plan.rates[name] === 0)) return undefined;
  const none = Object.fromEntries(names.map((name) => [name, 0])) as unknown as FaultRates;
  return { ...plan, rates: none };
};

function withoutRate(name: keyof FaultRates): Reduce {
  return (plan) =>
    plan.rates[name] === 0 ? undefined : { ...plan, rates: { ...plan.rates, [name]: 0 } };
}

function atMost(field: "operationsMax" | "processes" | "clientsEach" | "secondsMax") {
  return (value: number): Reduce =>
    (plan) =>
      plan[field] <= value ? undefined : { ...plan, [field]: value };
}
