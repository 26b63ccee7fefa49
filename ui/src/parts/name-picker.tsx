import type { JSX } from "preact";
import { useId } from "preact/hooks";
import type { ServiceName } from "../admin/server.ts";
import { useLoad } from "../load.ts";
import { mapped, type Result } from "../result.ts";
import { listContainers } from "../rest/container.ts";
import { listShares } from "../rest/file-list.ts";
import { listQueues } from "../rest/queue.ts";
import { listTables } from "../rest/table.ts";

interface NamePickerProps {
  readonly label: string;
  readonly name: string;
  readonly account: string;
  readonly service: ServiceName;
  readonly value: string;
  readonly hint?: string;
}

const lists = {
  blob: listContainers,
  queue: listQueues,
  table: listTables,
  file: listShares,
} as const;

async function namesOf(
  account: string,
  service: ServiceName,
  signal: AbortSignal,
): Promise<Result<readonly string[]>> {
  const page = await lists[service](account, { prefix: "", marker: undefined, signal });
  return mapped(page, ({ rows }) => [...new Set(rows.map(({ name }) => name))]);
}

/** A field for the name of a container, queue, table or share, which offers the first thousand. */
export function NamePicker(props: NamePickerProps): JSX.Element {
  const { label, name, account, service, value, hint } = props;
  const id = useId();
  const names = useLoad((signal) => namesOf(account, service, signal), [account, service]);
  return (
    <label class="field">
      <span class="field-label">{label}</span>
      <input
        name={name}
        list={id}
        defaultValue={value}
        required
        autoComplete="off"
        spellcheck={false}
      />
      <datalist id={id}>
        {(names.value ?? []).map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      {hint !== undefined && <span class="hint">{hint}</span>}
    </label>
  );
}
