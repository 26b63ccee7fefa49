import { fail, ok, type Result } from "../../protocol/result.ts";
import { edm, type EdmType, type EdmValue, type Property } from "./edm.ts";

/** Limit of the service per entity, without PartitionKey, RowKey and Timestamp. */
export const propertiesMax = 252;
/** Limit of the service, in UTF-16 code units. */
const propertyNameUnitsMax = 255;
/** Limit of the service per property value; a string counts 2 bytes per UTF-16 code unit. */
const valueBytesMax = 64 * 1024;
/** Limit of the service for each of PartitionKey and RowKey, in UTF-16 code units. */
export const keyUnitsMax = 512;
/** Limit of the service per entity, computed as in `checkEntity`. */
const entityBytesMax = 1024 * 1024;
/** Limit of a request body. Larger than that of the entity, because of the syntax and escapes of
 *  JSON. */
export const entityBodyBytesMax = 4 * 1024 * 1024;

const passed = ok(undefined);

/** Property names are C# identifiers. Most are ASCII, so `asciiIdentifierPattern`, which is
 *  cheaper, is tested first. */
const identifierPattern = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]*$/u;
const asciiIdentifierPattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function checkPropertyName(name: string): Result<undefined> {
  if (name.length > propertyNameUnitsMax) return fail("PropertyNameTooLong");
  if (asciiIdentifierPattern.test(name) || identifierPattern.test(name)) return passed;
  return fail("PropertyNameInvalid");
}

// eslint-disable-next-line no-control-regex -- the service rejects exactly these
const forbiddenInKey = /[/\\#?\u0000-\u001F\u007F-\u009F]/;

export function checkKey(which: "PartitionKey" | "RowKey", key: string): Result<undefined> {
  if (key.length > keyUnitsMax) return fail("KeyValueTooLarge");
  if (!forbiddenInKey.test(key)) return passed;
  const message = `The '${which}' parameter of value '${key}' is out of range.`;
  return fail("OutOfRangeInput", { message });
}

export function checkValue(type: EdmType, value: EdmValue): Result<undefined> {
  return valueBytes(type, value) > valueBytesMax ? fail("PropertyValueTooLarge") : passed;
}

/** Checks the number of properties and the size, computed as in learn.microsoft.com/rest/api/
 *  storageservices/understanding-the-table-service-data-model */
export function checkEntity(
  { partitionKey, rowKey }: { readonly partitionKey: string; readonly rowKey: string },
  properties: readonly Property[],
): Result<undefined> {
  if (properties.length > propertiesMax) return fail("TooManyProperties");
  let bytes = 4 + (partitionKey.length + rowKey.length) * 2;
  for (const [name, type, value] of properties) {
    bytes += 8 + name.length * 2 + valueBytes(type, value);
  }
  return bytes > entityBytesMax ? fail("EntityTooLarge") : passed;
}

function valueBytes(type: EdmType, value: EdmValue): number {
  switch (type) {
    case edm.string:
      return (value as string).length * 2;
    case edm.binary:
      return (value as Uint8Array).length;
    case edm.guid:
      return 16;
    case edm.boolean:
      return 1;
    case edm.int32:
      return 4;
    case edm.int64:
    case edm.double:
    case edm.dateTime:
      return 8;
  }
}
