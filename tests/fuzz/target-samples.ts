import { createHmac } from "node:crypto";
import { frameKinds, mapCodec } from "../../src/commands/archive/archive-format.ts";
import { framePrefix } from "../../src/smb/framing.ts";
import { headerBytes, smb2Magic } from "../../src/smb/wire/header.ts";
import { Writer } from "../../src/smb/wire/buffers.ts";
import { account, accountKey } from "../auth/request-of.ts";
import { soundMessages } from "../smb-wire/sound-messages.ts";
import { authenticate, firstToken } from "../smb-wire/wire-login.ts";

/** Valid inputs of the fuzz targets: mutations of them reach further than noise does. */
export const sampleInputs = {
  xml: texts(
    "<?xml version='1.0' encoding='utf-8'?><BlockList><Latest>QUFB</Latest><!-- c --></BlockList>",
    "<a b='&lt;&#x41;'><![CDATA[x]]><c/>&amp;</a>",
    "<QueryRequest><QueryType>SQL</QueryType><Expression>SELECT * FROM BlobStorage</Expression>" +
      "<InputSerialization><Format><Type>delimited</Type><DelimitedTextConfiguration>" +
      "<ColumnSeparator>,</ColumnSeparator><FieldQuote>'</FieldQuote></DelimitedTextConfiguration>" +
      "</Format></InputSerialization></QueryRequest>",
  ),
  filter: texts(
    "PartitionKey eq 'p''q' and (RowKey ge 'a' or not (n lt 5L))",
    "d gt datetime'2020-01-01T00:00:00Z' and g eq guid'11111111-2222-3333-4444-555555555555'",
    "b eq binary'00ff' or x ne X'00' and f le 1.5e3 and t eq true",
  ),
  entity: texts(
    '{"PartitionKey":"p","RowKey":"r","a@odata.type":"Edm.Int64","a":"5","b":1.5,"c":null}',
    "<entry xmlns='http://www.w3.org/2005/Atom' xmlns:m='http://schemas.microsoft.com/ado/2007/" +
      "08/dataservices/metadata' xmlns:d='http://schemas.microsoft.com/ado/2007/08/dataservices'>" +
      "<content type='application/xml'><m:properties><d:RowKey>r</d:RowKey>" +
      "<d:n m:type='Edm.Int32'>4</d:n></m:properties></content></entry>",
  ),
  sql: texts(
    "SELECT _1, CAST(_2 AS INT) + 3 FROM BlobStorage WHERE _1 LIKE 'a%' LIMIT 5\0a1,2\nb,'3\n'\n",
    "SELECT COUNT(*), SUM(_2), AVG(CAST(_2 AS FLOAT)) FROM BlobStorage WHERE _2 IS NOT NULL" +
      " AND (_1 <> 'x' OR _2 BETWEEN 1 AND 4)\0a,1\nb,2\n",
    "SELECT TRIM(_1), SUBSTRING(_1, 1, 2), DATE_ADD(day, 1, TO_TIMESTAMP(_2)) FROM BlobStorage\0" +
      " a ,2020-01-01T00:00:00Z\n",
  ),
  json: texts(
    'SELECT s.a, s.b[0].c FROM BlobStorage s WHERE s.a > 1\0{"a":2,"b":[{"c":"x"}]}\n{"a":0}\n',
    'SELECT * FROM BlobStorage[*].list[*]\0{"list":[{"k":1e3},{"k":null}]}\n',
  ),
  multipart: texts(
    "multipart/mixed; boundary=b\r\n--b\r\nContent-Type: application/http\r\n\r\n" +
      "DELETE /c/b HTTP/1.1\r\nx-ms-date: d\r\nContent-Length: 0\r\n\r\n\r\n--b--\r\n",
    'multipart/mixed; boundary="changeset_1"\n--changeset_1\nContent-Type: application/http\n\n' +
      "POST http://x/t HTTP/1.1\nContent-Length: 2\n\n{}\n--changeset_1--\n",
  ),
  sas: texts(
    signedSas(),
    "GET /c/b?sv=2022-11-02&sr=b&sp=r&st=2026-01-01T00:00:00Z&se=2027-01-01&sip=1.2.3.4-1.2.3.9&" +
      "spr=https,http&si=policy&sig=QUFB&rscc=x",
    "GET /c/d?sv=2020-12-06&skoid=11111111-2222-3333-4444-555555555555&sktid=a&skt=2026-01-01&" +
      "ske=2026-01-02&sks=b&skv=2020-12-06&sr=d&sdd=1&sp=rl&sig=QUFB",
    "GET /Table(PartitionKey='a')?sv=2019-02-02&tn=table&spk=a&epk=b&sp=raud&se=2027-01-01&sig=x",
  ),
  sharedKey: texts(
    `PUT /c/b?comp=block&blockid=QQ%3D%3D\nauthorization:SharedKey ${account}:QUFB\n` +
      "x-ms-date:Fri, 02 Jan 2026 12:00:00 GMT\nx-ms-version:2021-12-02\nx-ms-meta-a: b \n" +
      "content-length:5\nrange:bytes=0-1",
    `GET /t\nauthorization:SharedKeyLite ${account}:QUFB\ndate:Fri, 02 Jan 2026 12:00:00 GMT`,
  ),
  token: texts(
    [
      { alg: "RS256", kid: "k" },
      { aud: "https://storage.azure.com", iss: "i", groups: ["g"] },
    ]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
      .concat("c2ln")
      .join("."),
  ),
  archive: () =>
    Object.values(frameKinds).map((kind) => {
      const map = mapCodec.encode({ table: "blob.blobs", lengths: [2, 3] });
      const payload = new Writer().zeros(4).bytes(Buffer.from(map)).zeros(5).finish();
      payload.writeUInt32BE(map.length, 0);
      return Buffer.concat([Buffer.from([kind]), payload]);
    }),
  ntlm: () => {
    const challenge = Buffer.alloc(64);
    const login = { user: account, key: accountKey, challenge, clientChallenge: Buffer.alloc(8) };
    return [
      firstToken(),
      ...Object.values(authenticate(login)).filter((each) => Buffer.isBuffer(each)),
    ];
  },
  pipe: () => {
    const pdu = (type: number, rest: Buffer) =>
      new Writer()
        .u16(5)
        .u8(type)
        .zeros(5)
        .u16(16 + rest.length)
        .u16(0)
        .u32(1)
        .bytes(rest)
        .finish();
    return [pdu(11, Buffer.alloc(60, 1)), pdu(0, Buffer.alloc(40, 1))];
  },
  smb2: smbMessages,
  encrypted: smbMessages,
  framing: () => smbMessages().map((bytes) => Buffer.concat([framePrefix(bytes.length), bytes])),
};

function texts(...all: readonly string[]): () => readonly Buffer[] {
  return () => all.map((text) => Buffer.from(text));
}

function signedSas(): string {
  const fields = ["rl", "b", "sco", "", "2027-01-01", "", "", "2022-11-02", "", ""];
  const key = Buffer.from(accountKey, "base64");
  const text = [account, ...fields].join("\n");
  const sig = createHmac("sha256", key).update(text).digest("base64");
  const signature = encodeURIComponent(sig);
  return `GET /c/b?sv=2022-11-02&sp=rl&ss=b&srt=sco&se=2027-01-01&sig=${signature}`;
}

/** Every message alone, and a compound of all of them. */
function smbMessages(): readonly Buffer[] {
  const handle = { persistent: 1n, volatile: 1n };
  const sound = soundMessages(handle, handle).map(({ command, body }) => {
    const padding = Buffer.alloc((8 - ((headerBytes + body.length) % 8)) % 8);
    const message = Buffer.concat([Buffer.alloc(headerBytes), body, padding]);
    message.writeUInt32LE(smb2Magic, 0);
    message.writeUInt16LE(headerBytes, 4);
    message.writeUInt16LE(command, 12);
    return message;
  });
  const compound = sound.slice(0, 12).map((message, index) => {
    const copy = Buffer.from(message);
    if (index < 11) copy.writeUInt32LE(copy.length, 20);
    return copy;
  });
  return [...sound, Buffer.concat(compound)];
}
