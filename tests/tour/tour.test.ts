import { expect, it } from "vitest";
import { runTour } from "../../examples/tour/run-tour.ts";
import { steps } from "../../examples/tour/steps.ts";
import { silentPrinter, type Step } from "../../examples/tour/tour.ts";

it.each(steps)("$title", async (step) => {
  expect(await runTour(silentPrinter, [step])).toEqual([]);
});

it("reports a step that does not behave as announced", async () => {
  const wrong: Step = {
    title: "wrong",
    run: async ({ check }) => check("one and one", 1 + 1, 3),
  };
  expect(await runTour(silentPrinter, [wrong])).toHaveLength(1);
});
