import { fail, ok, type Result } from "../protocol/result.ts";
import type { XmlElement } from "../encoding/xml.ts";
import { element, textElement } from "../encoding/xml-writer.ts";
import type { ProtocolSetting } from "./service-properties.ts";

// Limits of this server; Azure's documented settings need far less.
const settingsMax = 32;
const depthMax = 4;
/** The element names that the service documents, of any level. */
const known: ReadonlySet<string> = new Set([
  "SMB",
  "NFS",
  "Multichannel",
  "EncryptionInTransit",
  "Enabled",
  "Required",
  "Versions",
  "AuthenticationMethods",
  "KerberosTicketEncryption",
  "ChannelEncryption",
]);

/** Parses the ProtocolSettings of the file service. Returns the leaves of the element tree with
 *  their paths: `SMB/Multichannel/Enabled` is `true`. */
export function parseProtocol(root: XmlElement): Result<readonly ProtocolSetting[]> {
  const found: ProtocolSetting[] = [];
  const fits = collect(root, [], found);
  return fits ? ok(found) : fail("UnsupportedXmlNode");
}

function collect(parent: XmlElement, path: readonly string[], found: ProtocolSetting[]): boolean {
  if (path.length > depthMax) return false;
  for (const child of parent.children) {
    if (!known.has(child.name) || found.length >= settingsMax) return false;
    const at = [...path, child.name];
    if (child.children.length === 0) found.push({ path: at.join("/"), value: child.text.trim() });
    else if (!collect(child, at, found)) return false;
  }
  return true;
}

/** Renders what `parseProtocol` has parsed; an empty text if nothing was set. */
export function renderProtocol(settings: readonly ProtocolSetting[] = []): string {
  if (settings.length === 0) return "";
  return element("ProtocolSettings", renderLevel(settings));
}

function renderLevel(settings: readonly ProtocolSetting[]): string {
  const groups = new Map<string, ProtocolSetting[]>();
  for (const { path, value } of settings) {
    const [first = "", ...rest] = path.split("/");
    const group = groups.get(first) ?? [];
    group.push({ path: rest.join("/"), value });
    groups.set(first, group);
  }
  let inner = "";
  for (const [name, group] of groups) {
    const [only] = group;
    inner += only?.path === "" ? textElement(name, only.value) : element(name, renderLevel(group));
  }
  return inner;
}
