/** The exports of the module that the build makes of `examples/tour`. */
interface Tour {
  /** Runs all steps of the tour and prints them. Returns the exit code. */
  readonly printTour: () => Promise<number>;
}

/** Loads `examples/tour`, which the build has put into one file with its client libraries. This is
 *  a separate module because the single executable contains the tour itself, and no such file. */
export async function loadTour(): Promise<Tour> {
  const file = new URL("../tour.js", import.meta.url);
  return (await import(file.href)) as Tour;
}
