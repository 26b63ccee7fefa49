import type { JSX } from "preact";
import { useLoad } from "../load.ts";
import { Detail } from "../parts/detail.tsx";
import type { PagedList } from "../parts/paged-list.ts";
import { Failed, Waiting } from "../parts/states.tsx";
import { done } from "../result.ts";
import type { Entity } from "../rest/entity.ts";
import { getEntity, type TableAddress } from "../rest/table.ts";
import { changedQuery, go, useQueryValue } from "../route.ts";
import { EntityDetail } from "./entity-detail.tsx";
import { entityValue, keysIn } from "./entity-route.ts";

const newEntity: Entity = {
  partitionKey: "",
  rowKey: "",
  timestamp: "",
  etag: "",
  properties: {},
};

interface EntityBesideProps {
  readonly table: TableAddress;
  readonly list: PagedList<Entity>;
  readonly onChanged: () => void;
}

/** The entity that the address names, or a new one. */
export function EntityBeside(props: EntityBesideProps): JSX.Element | null {
  const [value] = useQueryValue("entity");
  const close = (): void => go(changedQuery({ entity: undefined }));
  if (value === "") return null;
  if (value === "new") {
    return <EntityDetail {...props} key="new" entity={newEntity} onClose={close} />;
  }
  return <LoadedEntity {...props} key={value} value={value} onClose={close} />;
}

interface LoadedEntityProps extends EntityBesideProps {
  readonly value: string;
  readonly onClose: () => void;
}

/** An entity of the list is shown at once, another one when it is loaded. */
function LoadedEntity({ value, list, ...props }: LoadedEntityProps): JSX.Element {
  const loaded = useLoad(() => {
    const listed = list.find((row) => entityValue(row) === value);
    if (listed !== undefined) return Promise.resolve(done(listed));
    const keys = keysIn(value) ?? { partitionKey: value, rowKey: "" };
    return getEntity({ ...props.table, ...keys });
  }, []);
  if (loaded.value !== undefined) return <EntityDetail {...props} entity={loaded.value} />;
  return (
    <Detail title="Entity" onClose={props.onClose}>
      {loaded.failure === undefined ? (
        <Waiting />
      ) : (
        <Failed what="entity" failure={loaded.failure} onRetry={loaded.reload} />
      )}
    </Detail>
  );
}
