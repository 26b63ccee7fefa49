import type { FaultRates } from "./faults.ts";
import type { Plan } from "./plan.ts";
import { simulate } from "./simulation.ts";

const roundsMax = 8;

/** Reduces a plan as long as it still fails: fewer workloads, events, faults, processes, clients
 *  and operations. `report` is called for each smaller plan. */
export async function shrink(failing: Plan, report: (smaller: Plan) => void): Promise<Plan> {
  let smallest = failing;
  for (let round = 0; round < roundsMax; round += 1) {
    const before = smallest;
    for (const reduce of reductions(smallest)) {
      const smaller = reduce(smallest);
      if (smaller === undefined || !(await fails(smaller))) continue;
      smallest = smaller;
      report(smallest);
    }
    if (smallest === before) break;
  }
  return smallest;
}

async function fails(plan: Plan): Promise<boolean> {
  return (await simulate(plan)).problems.length > 0;
}

type Reduce = (plan: Plan) => Plan | undefined;

/** Each returns a smaller plan, or undefined if it cannot be reduced so. */
function reductions(plan: Plan): readonly Reduce[] {
  return [
    ...plan.workloads.map((name) => without("workloads", name)),
    ...plan.events.map((name) => without("events", name)),
    ...(Object.keys(plan.rates) as (keyof FaultRates)[]).map(withoutRate),
    ...[100, 300, 700].map(atMost("operationsMax")),
    atMost("processes")(1),
    atMost("processes")(2),
    atMost("clientsEach")(1),
    atMost("clientsEach")(2),
    ...[50, 150, 400, 1000].map(atMost("operationsMax")),
  ];
}

function without(field: "workloads" | "events", name: string): Reduce {
  return (plan) => {
    const list: readonly string[] = plan[field];
    const isLast = field === "workloads" && list.length === 1;
    if (isLast || !list.includes(name)) return undefined;
    return { ...plan, [field]: list.filter((each) => each !== name) };
  };
}

function withoutRate(name: keyof FaultRates): Reduce {
  return (plan) =>
    plan.rates[name] === 0 ? undefined : { ...plan, rates: { ...plan.rates, [name]: 0 } };
}

function atMost(field: "operationsMax" | "processes" | "clientsEach") {
  return (value: number): Reduce =>
    (plan) =>
      plan[field] <= value ? undefined : { ...plan, [field]: value };
}
