import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { edmTypes, entityToText, textToProperties, type Property } from "../rest/entity.ts";
import {
  csvToEntities,
  entitiesToCsv,
  entitiesToJson,
  jsonToEntities,
  type Plain,
} from "./entity-files.ts";

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/);
const letters = fc.string({ unit: "binary", maxLength: 20 });
const valuesByType: Readonly<Record<string, fc.Arbitrary<string>>> = {
  "Edm.Int32": fc.integer().map(String),
  "Edm.Int64": fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  "Edm.Double": fc.constantFrom("0.5", "-1.25", "1e+100", "NaN", "Infinity"),
  "Edm.Boolean": fc.constantFrom("true", "false"),
};
const property: fc.Arbitrary<Property> = fc
  .constantFrom(...edmTypes)
  .chain((type) => (valuesByType[type] ?? letters).map((text) => ({ type, text })));
const properties = fc.dictionary(name, property, { maxKeys: 5, noNullPrototype: true });
const entities = fc.array(fc.record({ partitionKey: letters, rowKey: letters, properties }), {
  minLength: 1,
  maxLength: 5,
});

/** Without timestamp and ETag, which files do not contain. */
const plain = ({ partitionKey, rowKey, properties: all }: Plain) => ({
  partitionKey,
  rowKey,
  properties: { ...all },
});

describe("entities in files", () => {
  it("are unchanged by CSV export and import", () => {
    fc.assert(
      fc.property(entities, (list) => {
        expect(csvToEntities(entitiesToCsv(list))).toEqual(list.map(plain));
      }),
    );
  });

  it("are unchanged by JSON export and import", () => {
    fc.assert(
      fc.property(entities, (list) => {
        expect(jsonToEntities(entitiesToJson(list)).map(plain)).toEqual(list.map(plain));
      }),
    );
  });

  it("are unchanged by the conversion to lines", () => {
    fc.assert(
      fc.property(properties, (all) => {
        expect(textToProperties(entityToText({ properties: all }))).toEqual({ ...all });
      }),
    );
  });
});
