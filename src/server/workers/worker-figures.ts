import type { FigureSample } from "../../admin/views/figures.ts";
import { endedSample, mergeSamples, requestTotal } from "../merge-samples.ts";
import { newMetrics } from "../metrics.ts";
import { processFigures } from "../process-figures.ts";
import type { OtherFigures } from "./messages.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** Sums the figures of all processes of a server. */
export class FigureCollector {
  /** Number of workers that were replaced after an unexpected end. */
  restarts = 0;
  /** Counters of workers that have ended, so that no sum ever decreases. */
  #ended: FigureSample | undefined;

  /** Keeps the counters of a worker that has ended. */
  addEnded({ lastSample }: WorkerProcess): void {
    if (lastSample === undefined) return;
    const last = endedSample(lastSample);
    this.#ended = this.#ended === undefined ? last : mergeSamples([this.#ended, last]);
  }

  /** Collects the figures of all workers but `asking`. For a worker that does not answer, its last
   *  known figures count. */
  async collect(asking: WorkerProcess, workers: readonly WorkerProcess[]): Promise<OtherFigures> {
    const others = workers.filter((worker) => worker !== asking);
    await Promise.all(others.map((worker) => worker.ask((id) => ({ kind: "sample", id }))));
    const known = others.flatMap(({ lastSample }) => lastSample ?? []);
    // The supervisor serves no requests.
    const supervisor = newMetrics().sample(processFigures());
    const ended = this.#ended === undefined ? [] : [this.#ended];
    const processes = workers.map(({ pid, lastSample }) => ({
      pid,
      requests: lastSample === undefined ? 0 : requestTotal(lastSample),
      residentBytes: lastSample?.residentBytes ?? 0,
    }));
    return {
      others: mergeSamples([supervisor, ...ended, ...known]),
      workers: { processes, restarts: this.restarts },
    };
  }
}
