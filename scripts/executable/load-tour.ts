/** Replaces `src/cli/load-tour.ts`: the tour is part of the program, evaluated when it is used. */
export async function loadTour() {
  return import("../../examples/tour/print-tour.ts");
}
