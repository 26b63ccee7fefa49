import { X509Certificate } from "node:crypto";
import { expect, it, vi } from "vitest";
import { localCertificate } from "../../src/server/https/certificate-folder.ts";
import { simWorld } from "../harness/sim-world.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

vi.mock("node:os", async (load) => ({
  ...(await load<object>()),
  hostname: () => "name_of_a_machine",
}));

it("a machine whose name no certificate can contain keeps its certificate", async () => {
  const world = { ...simWorld(1), location: temporaryFolder() };
  const first = await localCertificate(world);
  expect(new X509Certificate(first.cert).checkHost("localhost")).toBe("localhost");
  expect((await localCertificate(world)).cert).toEqual(first.cert);
});
