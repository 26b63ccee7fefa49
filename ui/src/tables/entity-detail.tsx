import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useUnsaved } from "../edit/unsaved.ts";
import { useOptimistic } from "../edit/use-optimistic.tsx";
import { moment } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { Detail, Facts, Section } from "../parts/detail.tsx";
import { describeFailure, notify } from "../parts/notices.tsx";
import { Problem } from "../parts/states.tsx";
import { TimelineView } from "../parts/timeline.tsx";
import { entityToText, textToProperties, type Entity, type Property } from "../rest/entity.ts";
import {
  deleteEntity,
  getEntity,
  insertEntity,
  replaceEntity,
  type TableAddress,
} from "../rest/table.ts";
import { setQuery } from "../route.ts";
import { entityValue } from "./entity-route.ts";
import { PropertyRows, type NamedProperty } from "./property-rows.tsx";
import { rowsProblem } from "./property-rules.ts";

interface EntityDetailProps {
  readonly table: TableAddress;
  readonly entity: Entity;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

function rowsOf({ properties }: Pick<Entity, "properties">): readonly NamedProperty[] {
  return Object.entries(properties).map(([name, property]) => ({ name, ...property }));
}

function propertiesOf(rows: readonly NamedProperty[]): Readonly<Record<string, Property>> {
  const named = rows.filter(({ name }) => name !== "");
  return Object.fromEntries(named.map(({ name, type, text }) => [name, { type, text }]));
}

/** The stored entity, the edited properties, and saving with If-Match. */
function useEntity({ table, entity: given, onChanged }: EntityDetailProps) {
  const [entity, setEntity] = useState(given);
  const [rows, setRows] = useState(() => rowsOf(given));
  const [keys, setKeys] = useState<Keys>(given);
  const address = { ...table, partitionKey: keys.partitionKey, rowKey: keys.rowKey };
  const refresh = async (): Promise<void> => {
    const found = await getEntity(address);
    if (!found.ok) return;
    setEntity(found.value);
    setRows(rowsOf(found.value));
    onChanged();
  };
  const saving = useOptimistic({
    what: `Entity ${address.partitionKey}/${address.rowKey}`,
    write: (text, ifMatch) => replaceEntity(address, textToProperties(text), ifMatch),
    read: async () => {
      const found = await getEntity(address);
      if (!found.ok) return found;
      return { ok: true, value: { text: entityToText(found.value), etag: found.value.etag } };
    },
    onSaved: () => void refresh(),
    onDiscarded: () => void refresh(),
  });
  const [problem, setProblem] = useState<string>();
  const insert = async (): Promise<void> => {
    const result = await insertEntity(table, { ...address, properties: propertiesOf(rows) });
    setProblem(result.ok ? undefined : describeFailure(result.failure));
    if (!result.ok) return;
    notify("good", "Entity inserted");
    onChanged();
    setQuery({ entity: entityValue(address) });
  };
  const replace = async (): Promise<void> => {
    const began = { text: entityToText(entity), etag: entity.etag };
    await saving.save(entityToText({ properties: propertiesOf(rows) }), began);
  };
  const save = (): void => {
    const mistake = rowsProblem(rows);
    setProblem(mistake);
    if (mistake === undefined) void (entity.etag === "" ? insert() : replace());
  };
  const isChanged = JSON.stringify(rows) !== JSON.stringify(rowsOf(entity));
  useUnsaved(isChanged, save);
  const edit = (next: readonly NamedProperty[]): void => {
    setRows(next);
    setProblem((before) => before && rowsProblem(next));
  };
  const shownProblem = problem ?? saving.problem;
  return { entity, rows, edit, keys, setKeys, address, save, shownProblem, dialog: saving.dialog };
}

export function EntityDetail(props: EntityDetailProps): JSX.Element {
  const { table, onClose, onChanged } = props;
  const { entity, rows, edit, keys, setKeys, address, save, dialog, ...more } = useEntity(props);
  const [isDeleting, setDeleting] = useState(false);
  const isNew = entity.etag === "";
  const name = `${entity.partitionKey} / ${entity.rowKey}`;
  const remove = async (): Promise<string | undefined> => {
    const result = await deleteEntity(address, entity.etag);
    if (!result.ok) return describeFailure(result.failure);
    onClose();
    onChanged();
    return undefined;
  };
  const actions = isNew ? (
    <Button kind="main" needs="write" onClick={save}>
      Insert entity
    </Button>
  ) : (
    <>
      <Button kind="main" needs="write" onClick={save}>
        Save
      </Button>
      <Button kind="danger" icon="trash" needs="delete" onClick={() => setDeleting(true)}>
        Delete
      </Button>
    </>
  );
  return (
    <Detail title={isNew ? "New entity" : name} onClose={onClose} actions={actions}>
      {isNew ? <KeyFields keys={keys} onChange={setKeys} /> : <EntityState entity={entity} />}
      <Section title="Properties">
        <PropertyRows rows={rows} onChange={edit} />
        <Problem text={more.shownProblem} />
      </Section>
      {!isNew && (
        <Section title="Timeline">
          <TimelineView of={{ service: "table", ...timelineAddress(table, keys) }} />
        </Section>
      )}
      {dialog}
      {isDeleting && (
        <Confirm
          title="Delete entity"
          text={`Delete ${name}?`}
          action="Delete"
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        />
      )}
    </Detail>
  );
}

interface Keys {
  readonly partitionKey: string;
  readonly rowKey: string;
}

function timelineAddress({ account, table }: TableAddress, { partitionKey, rowKey }: Keys) {
  return { account, container: table, partitionKey, rowKey };
}

function EntityState({ entity }: { readonly entity: Entity }): JSX.Element {
  return (
    <Section title="State">
      <Facts
        facts={[
          ["ETag", <code>{entity.etag}</code>],
          ["Timestamp", moment(entity.timestamp)],
        ]}
      />
    </Section>
  );
}

interface KeyFieldsProps {
  readonly keys: Keys;
  readonly onChange: (keys: Keys) => void;
}

/** The user has opened the form to fill it in; a stable function is called once per element. */
function focusField(input: HTMLInputElement | null): void {
  input?.focus();
}

function KeyFields({ keys, onChange }: KeyFieldsProps): JSX.Element {
  return (
    <div class="row section">
      {(["partitionKey", "rowKey"] as const).map((name) => (
        <label class="field" key={name}>
          <span class="field-label">{name === "rowKey" ? "RowKey" : "PartitionKey"}</span>
          <input
            ref={name === "partitionKey" ? focusField : null}
            value={keys[name]}
            onInput={(event) => onChange({ ...keys, [name]: event.currentTarget.value })}
          />
        </label>
      ))}
    </div>
  );
}
