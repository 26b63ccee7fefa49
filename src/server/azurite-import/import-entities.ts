import { put } from "../../operation/effects.ts";
import { parseGuid } from "../../protocol/guid.ts";
import { applyEffects } from "../../operation/apply.ts";
import { checkEntity } from "../../table/edm/limits.ts";
import { readJsonEntity } from "../../table/json/read-entity.ts";
import { entities } from "../../table/records.ts";
import { entityRecord } from "../../table/stored/entity-record.ts";
import { fieldsOf, requiredText, ticksOf, type Fields } from "./document-fields.ts";
import type { ImportContext } from "./import-context.ts";
import { ImportRefused } from "./import-refused.ts";
import { runLimited } from "./run-limited.ts";

const entitiesAtOnceMax = 64;
const typeSuffix = "@odata.type";
const guidType = "Edm.Guid";

/** Entities keep their Timestamp, and with it their ETag. */
export async function importEntities(context: ImportContext): Promise<void> {
  // Each table has a collection of its own: `account$table`.
  const all = context.folder.documents("table", (name) => /^[^$].*\$./.test(name));
  await runLimited(all, entitiesAtOnceMax, ({ collection, fields }) =>
    importEntity(context, collection, fields),
  );
}

async function importEntity(
  { engines, staged, counts }: ImportContext,
  collection: string,
  document: Fields,
): Promise<void> {
  const dollar = collection.indexOf("$");
  const named = { account: collection.slice(0, dollar), name: collection.slice(dollar + 1) };
  const table = staged.find("table", named)?.record.id;
  if (table === undefined) {
    counts.skipped += 1;
    return;
  }
  const partitionKey = requiredText(document, "PartitionKey");
  const rowKey = requiredText(document, "RowKey");
  const keys = { partitionKey, rowKey };
  const read = readJsonEntity(JSON.stringify(propertiesOf(document["properties"])));
  const fits = read.ok ? checkEntity(keys, read.value.properties) : read;
  if (!read.ok || !fits.ok) {
    const code = fits.ok ? "" : fits.fault.code;
    const entity = JSON.stringify([partitionKey, rowKey]);
    throw new ImportRefused([`table ${named.name}, entity ${entity}: ${code}`]);
  }
  const { properties } = read.value;
  const changed = ticksOf(document["lastModifiedTime"]);
  await engines.store.transact(async (tx) => {
    const etag = changed === undefined || changed > tx.now ? tx.now : changed;
    const effect = put(entities, { table, ...keys }, entityRecord(etag, properties));
    await applyEffects(engines.content, tx, [effect], tx.now);
  });
  counts.entities += 1;
}

/** Azurite stores a GUID as the base64 form of its text. */
function propertiesOf(value: unknown): Fields {
  const properties = fieldsOf(value);
  const decoded: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const isGuid = properties[`${name}${typeSuffix}`] === guidType;
    decoded[name] = isGuid && typeof property === "string" ? guidOf(property) : property;
  }
  return decoded;
}

function guidOf(text: string): string {
  return parseGuid(text) ?? Buffer.from(text, "base64").toString("utf8");
}
