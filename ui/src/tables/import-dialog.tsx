import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { count, plural } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Choice } from "../parts/field.tsx";
import { describeFailure } from "../parts/notices.tsx";
import { insertEntity, replaceEntity, type TableAddress } from "../rest/table.ts";
import { CsvPreview, type CsvFile } from "./csv-preview.tsx";
import {
  csvToEntities,
  jsonToEntities,
  readCsv,
  type CsvPlan,
  type Plain,
} from "./entity-files.ts";

interface ImportDialogProps {
  readonly address: TableAddress;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

interface Progress {
  readonly total: number;
  readonly written: number;
  readonly skipped: number;
  readonly problem?: string;
}

const treatments = [
  ["skip", "Skip"],
  ["replace", "Replace"],
] as const;

/** Entities that are written at the same time. */
const atOnceMax = 6;

/** The dialog that imports entities from a CSV or JSON file. */
export function ImportDialog({ address, onClose, onDone }: ImportDialogProps): JSX.Element {
  const file = useRef<HTMLInputElement>(null);
  const stop = useRef(false);
  const [existing, setExisting] = useState("skip");
  const [csv, setCsv] = useState<CsvFile>();
  const [progress, setProgress] = useState<Progress>();
  const run = async (): Promise<void> => {
    const chosen = file.current?.files?.[0];
    if (chosen === undefined) return;
    const entities = await readFile(chosen, csv?.plan);
    await writeAll(entities, {
      address,
      isReplacing: existing === "replace",
      isStopped: () => stop.current,
      onProgress: setProgress,
    });
    onDone();
  };
  const preview = async (chosen: File | undefined): Promise<void> => {
    const isCsv = chosen !== undefined && !/\.json$/i.test(chosen.name);
    setCsv(isCsv ? readCsv(await chosen.text()) : undefined);
    setProgress(undefined);
  };
  const close = (): void => {
    stop.current = true;
    onClose();
  };
  const isDone = progress !== undefined && progress.written + progress.skipped >= progress.total;
  return (
    <Dialog title={`Import into ${address.table}`} onClose={close} wide={csv !== undefined}>
      <div class="form">
        <label class="field">
          <span class="field-label">CSV or JSON file</span>
          <input
            ref={file}
            type="file"
            accept=".csv,.json"
            onChange={({ currentTarget }) => void preview(currentTarget.files?.[0])}
          />
        </label>
        {csv !== undefined && <CsvPreview csv={csv} onPlan={(plan) => setCsv({ ...csv, plan })} />}
        <Choice
          label="Existing entities"
          value={existing}
          onChange={setExisting}
          options={treatments}
        />
        {progress !== undefined && <ProgressView progress={progress} />}
        <footer class="dialog-foot">
          <Button onClick={close}>{isDone ? "Close" : "Cancel"}</Button>
          <Button kind="main" disabled={progress !== undefined} onClick={() => void run()}>
            Import
          </Button>
        </footer>
      </div>
    </Dialog>
  );
}

function ProgressView({ progress }: { readonly progress: Progress }): JSX.Element {
  const { total, written, skipped, problem } = progress;
  return (
    <>
      <progress max={total} value={written + skipped} aria-label="Entities imported" />
      <p role="status">
        {count(written)} of {plural(total, "entity", "entities")} written
        {skipped === 0 ? "" : `, ${count(skipped)} skipped`}
      </p>
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}

async function readFile(file: File, plan: CsvPlan | undefined): Promise<readonly Plain[]> {
  const text = await file.text();
  try {
    return /\.json$/i.test(file.name) ? jsonToEntities(text) : csvToEntities(text, plan);
  } catch {
    return [];
  }
}

interface Writing {
  readonly address: TableAddress;
  readonly isReplacing: boolean;
  readonly isStopped: () => boolean;
  readonly onProgress: (progress: Progress) => void;
}

async function writeAll(entities: readonly Plain[], writing: Writing): Promise<void> {
  let next = 0;
  let progress: Progress = { total: entities.length, written: 0, skipped: 0 };
  writing.onProgress(progress);
  const work = async (): Promise<void> => {
    for (let entity = entities[next]; entity !== undefined; entity = entities[next]) {
      if (writing.isStopped()) return;
      next += 1;
      const result = writing.isReplacing
        ? await replaceEntity({ ...writing.address, ...entity }, entity.properties, undefined)
        : await insertEntity(writing.address, entity);
      if (result.ok) progress = { ...progress, written: progress.written + 1 };
      else {
        const problem =
          result.failure.status === 409 ? {} : { problem: describeFailure(result.failure) };
        progress = { ...progress, skipped: progress.skipped + 1, ...problem };
      }
      writing.onProgress(progress);
    }
  };
  await Promise.all(Array.from({ length: atOnceMax }, work));
}
