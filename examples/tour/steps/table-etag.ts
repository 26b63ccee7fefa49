import { TableClient } from "@azure/data-tables";
import { refusalOf, type Step } from "../tour.ts";

export const tableETag: Step = {
  title: "Tables: a stale ETag is rejected, If-Match: * forces the update",
  async run({ connectionString, name, say, check }) {
    const table = TableClient.fromConnectionString(connectionString, name, {
      allowInsecureConnection: true,
    });
    await table.createTable();
    const keys = { partitionKey: "customers", rowKey: "ada" };
    const { etag = "" } = await table.createEntity({ ...keys, phone: "1" });
    await table.updateEntity({ ...keys, phone: "2" }, "Replace", { etag });
    say("The entity has changed since this ETag was read.");
    const stale = table.updateEntity({ ...keys, phone: "3" }, "Replace", { etag });
    check("replace is refused", await refusalOf(stale), "412 UpdateConditionNotSatisfied");
    const entity = await table.getEntity<{ phone: string }>(keys.partitionKey, keys.rowKey);
    check("the entity is as it was", entity.phone, "2");
    say("If-Match: * overwrites any version.");
    await table.updateEntity({ ...keys, phone: "4" }, "Replace", { etag: "*" });
    const forced = await table.getEntity<{ phone: string }>(keys.partitionKey, keys.rowKey);
    check("the last writer wins", forced.phone, "4");
    say("Merge and Delete compare the ETag, too. Insert or Replace and Insert or Merge never do.");
    const merge = table.updateEntity({ ...keys, mail: "a" }, "Merge", { etag });
    check("merge is refused", await refusalOf(merge), "412 UpdateConditionNotSatisfied");
    await table.upsertEntity({ ...keys, mail: "b" }, "Merge");
    const merged = await table.getEntity<{ phone: string; mail: string }>("customers", "ada");
    check("Insert or Merge keeps the phone", `${merged.phone} ${merged.mail}`, "4 b");
    const remove = table.deleteEntity(keys.partitionKey, keys.rowKey, { etag });
    check("delete is refused", await refusalOf(remove), "412 UpdateConditionNotSatisfied");
    await table.deleteEntity(keys.partitionKey, keys.rowKey, { etag: merged.etag });
  },
};
