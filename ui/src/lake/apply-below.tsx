import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { count } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/field.tsx";
import { describeFailure } from "../parts/notices.tsx";
import { setAccessBelow, type PathAddress, type RecursiveMode } from "../rest/path.ts";
import { aclProblem, formatAcl, formatNames, type AclEntry } from "./acl.ts";

interface ApplyBelowProps {
  readonly address: PathAddress;
  readonly entries: readonly AclEntry[];
  readonly onDone: () => void;
}

interface Progress {
  readonly directories: number;
  readonly files: number;
  readonly failed: readonly string[];
  readonly state: "running" | "done" | "stopped";
  readonly problem?: string | undefined;
}

const start: Progress = { directories: 0, files: 0, failed: [], state: "running" };

const modes = [
  ["modify", "Add or change these entries"],
  ["set", "Replace the lists"],
  ["remove", "Remove these entries"],
] as const;

/** Applies the displayed entries to a directory and everything below it, page by page. */
export function ApplyBelow({ address, entries, onDone }: ApplyBelowProps): JSX.Element {
  const [mode, setMode] = useState<RecursiveMode>("modify");
  const [progress, setProgress] = useState<Progress>();
  const abort = useRef<AbortController>(undefined);
  const isRunning = progress?.state === "running";
  const apply = async (): Promise<void> => {
    const problem = aclProblem(entries, { isDirectory: true, isWhole: mode === "set" });
    if (problem !== undefined) return setProgress({ ...start, state: "stopped", problem });
    abort.current = new AbortController();
    const acl = mode === "remove" ? formatNames(entries) : formatAcl(entries);
    await applyPages({ address, mode, acl, signal: abort.current.signal }, setProgress);
    onDone();
  };
  return (
    <div class="pairs">
      <div class="row">
        <Choice
          label="Change of the directory and everything below it"
          value={mode}
          options={modes}
          onChange={(value) => setMode(value as RecursiveMode)}
        />
        {isRunning ? (
          <Button icon="stop" onClick={() => abort.current?.abort()}>
            Cancel
          </Button>
        ) : (
          <Button onClick={() => void apply()}>Apply recursively</Button>
        )}
      </div>
      {progress !== undefined && <ProgressLine progress={progress} />}
    </div>
  );
}

interface Application {
  readonly address: PathAddress;
  readonly mode: RecursiveMode;
  readonly acl: string;
  readonly signal: AbortSignal;
}

async function applyPages(
  { address, mode, acl, signal }: Application,
  show: (progress: Progress) => void,
): Promise<void> {
  let progress = start;
  let continuation: string | undefined;
  show(progress);
  do {
    const page = await setAccessBelow(address, { mode, acl }, { continuation, signal });
    if (!page.ok) {
      const isCancelled = signal.aborted;
      const problem = isCancelled ? undefined : describeFailure(page.failure);
      return show({ ...progress, state: "stopped", problem });
    }
    const { directories, files, failed, next } = page.value;
    progress = {
      directories: progress.directories + directories,
      files: progress.files + files,
      failed: [...progress.failed, ...failed].slice(0, 10),
      state: next === undefined ? "done" : "running",
    };
    continuation = next;
    show(progress);
  } while (continuation !== undefined);
}

function ProgressLine({ progress }: { readonly progress: Progress }): JSX.Element {
  const { directories, files, failed, state, problem } = progress;
  const done = { running: "so far", done: "done", stopped: "stopped" }[state];
  return (
    <>
      <p class="soft" role="status">
        Changed {count(directories)} {directories === 1 ? "directory" : "directories"} and{" "}
        {count(files)} {files === 1 ? "file" : "files"}, {done}.
      </p>
      {failed.length > 0 && (
        <p class="problem" role="alert">
          Not changed: {failed.join(", ")}
        </p>
      )}
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
