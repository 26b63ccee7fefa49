import { planOf, type Plan } from "./plan.ts";

interface KeptPlan {
  /** What it showed; each was repaired. */
  readonly found: string;
  readonly plan: Plan;
}

/** Plans that have failed, as small as they still did. */
export const keptPlans: readonly KeptPlan[] = [
  {
    found: "leases ended early when a server was started again after a change of the wall clock",
    plan: {
      ...planOf(109),
      seed: 111,
      processes: 1,
      workloads: ["timed lease"],
      events: ["kill", "clock jump"],
      eventSeconds: 1,
      secondsMax: 60,
      clientsEach: 5,
      operationsMax: 150,
    },
  },
];
