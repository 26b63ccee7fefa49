/** The module that the build makes of `examples/tour`. */
interface Tour {
  /** Runs all steps and prints them; returns the exit code. */
  readonly printTour: () => Promise<number>;
}

/** Loads `examples/tour`, which the build has put into one file with its client libraries. A module
 *  of its own, because an executable has no such file and contains the tour itself. */
export async function loadTour(): Promise<Tour> {
  const file = new URL("../tour.js", import.meta.url);
  return (await import(file.href)) as Tour;
}
