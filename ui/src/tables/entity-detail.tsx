import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useOptimistic } from "../edit/use-optimistic.tsx";
import { moment } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { Detail, Facts, Section } from "../parts/detail.tsx";
import { describeFailure, report } from "../parts/notices.tsx";
import { TimelineView } from "../parts/timeline.tsx";
import { entityToText, textToProperties, type Entity, type Property } from "../rest/entity.ts";
import {
  deleteEntity,
  getEntity,
  insertEntity,
  replaceEntity,
  type TablePlace,
} from "../rest/table.ts";
import { PropertyRows, type NamedProperty } from "./property-rows.tsx";

export interface EntityDetailProps {
  readonly table: TablePlace;
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

export function EntityDetail(props: EntityDetailProps): JSX.Element {
  const { table, onClose, onChanged } = props;
  const [entity, setEntity] = useState(props.entity);
  const [rows, setRows] = useState(() => rowsOf(props.entity));
  const [keys, setKeys] = useState({ partitionKey: entity.partitionKey, rowKey: entity.rowKey });
  const [isDeleting, setDeleting] = useState(false);
  const isNew = entity.etag === "";
  const place = { ...table, ...keys };
  const refresh = async (): Promise<void> => {
    const found = await getEntity(place);
    if (!found.ok) return;
    setEntity(found.value);
    setRows(rowsOf(found.value));
    onChanged();
  };
  const saving = useOptimistic({
    what: `Entity ${keys.partitionKey}/${keys.rowKey}`,
    write: (text, ifMatch) => replaceEntity(place, textToProperties(text), ifMatch),
    read: async () => {
      const found = await getEntity(place);
      if (!found.ok) return found;
      return { ok: true, value: { text: entityToText(found.value), etag: found.value.etag } };
    },
    onSaved: () => void refresh(),
    onDiscarded: () => void refresh(),
  });
  const save = async (): Promise<void> => {
    const properties = propertiesOf(rows);
    if (isNew) {
      if (report(await insertEntity(table, { ...keys, properties }), "Inserted")) await refresh();
      return;
    }
    await saving.save(entityToText({ properties }), {
      text: entityToText(entity),
      etag: entity.etag,
    });
  };
  const remove = async (): Promise<string | undefined> => {
    const result = await deleteEntity(place, entity.etag);
    if (!result.ok) return describeFailure(result.failure);
    onClose();
    onChanged();
    return undefined;
  };
  return (
    <Detail
      title={isNew ? "New entity" : `${entity.partitionKey} / ${entity.rowKey}`}
      onClose={onClose}
      actions={
        <>
          <Button kind="main" onClick={() => void save()}>
            {isNew ? "Insert" : "Save"}
          </Button>
          {!isNew && (
            <Button kind="danger" icon="trash" onClick={() => setDeleting(true)}>
              Delete
            </Button>
          )}
        </>
      }
    >
      {isNew ? <KeyFields keys={keys} onChange={setKeys} /> : <EntityState entity={entity} />}
      <Section title="Properties">
        <PropertyRows rows={rows} onChange={setRows} />
      </Section>
      {!isNew && (
        <Section title="Timeline">
          <TimelineView of={{ service: "table", ...timelinePlace(table, keys) }} />
        </Section>
      )}
      {saving.dialog}
      {isDeleting && (
        <Confirm
          title="Delete entity"
          text={`Delete ${entity.partitionKey} / ${entity.rowKey}?`}
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

function timelinePlace({ account, table }: TablePlace, keys: Keys) {
  return { account, container: table, ...keys };
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

function KeyFields({ keys, onChange }: KeyFieldsProps): JSX.Element {
  return (
    <div class="row section">
      {(["partitionKey", "rowKey"] as const).map((name) => (
        <label class="field" key={name}>
          <span class="field-label">{name === "rowKey" ? "RowKey" : "PartitionKey"}</span>
          <input
            value={keys[name]}
            onInput={(event) => onChange({ ...keys, [name]: event.currentTarget.value })}
          />
        </label>
      ))}
    </div>
  );
}
