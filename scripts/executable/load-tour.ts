/** Replaces `src/cli/load-tour.ts`: the tour is part of the program, and evaluated when it is used. */
export function loadTour(): Promise<typeof import("../../examples/tour/print-tour.ts")> {
  return import("../../examples/tour/print-tour.ts");
}
