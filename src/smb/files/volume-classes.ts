import type { VolumeSpace } from "../../file/filesystem/info.ts";
import { fileTimeOf } from "../file-time.ts";
import { Writer } from "../wire/writer.ts";

/** A share as the file system information classes describe it ([MS-FSCC] 2.5). */
export interface Volume {
  readonly space: VolumeSpace;
  readonly name: string;
  readonly id: bigint;
  readonly created: bigint;
}

export interface VolumeClass {
  readonly fixedBytes: number;
  readonly encode: (volume: Volume) => Buffer;
}

const sectorBytes = 512;
const sectorsPerUnit = 8;
const unitBytes = BigInt(sectorBytes * sectorsPerUnit);
const diskDevice = 7;
const remoteDevice = 0x20;
const fileSystemName = "NTFS";
const nameUnitsMax = 255;
/** FileSystemAttributes: FILE_CASE_PRESERVED_NAMES, FILE_UNICODE_ON_DISK and
 *  FILE_PERSISTENT_ACLS. */
const volumeFlags = 0x2 | 0x4 | 0x8;
/** SSINFO_FLAGS_ALIGNED_DEVICE and SSINFO_FLAGS_PARTITION_ALIGNED_ON_DEVICE. */
const alignedFlags = 0x3;

/** The supported information classes, by number. */
export const volumeClasses: Readonly<Record<number, VolumeClass>> = {
  1: { fixedBytes: 24, encode: volumeName },
  3: { fixedBytes: 24, encode: size },
  4: { fixedBytes: 8, encode: () => new Writer(8).u32(diskDevice).u32(remoteDevice).finish() },
  5: { fixedBytes: 16, encode: attributes },
  6: { fixedBytes: 48, encode: () => Buffer.alloc(48) },
  7: { fixedBytes: 32, encode: fullSize },
  8: { fixedBytes: 64, encode: ({ id }) => new Writer(64).u64(id).zeros(56).finish() },
  11: { fixedBytes: 28, encode: sectors },
};

function volumeName({ name, id, created }: Volume): Buffer {
  const label = Buffer.from(name, "utf16le");
  return new Writer()
    .u64(fileTimeOf(created))
    .u32(Number(id & 0xffff_ffffn))
    .u32(label.length)
    .u16(0)
    .bytes(label)
    .finish();
}

function size({ space }: Volume): Buffer {
  return new Writer(24)
    .u64(space.totalBytes / unitBytes)
    .u64(space.freeBytes / unitBytes)
    .u32(sectorsPerUnit)
    .u32(sectorBytes)
    .finish();
}

function fullSize({ space }: Volume): Buffer {
  const free = space.freeBytes / unitBytes;
  return new Writer(32)
    .u64(space.totalBytes / unitBytes)
    .u64(free)
    .u64(free)
    .u32(sectorsPerUnit)
    .u32(sectorBytes)
    .finish();
}

function attributes(): Buffer {
  const name = Buffer.from(fileSystemName, "utf16le");
  return new Writer().u32(volumeFlags).u32(nameUnitsMax).u32(name.length).bytes(name).finish();
}

function sectors(): Buffer {
  const physical = Number(unitBytes);
  return new Writer(28)
    .u32(sectorBytes)
    .u32(physical)
    .u32(physical)
    .u32(physical)
    .u32(alignedFlags)
    .u32(0)
    .u32(0)
    .finish();
}
