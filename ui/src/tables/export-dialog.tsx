import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { saveText } from "../blobs/download.ts";
import { count } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { describeFailure } from "../parts/notices.tsx";
import type { Entity } from "../rest/entity.ts";
import { queryEntities, type TableAddress } from "../rest/table.ts";
import { entitiesToCsv, entitiesToJson } from "./entity-files.ts";

interface ExportDialogProps {
  readonly address: TableAddress;
  readonly filter: string;
  readonly onClose: () => void;
}

const pageRows = 1000;
const rowsMax = 1_000_000;

/** Reads all matching entities page by page and saves them as one file. */
export function ExportDialog({ address, filter, onClose }: ExportDialogProps): JSX.Element {
  const [read, setRead] = useState<number>();
  const [problem, setProblem] = useState<string>();
  const abort = useMemo(() => new AbortController(), []);
  useEffect(() => () => abort.abort(), []);
  const run = async (form: "csv" | "json"): Promise<void> => {
    const all: Entity[] = [];
    let marker: string | undefined;
    setRead(0);
    do {
      const { signal } = abort;
      const page = await queryEntities(address, { filter, marker, resultsMax: pageRows, signal });
      if (!page.ok) return setProblem(describeFailure(page.failure));
      all.push(...page.value.rows);
      setRead(all.length);
      marker = page.value.next;
    } while (marker !== undefined && all.length < rowsMax);
    const text = form === "csv" ? entitiesToCsv(all) : entitiesToJson(all);
    const type = form === "csv" ? "text/csv" : "application/json";
    saveText(`${address.table}.${form}`, text, type);
    onClose();
  };
  return (
    <Dialog title={`Export ${address.table}`} onClose={onClose}>
      <div class="form">
        <p>{filter === "" ? "All entities" : <code class="wrap">{filter}</code>}</p>
        {read !== undefined && (
          <p role="status">
            <span class="spinner inline" /> {count(read)} read
          </p>
        )}
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button disabled={read !== undefined} onClick={() => void run("json")}>
            Export JSON
          </Button>
          <Button kind="main" disabled={read !== undefined} onClick={() => void run("csv")}>
            Export CSV
          </Button>
        </footer>
      </div>
    </Dialog>
  );
}
