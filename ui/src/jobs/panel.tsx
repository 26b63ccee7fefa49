import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { count, plural } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { useLeavingPanel } from "../parts/leaving-panel.ts";
import { useLeaveWarning } from "../parts/leave-warning.ts";
import { useStore } from "../store.ts";
import {
  allJobs,
  cancelJob,
  dismissJob,
  isAnyJobRunning,
  jobChanges,
  retryJob,
  type Job,
} from "./jobs.ts";

const shownMax = 4;
const failuresShownMax = 50;

/** Progress, results and failures of jobs; stays visible on all pages. */
export function JobPanel(): JSX.Element | null {
  const changes = useStore(jobChanges);
  const list = useMemo(() => allJobs().slice(-shownMax).toReversed(), [changes]);
  useLeaveWarning(isAnyJobRunning);
  if (list.length === 0) return null;
  return (
    <section class="jobs" aria-label="Jobs">
      {list.map((job) => (
        <JobRow key={job.id} job={job} />
      ))}
    </section>
  );
}

function JobRow({ job }: { readonly job: Job }): JSX.Element {
  const { id, title, state, failures, problem, result } = job;
  const [isSmall, setSmall] = useState(false);
  const isRunning = state === "running";
  // A result and failures stay until they are read.
  const isSettled = state === "done" && failures.length === 0;
  useLeavingPanel(isSettled && problem === undefined && result === undefined, () => dismissJob(id));
  return (
    <div class="job" role="group" aria-label={title}>
      <header class="uploads-head">
        <h2>{title}</h2>
        <span class="soft uploads-count" role="status">
          {words(job)}
        </span>
        {isRunning && (
          <Button icon="stop" onClick={() => cancelJob(id)}>
            Cancel
          </Button>
        )}
        {!isRunning && failures.length > 0 && (
          <Button icon="refresh" onClick={() => retryJob(id)}>
            Retry {count(failures.length)}
          </Button>
        )}
        {failures.length > 0 && (
          <Button
            kind="quiet"
            icon={isSmall ? "expand" : "minimise"}
            label={isSmall ? "Show failures" : "Hide failures"}
            onClick={() => setSmall(!isSmall)}
          />
        )}
        {!isRunning && (
          <Button kind="quiet" icon="close" label="Dismiss" onClick={() => dismissJob(id)} />
        )}
      </header>
      {isRunning && <Bar job={job} />}
      {!isSmall && <Failures job={job} />}
    </div>
  );
}

function Bar({ job }: { readonly job: Job }): JSX.Element {
  const { isListed, foundCount, doneCount, failures, title } = job;
  // Without a value the bar shows that the total is not known.
  const value = isListed ? { value: doneCount + failures.length } : {};
  return <progress max={Math.max(1, foundCount)} {...value} aria-label={`Progress of ${title}`} />;
}

function words({ state, doneCount, foundCount, isListed, failures, ...more }: Job): string {
  const failed = failures.length + more.moreFailures;
  const total = isListed ? count(foundCount) : `${count(foundCount)}+`;
  const parts = [`${count(doneCount)} of ${total}`];
  if (failed > 0) parts.push(`${count(failed)} failed`);
  if (state === "cancelled") parts.push("cancelled");
  if (more.result !== undefined) parts.push(more.result);
  return parts.join(", ");
}

function Failures({ job }: { readonly job: Job }): JSX.Element | null {
  const { failures, problem, moreFailures } = job;
  if (failures.length === 0 && problem === undefined) return null;
  const more = moreFailures + Math.max(0, failures.length - failuresShownMax);
  return (
    <div class="job-failures" tabIndex={0} role="region" aria-label={`Failures of ${job.title}`}>
      {problem !== undefined && <p class="problem">Listing failed: {problem}</p>}
      <ul class="states">
        {failures.slice(0, failuresShownMax).map(({ id, name, problem: text }) => (
          <li key={id} class="state">
            <strong class="wrap">{name}</strong>
            <span class="wrap">{text}</span>
          </li>
        ))}
      </ul>
      {more > 0 && <p class="soft">And {plural(more, "further failure")}.</p>}
    </div>
  );
}
